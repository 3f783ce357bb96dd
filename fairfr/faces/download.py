"""Fetch a file once, going on where an interrupted download stopped, and unpack an archive whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from fairfr.core.errors import DataError
from fairfr.core.storage import move_into_place
from fairfr.core.text import error_summary
from fairfr.data.files import sniff_format

PATIENCE = 4.5  # seconds, after which somebody without a network is told so
STALL = 30.0  # seconds without a byte, after which a connection counts as broken
ATTEMPTS = 4  # connections for one file
BLOCK = 2**20  # bytes


class RemoteFile(NamedTuple):
    """A file of known content, the name that it gets here, and a number of bytes that it does not exceed."""

    address: str
    sha256: str
    name: str
    most_bytes: int


class _RefusedError(Exception):
    """The file cannot be had from this address now."""


class _BrokenConnectionError(Exception):
    """A connection ended before the file did."""


def fetch(remote: RemoteFile, folder: Path, remedy: str, progress: Callable[[int, int], object]) -> Path:
    """Download a file, if it is not in the folder yet.

    What has been received is kept in ``<name>.partial``, and the next call asks for the rest.

    Parameters
    ----------
    remote : RemoteFile
        What to download.
    folder : Path
        Where it goes.
    remedy : str
        What to do if it cannot be had, for the message.
    progress : callable
        Called with the bytes that are there, and the bytes in all (0 if that is not known).

    Returns
    -------
    Path
        The file, whose sha256 is as it should be.
    """
    path = folder / remote.name
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        _receive_all(remote, partial, progress)
    except _RefusedError as error:
        raise DataError(f"{remote.address} {error}. {remedy}") from None
    if sha256_of(partial) != remote.sha256:
        partial.unlink()
        raise DataError(f"{remote.address} gave something else than the published {remote.name} (its sha256). {remedy}")
    move_into_place(partial, path)
    return path


def sha256_of(path: Path) -> str:
    """The checksum of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _receive_all(remote: RemoteFile, partial: Path, progress: Callable[[int, int], object]) -> None:
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            return _receive(remote, partial, progress)
        except _BrokenConnectionError as error:
            problem = str(error)
    raise _RefusedError(f"breaks off again and again ({problem}); what is here is kept for the next try")


def _receive(remote: RemoteFile, partial: Path, progress: Callable[[int, int], object]) -> None:
    """Append what is missing to ``partial``."""
    start = partial.stat().st_size if partial.exists() else 0
    response = _open(remote, start)
    if response is None:
        return
    with response:
        if response.headers.get_content_type() == "text/html":
            raise _RefusedError(f"gave a web page in place of {remote.name}")
        mode = "ab"
        if response.status != 206:  # the whole file, whatever was asked for
            mode = "wb"
            start = 0
        total = start + _whole_number(response.headers.get("Content-Length"))
        _check_size(remote, partial, total)
        with partial.open(mode) as file:
            while block := _next_block(response):
                _check_size(remote, partial, file.tell() + len(block))
                file.write(block)
                progress(file.tell(), total)
            if file.tell() < total:
                raise _BrokenConnectionError(f"after {file.tell():,} of {total:,} bytes")


def _check_size(remote: RemoteFile, partial: Path, size: int) -> None:
    """A server may send without an end, or announce more than the disk takes; what came of it is of no use."""
    if size > remote.most_bytes:
        partial.unlink(missing_ok=True)
        raise _RefusedError(f"gives more than the {remote.most_bytes:,} bytes that {remote.name} has at most")


def _whole_number(header: str | None) -> int:
    """0 where the server does not say, or says nonsense."""
    if header is None or not header.isdecimal():
        return 0
    return int(header)


def _next_block(response: Any) -> bytes:
    try:
        block: bytes = response.read(BLOCK)
    except (OSError, HTTPException) as error:
        raise _BrokenConnectionError(error_summary(error)) from None
    return block


