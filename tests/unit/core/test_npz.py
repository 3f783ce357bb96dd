"""What an archive of arrays claims is held against what it has, before memory is reserved."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fairfr.core.errors import DataError
from fairfr.core.npz import ObjectArrayError, UnreadableArrayError, npz_names, read_npy, read_npz
from fairfr.data.embeddings_file import read_vectors
from fairfr.data.files import DataFile
from fairfr.data.importers.embedding_formats import read_embeddings
from fairfr.methods._clusters import _read

IMAGES = np.array(["a", "b", "c"])
VECTORS = np.arange(12, dtype="f4").reshape(3, 4) + 1


def npy(header: str, content: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin1").ljust(118 - 1) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H" if version[0] == 1 else "<I", len(text)) + text + content


def claim(shape: str, descr: str = "'<f4'", content: bytes = b"\0" * 48) -> bytes:
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}", content)


def archive(entry: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """An npz whose image ids are fine and whose other arrays are ``entry``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as out:
        ids = io.BytesIO()
        np.save(ids, IMAGES)
        out.writestr("image.npy", ids.getvalue())
        out.writestr("vectors.npy", entry)
        out.writestr("centres.npy", entry)
    return stream.getvalue()


def overlapping() -> bytes:
    """Two thousand entries over the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("vectors.npy", claim("(1000000,)", content=bytes(4_000_000)))
        first = out.infolist()[0]
        for number in range(2000):
            twin = zipfile.ZipInfo(f"{number}.npy")
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(twin, name, getattr(first, name))
            out.filelist.append(twin)
            out.NameToInfo[twin.filename] = twin
    return stream.getvalue()


def unfolding() -> bytes:
    """A gigabyte of zeros in a megabyte."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out,
        out.open("vectors.npy", "w") as entry,
    ):
        entry.write(claim("(262144, 1024)", content=b""))
        for _ in range(256):
            entry.write(bytes(2**22))
    return stream.getvalue()


BAD: dict[str, Callable[[], bytes]] = {
    "more than there is": lambda: archive(claim("(1000000000, 512)")),
    "a product that overflows": lambda: archive(claim("(4294967296, 4294967296)")),
    "a negative side": lambda: archive(claim("(-3, -4)")),
    "less than there is": lambda: archive(claim("(2, 4)")),
    "values of no width": lambda: archive(claim("(1000000000,)", "'<U0'", b"")),
    "a header that does not parse": lambda: archive(npy("{'descr': '<f4', ((((", bytes(48))),
    "a header of something else": lambda: archive(npy("[1, 2]", bytes(48))),
    "a header in a header": lambda: archive(npy("(" * 110, bytes(48))),
    "a type of its own": lambda: archive(claim("(3, 4)", "'<f4; import os'")),
    "a version from the future": lambda: archive(npy("{}", version=b"\x09\x00")),
    "no array": lambda: archive(b"hello"),
    "entries over the same bytes": overlapping,
    "a bomb": unfolding,
    "no archive": lambda: b"PK\x03\x04" + bytes(200),
    "an archive cut short": lambda: archive(claim("(3, 4)"))[:-30],
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
def test_false_claims_cost_one_message_and_no_memory(tmp_path: Path, make: Callable[[], bytes]) -> None:
    path = tmp_path / "net.npz"
    path.write_bytes(make())
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableArrayError), path.open("rb") as handle:
            read_npz(handle)
        with pytest.raises(DataError) as told:
            read_vectors(DataFile.at(path))
        with pytest.raises(DataError):
            read_embeddings(path)
        assert _read(path, (3, 4)) is None
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()
    assert str(path) in str(told.value)


def test_an_npy_is_held_against_its_file(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    path.write_bytes(claim("(1000000000, 512)"))
    with pytest.raises(UnreadableArrayError, match="1000000000, 512"), path.open("rb") as handle:
        read_npy(handle)
    with pytest.raises(DataError, match="1000000000, 512"):
        read_embeddings(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("vectors", [VECTORS, np.asfortranarray(VECTORS), VECTORS.astype(">f8"), np.zeros((0, 3))])
def test_honest_archives_are_read_exactly(tmp_path: Path, save: Callable[..., None], vectors: np.ndarray) -> None:
    save(tmp_path / "v.npz", image=IMAGES, vectors=vectors, one=np.float32(3), none=np.array([], dtype="U5"))
    with (tmp_path / "v.npz").open("rb") as handle:
        assert npz_names(handle) == ["image", "vectors", "one", "none"]
        found = read_npz(handle)
        assert read_npz(handle, ["image", "absent"]).keys() == {"image"}
    with np.load(tmp_path / "v.npz") as expected:
        for name, array in found.items():
            np.testing.assert_array_equal(array, expected[name])
            assert array.dtype == expected[name].dtype
            assert array.shape == expected[name].shape


def test_ids_of_very_different_lengths_may_be_compressed(tmp_path: Path) -> None:
    ids = np.array([*(f"image-{i}" for i in range(19_999)), "x" * 900])  # 72 MB as numpy keeps them
    np.savez_compressed(tmp_path / "v.npz", image=ids, vectors=np.ones((20_000, 1), "f4"))
    assert len(read_vectors(DataFile.at(tmp_path / "v.npz")).images) == 20_000


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", image=IMAGES.astype(object))
    with pytest.raises(ObjectArrayError, match="'image'"), (tmp_path / "v.npz").open("rb") as handle:
        read_npz(handle)
