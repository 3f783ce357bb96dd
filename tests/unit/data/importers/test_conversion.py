"""Pickles, files of torch.save and HDF5: never opened, and converted by the two lines in the message."""

from __future__ import annotations

import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairfr.core.errors import DataError
from fairfr.data.importers.embedding_formats import read_embeddings

KEYS = ["a/1.jpg", "a/2.jpg", "b/1.jpg"]
VECTORS = np.random.default_rng(2).normal(size=(3, 5)).astype("f4")


def pickled(make: Callable[[], object], protocol: int = 4) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(pickle.dumps(make(), protocol))


def tensors() -> dict[str, Any]:
    import torch

    return dict(zip(KEYS, torch.from_numpy(VECTORS.copy())[:, None], strict=True))


def saved_by_torch(new: bool) -> Callable[[Path], object]:
    import torch

    return lambda path: torch.save(tensors(), path, _use_new_zipfile_serialization=new)


def of_python_2(path: Path) -> None:
    """A dict of arrays as Python 2 pickled it: the bytes of an array are a str there."""
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I5\ntcnumpy\ndtype\n(S'f4'\n"
    array += b"I0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS"
    rows = b""
    for key, row in zip(KEYS, VECTORS, strict=True):
        text = "'" + "".join(f"\\x{byte:02x}" for byte in row.tobytes()) + "'"
        rows += b"S'" + key.encode() + b"'\n" + array + text.encode() + b"\ntbs"
    path.write_bytes(b"(d" + rows + b".")


FILES: dict[str, tuple[str, Callable[[], Callable[[Path], object]]]] = {
    "dict of vectors": ("it's.pickle", lambda: pickled(lambda: dict(zip(KEYS, VECTORS, strict=True)))),
    "a pickle called npz": ("m.npz", lambda: pickled(lambda: dict(zip(KEYS, VECTORS[:, None], strict=True)))),
    "text of protocol 0": ("m.pk", lambda: pickled(lambda: dict(zip(KEYS, VECTORS, strict=True)), 0)),
    "Python 2": ("old.pkl", lambda: of_python_2),
    "faces that were not found": (
        "m.pkl",
        lambda: pickled(lambda: dict(zip([*KEYS, "c.jpg"], [*VECTORS, None], strict=True))),
    ),
    "tensors": ("m.p", lambda: pickled(tensors)),
    "table": (
        "t.pk",
        lambda: pickled(
            lambda: pd.DataFrame({"img_path": [*KEYS, "c.jpg"], "embedding": [*VECTORS, None], "image_id": range(4)})
        ),
    ),
    "torch.save": ("m.pt", lambda: saved_by_torch(True)),
    "torch.save called npz": ("m.npz", lambda: saved_by_torch(True)),
    "torch.save of old": ("m.bin", lambda: saved_by_torch(False)),
}


@pytest.mark.filterwarnings("ignore:.*numpy.core:DeprecationWarning")
@pytest.mark.parametrize(("name", "make"), FILES.values(), ids=FILES)
def test_two_lines_convert_the_file_and_leave_it_alone(
    tmp_path: Path, name: str, make: Callable[[], Callable[[Path], object]]
) -> None:
    path = tmp_path / name
    make()(path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="fairfr does not read it") as error:
        read_embeddings(path)
    exec("\n".join(str(error.value).splitlines()[-2:]), {})
    assert path.read_bytes() == before
    (converted,) = [other for other in tmp_path.iterdir() if other != path]
    source = read_embeddings(converted)
    assert list(source.keys) == KEYS
    np.testing.assert_array_equal(source.vectors, VECTORS)


class FakeDataset:
    """As much of h5py.Dataset as the lines use."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.dtype = values.dtype

    def __getitem__(self, key: tuple[()]) -> np.ndarray:
        return self.values[key]


@pytest.mark.parametrize(
    "content",
    [
        {"names": np.array([key.encode() for key in KEYS], dtype=object), "embeddings": VECTORS},
        dict(zip(KEYS, VECTORS, strict=True)),
    ],
    ids=["names and a matrix", "one for each image"],
)
def test_two_lines_convert_hdf5(tmp_path: Path, content: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeFile:
        def __init__(self, path: str, mode: str) -> None:
            assert (path, mode) == (str(tmp_path / "v.h5"), "r")

        def visititems(self, visit: Callable[[str, object], object]) -> None:
            assert visit("a group", object()) is None  # anything else would end the visit
            for key, values in content.items():
                assert visit(key, FakeDataset(values)) is None

    (tmp_path / "v.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    monkeypatch.setitem(sys.modules, "h5py", types.SimpleNamespace(File=FakeFile))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"v\.h5 is an HDF5 file") as error:
        read_embeddings(tmp_path / "v.h5")
    exec("\n".join(str(error.value).splitlines()[-2:]), {})
    source = read_embeddings(tmp_path / "v.npz")
    assert list(source.keys) == KEYS
    np.testing.assert_array_equal(source.vectors, VECTORS)


@pytest.mark.parametrize("name", ["a.pickle", "a.pkl"])
def test_a_pickle_runs_no_code(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"cos\nsystem\n(Vtouch hacked\ntR.")
    with pytest.raises(DataError, match="is a pickle, which can run any code"):
        read_embeddings(tmp_path / name)
    assert not (tmp_path / "hacked").exists()


def test_no_file_is_written_over(tmp_path: Path) -> None:
    for name in ("m.npz", "m.converted.npz"):
        np.savez(tmp_path / name, image=["kept"], vectors=[[1.0]])
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(dict(zip(KEYS, VECTORS, strict=True))))
    with pytest.raises(DataError) as error:
        read_embeddings(tmp_path / "m.pkl")
    exec("\n".join(str(error.value).splitlines()[-2:]), {})
    assert read_embeddings(tmp_path / "m.npz").keys == ("kept",)
    assert list(read_embeddings(tmp_path / "m.converted.converted.npz").keys) == KEYS
