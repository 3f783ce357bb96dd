"""A data file and the bytes it had when it was located: results must be able to name what they came from."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from fairfr.core.errors import DataError

TABLE_ENDINGS = (".csv", ".parquet")
TEXT_ENDINGS = (".tsv", ".tab", ".txt")  # of tables that an import can read
_SIGNATURES = {
    b"PAR1": "a parquet file",
    b"PK\x03\x04": "a zip archive (an npz or a spreadsheet)",
    b"PK\x05\x06": "an empty zip archive",
    b"\x93NUMPY": "a single numpy array (npy)",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF": "an HDF5 file",
    b"\x80": "a pickle",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"version https://git-lfs": "a git-lfs pointer (fetch the file itself with `git lfs pull`)",
}


def sniff_format(data: bytes) -> str | None:
    """What the first bytes of a file say it is, in words; None if they say nothing."""
    return next((name for signature, name in _SIGNATURES.items() if data.startswith(signature)), None)


def find_table(stem: Path) -> Path | None:
    """The table ``stem`` with one of its endings, also if it is a folder or a broken link; None if it is not there.

    DataError if there are two, since it is unclear which of them counts.
    """
    there = _with_endings(stem, TABLE_ENDINGS)
    if len(there) > 1:
        raise DataError(
            f"both {there[0]} and {there[1].name} are there. Remove the one that is out of date.", code="two-files"
        )
    return there[0] if there else None


def _with_endings(stem: Path, endings: Sequence[str]) -> list[Path]:
    """The files called ``stem`` with one of the endings."""
    candidates = [stem.with_name(stem.name + ending) for ending in endings]  # not with_suffix: a name may have a dot
    return [path for path in candidates if path_exists(path)]


def table_path_text(stem: Path) -> str:
    """How a message names a table that may have either ending."""
    return f"{stem}.csv (or .parquet)"


def import_hint(folder: Path) -> str:
    """The command that converts a data set whose pairs have another ending; blank if there are none."""
    pairs = _other_ending(folder / "pairs")
    if find_table(folder / "pairs") is not None or pairs is None:
        return ""
    words = [f"fairfr import table --dataset {folder.name} --data-root {folder.parent} --pairs {pairs}"]
    images = find_table(folder / "images")
    other = _other_ending(folder / "images")
    if images is not None:
        words.append(f"--image-table {images} --force")  # the one that is there will be written again
    elif other is not None:
        words.append(f"--image-table {other}")
    return f"{pairs} is there: convert it with: {' '.join(words)}"


def _other_ending(stem: Path) -> Path | None:
    there = _with_endings(stem, TEXT_ENDINGS)
    return there[0] if there else None


def path_exists(path: Path) -> bool:
    """As ``os.path.lexists``, but what cannot be looked at is an error and not absent."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DataError(
            f"{path} cannot be opened: {error.strerror}. Correct that, or set data_root.", code="unreadable-file"
        ) from error
    return True


class _Digests:
    """The sha256 of files by what the system says of them, which changes whenever a file is written to.

    Writing twice within a tick of the system's clock may leave no trace: a digest is kept only if the file had not
    been changed for a while when it was read.
    """

    settled_ns = 2 * 10**9
    most = 1000

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], str] = {}

    def of(self, handle: BufferedReader) -> str:
        started = time.time_ns()
        stat = os.fstat(handle.fileno())
        mark = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        if mark in self._known:
            return self._known[mark]
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
        if max(stat.st_mtime_ns, stat.st_ctime_ns) + self.settled_ns < started:
            if len(self._known) >= self.most:
                self._known.clear()
            self._known[mark] = digest
        return digest


_digests = _Digests()


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file and the sha256 of its bytes when it was located."""

    path: Path
    digest: str

    @classmethod
    def at(cls, path: Path) -> DataFile:
        """The file as it is now; bytes that this process has seen already are not read again."""
        with _opened(path) as handle:
            return cls(path, _digests.of(handle))

    @contextmanager
    def open(self) -> Iterator[BufferedReader]:
        """The file, checked to be the one that was located and not empty."""
        with _opened(self.path) as handle:
            if hashlib.file_digest(handle, "sha256").hexdigest() != self.digest:
                raise DataError(
                    f"{self.path} changed while it was in use. Start again when nothing writes to it.",
                    code="changed-file",
                )
            if handle.tell() == 0:
                raise DataError(f"{self.path} is empty (0 bytes). Import or export it again.", code="empty-file")
            handle.seek(0)
            yield handle

    def read(self) -> bytes:
        with self.open() as handle:
            return handle.read()


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    if path.exists() and not path.is_file():
        kind = "folder" if path.is_dir() else "device"
        raise DataError(f"{path} is a {kind}, not a file. Put the file in its place.", code="unreadable-file")
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        raise DataError(
            f"{path} does not exist, or is a link to a file that does not exist. Check the path.", code="missing-file"
        ) from None
    except PermissionError:
        raise DataError(
            f"{path} cannot be read: permission denied. Allow it, e.g. with chmod u+r.", code="unreadable-file"
        ) from None
    except OSError as error:  # a circle of links, a name too long
        raise DataError(
            f"{path} cannot be read: {(error.strerror or 'unknown reason').lower()}.", code="unreadable-file"
        ) from None
    with handle:
        yield handle
