"""Small files that ask for gigabytes are refused, in bounded memory; files of torch.save are read as tensors alone."""

from __future__ import annotations

import pickle
import resource
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfr.core.errors import DataError
from fairfr.data.importers import _memory, _torch_file
from fairfr.data.importers._memory import bounded_memory
from fairfr.data.importers.embedding_sources import read_source
from fairfr.data.importers.foreign_table import open_table

KEYS = ["a/1.jpg", "a/2.jpg", "b/1.jpg"]
VECTORS = np.random.default_rng(2).normal(size=(3, 5)).astype("f4")
GB = 2**30


def encoded_again_and_again() -> bytes:
    text, calls = b"a" * 500_000, 44_000
    names = b"c_codecs\nencode\nq\x01X" + struct.pack("<I", len(text)) + text + b"q\x02\x85q\x03"
    return b"\x80\x02](" + names + b"h\x01h\x03R" * calls + b"e."


def lists_in_lists() -> bytes:
    value: list[object] = [1.0] * 100
    for _ in range(12):
        value = [value] * 10
    return pickle.dumps({"k": value, "names": ["k"], "vectors": value})


BOMBS: dict[str, Callable[[], bytes]] = {
    "a far place in the memo": lambda: b"\x80\x02}r" + struct.pack("<I", 1_400_000_000) + b".",
    "a far place in the memo, in words": lambda: b"\x80\x02}p1400000000\n.",
    "bytes that are not there": lambda: b"\x80\x05\x96" + struct.pack("<Q", 22 * GB) + b"x.",
    "the same text made anew": encoded_again_and_again,
    "one vector under many names": lambda: pickle.dumps(dict.fromkeys(map(str, range(50_000)), np.ones(100_000, "f4"))),
    "lists in lists": lists_in_lists,
    "one text in many rows": lambda: pickle.dumps(
        pd.DataFrame({"img_path": pd.Series(["a" * 200_000] * 20_000, dtype=object), "embedding": 0.0})
    ),
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the kernel bounds memory on Linux alone")
@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS.keys())
def test_what_asks_for_gigabytes_is_refused(tmp_path: Path, make: Callable[[], bytes]) -> None:
    path = tmp_path / "v.pkl"
    path.write_bytes(make())
    for read in (read_source, open_table):
        with pytest.raises(DataError, match=r"v\.pkl"):
            read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < 4 * GB


def test_the_bound_holds_inside_and_is_gone_afterwards() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MemoryError), bounded_memory(10**6):
        bytearray(2 * _memory.ROOM)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    with bounded_memory(10**6), bounded_memory(10**12), pytest.raises(MemoryError):
        bytearray(2 * _memory.ROOM)  # a bound in a bound is not the wider one
    assert len(bytearray(2 * _memory.ROOM)) == 2 * _memory.ROOM


def tensors(half: bool = False) -> dict[str, object]:
    import torch

    rows = torch.from_numpy(VECTORS)
    return {key: (row.bfloat16() if half else row) for key, row in zip(KEYS, rows, strict=True)}


@pytest.mark.parametrize("new", [True, False], ids=["archive", "old form"])
@pytest.mark.parametrize("name", ["v.pt", "v.pth", "v.pkl"])
def test_files_of_torch_save_give_their_vectors(tmp_path: Path, name: str, new: bool) -> None:
    import torch

    torch.save(tensors(), tmp_path / name, _use_new_zipfile_serialization=new)
    source = read_source(tmp_path / name)
    assert list(source.keys) == KEYS
    np.testing.assert_array_equal(source.vectors, VECTORS)
    whole = {"names": KEYS, "vectors": torch.nn.Parameter(torch.from_numpy(VECTORS))}
    torch.save(whole, tmp_path / name, _use_new_zipfile_serialization=new)
    np.testing.assert_array_equal(read_source(tmp_path / name).vectors, VECTORS)


def test_half_precision_of_torch_is_widened(tmp_path: Path) -> None:
    import torch

    torch.save(tensors(half=True), tmp_path / "v.pt")
    np.testing.assert_array_equal(read_source(tmp_path / "v.pt").vectors, torch.tensor(VECTORS).bfloat16().float())


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
            read_source(tmp_path / "v.pt")
    torch.save(torch.nn.Linear(2, 2), tmp_path / "v.pt")
    with pytest.raises(DataError, match="tensors alone"):
        read_source(tmp_path / "v.pt")
    assert not (tmp_path / "ran").exists()


def test_torch_files_of_other_shapes_say_what_they_hold(tmp_path: Path) -> None:
    import torch

    torch.save(torch.ones(3, 4), tmp_path / "v.pt")
    with pytest.raises(DataError, match="ndarray, not a dict"):
        read_source(tmp_path / "v.pt")
    torch.save({"k": torch.ones(1).expand(10**9)}, tmp_path / "v.pt")
    with pytest.raises(DataError):
        read_source(tmp_path / "v.pt")


def test_a_torch_that_could_run_code_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    torch.save(tensors(), tmp_path / "v.pt")
    monkeypatch.setattr(_torch_file, "SAFE", (99, 0))
    with pytest.raises(DataError, match=r"pip install 'torch>=2\.6'"):
        read_source(tmp_path / "v.pt")
