"""Arrays from untrusted npz and npy files: what a file claims is held against what it has, before any
memory is reserved for it.

A header of eighty bytes can ask for terabytes, and a compressed entry can unfold to a thousand times its size. Nothing
is ever unpickled.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fairfr.core.text import error_summary

# Vectors hardly shrink; ids by some dozens: numpy gives each letter four bytes, and each id the longest one's length.
MOST_UNFOLDING = 200
ALWAYS_ALLOWED = 2**28  # bytes; expanding to less than this does no harm


class UnreadableArrayError(ValueError):
    """An array cannot be read; the text says why, without the file's name."""


class ObjectArrayError(UnreadableArrayError):
    """An array of Python objects, which would have to be unpickled."""


def read_npz(handle: IO[bytes], names: Iterable[str] | None = None) -> dict[str, npt.NDArray[Any]]:
    """The arrays called ``names`` (all, if None) of an npz; names that it does not have are left out.

    Raises UnreadableArrayError, whatever is wrong with the bytes.
    """
    try:
        with zipfile.ZipFile(handle) as archive:
            entries = _entries(archive, names)
            _check_unfolding(handle, entries.values())
            return {name: _read_entry(archive, name, entry) for name, entry in entries.items()}
    except (UnreadableArrayError, MemoryError):
        raise
    except Exception as error:  # the bytes decide in which of many errors zipfile and zlib end
        raise UnreadableArrayError(error_summary(error)) from None


def npz_names(handle: IO[bytes]) -> list[str]:
    """What the arrays of an npz are called; UnreadableArrayError if it is not a zip archive."""
    try:
        with zipfile.ZipFile(handle) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except Exception as error:
        raise UnreadableArrayError(error_summary(error)) from None


def read_npy(handle: IO[bytes]) -> npt.NDArray[Any]:
    """The one array of an npy file, from its beginning to its end."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    _check_header(handle, size)
    handle.seek(0)
    return _read_array(handle)


def _entries(archive: zipfile.ZipFile, names: Iterable[str] | None) -> dict[str, zipfile.ZipInfo]:
    """The wanted entries by the name of their array; of two with one name the last, as zipfile has it."""
    there = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    if names is not None:
        return {name: there[name] for name in names if name in there}
    other = next((entry.filename for entry in there.values() if not entry.filename.endswith(".npy")), None)
    if other is not None:
        raise UnreadableArrayError(f"it has more than arrays in it: {other!r:.60}")
    return there


def _check_unfolding(handle: IO[bytes], entries: Iterable[zipfile.ZipInfo]) -> None:
    """Entries may neither overlap in the file (so that a few bytes count many times) nor unfold beyond reason."""
    entries = list(entries)
    size = handle.seek(0, os.SEEK_END)
    if sum(entry.compress_size for entry in entries) > size:
        raise UnreadableArrayError(f"its entries claim more bytes than the {size} of the file")
    unfolded = sum(entry.file_size for entry in entries)
    if unfolded > max(ALWAYS_ALLOWED, MOST_UNFOLDING * size):
        raise UnreadableArrayError(f"its {size:,} bytes claim to expand to {unfolded:,}; save it without compression")


def _read_entry(archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    try:
        with archive.open(entry) as start:
            _check_header(start, entry.file_size)
        with archive.open(entry) as whole:
            return _read_array(whole)
    except UnreadableArrayError as error:
        raise type(error)(f"'{name}': {error}") from None


def _read_array(handle: IO[bytes]) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.lib.format.read_array(handle, allow_pickle=False)
    except MemoryError:
        raise
    except Exception as error:  # fewer bytes than the archive says, a checksum that is wrong
        raise UnreadableArrayError(error_summary(error)) from None
    return array


def _check_header(handle: IO[bytes], size: int) -> None:
    """UnreadableArrayError unless the header asks for exactly the rest of ``size`` bytes."""
    try:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(handle)](handle)
    except Exception as error:  # numpy hands the header to Python's parser, which has errors of its own
        raise UnreadableArrayError(f"the header of the array does not parse ({error_summary(error)})") from None
    if dtype.hasobject:
        raise ObjectArrayError("an array of Python objects")
    there = size - handle.tell()
    if min(shape, default=0) < 0 or not dtype.itemsize or math.prod(shape) * dtype.itemsize != there:
        raise UnreadableArrayError(
            f"its header claims {dtype!s:.40} of shape {shape!s:.60}, but {there:,} bytes follow it"
        )


# the three forms differ in how the length of the header is written; numpy has no name for the third of its own
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}