def _open(remote: RemoteFile, start: int) -> Any:
    """The answer to a request for the bytes from ``start`` on; None if there are none."""
    request = Request(remote.address, headers={"User-Agent": "fairfr"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    answer = _answer(request)
    if isinstance(answer, HTTPError):
        if answer.code == 416:
            return None
        raise _RefusedError(f"answers {answer.code} ({answer.reason})")
    if isinstance(answer, Exception):
        raise _RefusedError(f"cannot be reached ({getattr(answer, 'reason', answer)})")
    if answer.status not in (200, 206):
        raise _RefusedError(f"answers {answer.status} ({answer.reason})")
    return answer


def _answer(request: Request) -> Any:
    """The response, or the error in its place.

    It is waited for in another thread, because looking up a name takes as long as it likes.
    """
    answers: SimpleQueue[Any] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(urlopen(request, timeout=STALL))
        except (OSError, HTTPException, ValueError) as error:
            answers.put(error)

    Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=PATIENCE)
    except Empty:
        return TimeoutError(f"no answer within {PATIENCE:g} seconds")


# a jpg hardly shrinks: archives that expand to more are no archives of pictures
MOST_UNFOLDING = 20
ALWAYS_ALLOWED = 2**28  # bytes
LEAST_ROOM = 2**12  # bytes that a file takes on the disk, though it be empty
LONGEST_HEADER = 2**20  # bytes
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, RuntimeError, ValueError),  # the last three: zip files of unknown kinds
    *(FileExistsError, NotADirectoryError, IsADirectoryError),  # a name that is a file and a folder
)
DECOMPRESSORS: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
"""By what a file begins with."""


def unpack(archive: Path, folder: Path, progress: Callable[[int], object]) -> None:
    """Unpack a tar or zip archive into a new folder, which appears when it is complete.

    Links, special files and names that lead out of the folder are refused. ``progress`` is called with the number of
    files so far.
    """
    draft = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(draft, ignore_errors=True)  # of a call that was killed
    most = max(ALWAYS_ALLOWED, MOST_UNFOLDING * archive.stat().st_size)
    try:
        for number, (name, size, content) in enumerate(_files(archive), start=1):
            most -= size + LEAST_ROOM
            if most < 0:
                raise DataError(f"{archive} expands to far more than pictures do. It is not used.")
            target = draft / _inside(archive, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)
            progress(number)
        if not draft.is_dir():
            raise DataError(f"{archive} has no files in it.")
        draft.rename(folder)
    except DAMAGE as error:
        raise _damaged(archive, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def list_names(archive: Path) -> list[str]:
    """The names of all files in a tar or zip archive."""
    names = []
    try:
        for name, _, content in _files(archive):
            content.close()
            names.append(name)
    except DAMAGE as error:
        raise _damaged(archive, error) from None
    return names


def _damaged(archive: Path, error: Exception) -> DataError:
    if isinstance(error, DataError):
        return error
    return DataError(
        f"{archive} is damaged or cut short ({error_summary(error)}). Download it again, or pass the folder that you "
        "unpacked it to."
    )


def _files(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Name, size and content of each file."""
    if zipfile.is_zipfile(archive):
        return _zip_files(archive)
    if _is_tar(archive):
        return _tar_files(archive)
    with archive.open("rb") as file:
        start = file.read(64)
    kind = sniff_format(start) or "something else"
    if start.lstrip().startswith(b"<"):
        kind = "a web page"
    raise DataError(f"{archive} is {kind}, not a tar or zip archive. Download it again.")


def _zip_files(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise DataError(f"{archive}: '{entry.filename}' is a link. It is not used.")
            if not entry.is_dir():
                yield entry.filename, entry.file_size, opened.open(entry)


def _tar_files(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with _decompressed(archive) as stream, _open_tar(stream) as opened:
        for member in opened:
            if not (member.isreg() or member.isdir()):
                raise DataError(f"{archive}: '{member.name}' is a link or a device. It is not used.")
            content = opened.extractfile(member)
            if content is not None:  # a folder has none
                yield member.name, member.size, content


def _is_tar(archive: Path) -> bool:
    try:
        with _decompressed(archive) as stream:
            _open_tar(stream).close()
    except tarfile.ReadError:
        return False
    except DAMAGE:  # such as a gzip file that was cut short
        return True
    return True


def _decompressed(archive: Path) -> Any:
    with archive.open("rb") as file:
        start = file.read(8)
    for magic, opener in DECOMPRESSORS.items():
        if start.startswith(magic):
            return opener(archive)
    return archive.open("rb")


def _open_tar(stream: IO[bytes]) -> tarfile.TarFile:
    bounded: Any = _BoundedReads(stream)
    return tarfile.open(fileobj=bounded, mode="r:")


class _BoundedReads:
    """The bytes of a tar archive, whose headers are read at once, be they of the gigabytes that the archive claims."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek = stream.seek
        self.tell = stream.tell

    def read(self, size: int) -> bytes:
        if size > LONGEST_HEADER:
            raise ValueError(f"it claims a header of {size:,} bytes")
        return self._stream.read(size)


def _inside(archive: Path, name: str) -> PurePosixPath:
    """The name of a file in an archive, if it stays inside the folder that the archive is unpacked to."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise DataError(f"{archive}: '{name}' leads out of the folder. It is not used.")
    return path
