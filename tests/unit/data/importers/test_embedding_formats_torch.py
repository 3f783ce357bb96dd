"""Files of torch.save are read as tensors alone, and none that would fill the memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairfr.core.errors import DataError
from fairfr.data.importers import embedding_formats
from fairfr.data.importers.embedding_formats import read_embeddings

KEYS = ["a/1.jpg", "a/2.jpg", "b/1.jpg"]
VECTORS = np.random.default_rng(2).normal(size=(3, 5)).astype("f4")


def tensors(half: bool = False) -> dict[str, object]:
    import torch

    rows = torch.from_numpy(VECTORS)
    return {key: (row.bfloat16() if half else row) for key, row in zip(KEYS, rows, strict=True)}


@pytest.mark.parametrize("new", [True, False], ids=["archive", "old form"])
@pytest.mark.parametrize("name", ["v.pt", "v.pth", "v.pkl"])
def test_files_of_torch_save_give_their_vectors(tmp_path: Path, name: str, new: bool) -> None:
    import torch

    torch.save(tensors(), tmp_path / name, _use_new_zipfile_serialization=new)
    source = read_embeddings(tmp_path / name)
    assert list(source.keys) == KEYS
    np.testing.assert_array_equal(source.vectors, VECTORS)
    whole = {"names": KEYS, "vectors": torch.nn.Parameter(torch.from_numpy(VECTORS))}
    torch.save(whole, tmp_path / name, _use_new_zipfile_serialization=new)
    np.testing.assert_array_equal(read_embeddings(tmp_path / name).vectors, VECTORS)


def test_half_precision_of_torch_is_widened(tmp_path: Path) -> None:
    import torch

    torch.save(tensors(half=True), tmp_path / "v.pt")
    np.testing.assert_array_equal(read_embeddings(tmp_path / "v.pt").vectors, torch.tensor(VECTORS).bfloat16().float())


class Opened:
    """What a hostile file would like to have done."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def test_torch_files_with_code_or_objects_run_nothing(tmp_path: Path) -> None:
    import torch

    for new in (True, False):
        torch.save({"a": Opened(tmp_path / "ran")}, tmp_path / "v.pt", _use_new_zipfile_serialization=new)
        with pytest.raises(DataError, match=r"v\.pt.*tensors alone"):
            read_embeddings(tmp_path / "v.pt")
    torch.save(torch.nn.Linear(2, 2), tmp_path / "v.pt")
    with pytest.raises(DataError, match="tensors alone"):
        read_embeddings(tmp_path / "v.pt")
    assert not (tmp_path / "ran").exists()


def test_torch_files_of_other_shapes_say_what_they_hold(tmp_path: Path) -> None:
    import torch

    torch.save(torch.ones(3, 4), tmp_path / "v.pt")
    with pytest.raises(DataError, match="ndarray, not a dict"):
        read_embeddings(tmp_path / "v.pt")


def test_tensors_that_repeat_what_is_stored_are_refused(tmp_path: Path) -> None:
    import torch

    one = torch.ones(1000)
    for content in ({"k": torch.ones(1).expand(10**9)}, {f"k{n}": one for n in range(10**4)}):
        torch.save(content, tmp_path / "v.pt")
        with pytest.raises(DataError, match=r"v\.pt .* they repeat stored values"):
            read_embeddings(tmp_path / "v.pt")


def test_a_torch_that_could_run_code_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    torch.save(tensors(), tmp_path / "v.pt")
    monkeypatch.setattr(embedding_formats, "SAFE", (99, 0))
    with pytest.raises(DataError, match=r"pip install 'torch>=2\.6'"):
        read_embeddings(tmp_path / "v.pt")
