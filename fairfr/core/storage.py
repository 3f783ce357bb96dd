"""Write files whole or not at all, in parts where they take long, and say what to do when a place is not writable.

Read files of folders that came from elsewhere: what lies in them, and nothing that they link to.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from fairfr.core.errors import StorageError


@contextmanager
def translate_os_errors(place: Path, option: str = "out_root") -> Iterator[None]:
    """Meanwhile, what the system refuses is a StorageError that names the file, or else ``place``, and what to do.

    ``option`` is what names another place.
    """
    try:
        yield
    except BrokenPipeError:  # the reader of the output has gone: no other place would help
        raise
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise StorageError(
            f"{error.filename or place} cannot be written: {reason.rstrip('.').lower()}. "
            f"Make room or allow writing there, or choose another place ({option})."
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A hidden file beside ``path`` to write to, which becomes ``path`` when it is whole and on the disk.

    A reader sees the old file or the new one, never a part. After an error the old file is as it was, and the hidden
    one is removed. The folder must exist.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.partial")
    try:
        yield draft
        move_into_place(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def move_into_place(draft: Path, path: Path) -> None:
    """Give a file that is complete the name ``path``, in place of what has it now, once it is on the disk."""
    sync(draft)
    os.replace(draft, path)


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, whole or not at all."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read its bytes. A link, a pipe, a device and a folder are an OSError.

    In a folder that somebody else made, a link may lead to any file of the reader's, and a pipe never ends.
    """
    _check_regular(os.lstat(path), path)
    # what has just been looked at may have been replaced: do not follow a link, nor wait for a pipe
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        _check_regular(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check_regular(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a link, or no file", str(path))


def regular_size(path: Path) -> int:
    """The size in bytes of a file that ``open_regular`` would open; otherwise an OSError."""
    found = os.lstat(path)
    _check_regular(found, path)
    return found.st_size


def is_regular(path: Path) -> bool:
    """Whether a file is there that ``open_regular`` would open."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def copy_regular(path: Path, folder: Path) -> None:
    """Copy a file, as ``open_regular`` reads it, into a folder; where there is none to copy, nothing happens."""
    if not is_regular(path):
        return
    with open_regular(path) as source, (folder / path.name).open("wb") as target:
        shutil.copyfileobj(source, target)


def sync(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError:
        if not path.is_dir():  # some network disks cannot sync folders
            raise
    finally:
        os.close(file)


class ResumableOutput:
    """An output file that is made in parts, so that an interrupted command continues after its last part.

    Parts are in the folder ``<out>.partial``, each complete or not there, with a note of what they were made from. The
    output gets its name only when it is complete.

    Parameters
    ----------
    out : Path
        The output file.
    made_from : mapping
        Everything that decides the content, as JSON: parts that were made from something else are not used.
    discard_others : bool
        Whether such parts are deleted. Otherwise they raise a StorageError: they may have taken hours.
    """

    NOTE = "made_from.json"

    def __init__(self, out: Path, made_from: Mapping[str, Any], discard_others: bool) -> None:
        self.out = out
        self.folder = out.with_name(f"{out.name}.partial")
        self._made_from = dict(made_from)
        self._discard_others = discard_others

    @contextmanager
    def writing(self) -> Iterator[int]:
        """Lock the folder against other processes; gives the number of parts that are there already."""
        from filelock import FileLock, Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise StorageError(f"another process is writing {self.out}. Wait for it, or name another file.") from None
        try:
            self._check_note()
            yield len(self.parts())
        finally:
            lock.release()

    @contextmanager
    def part(self, number: int) -> Iterator[Path]:
        """A file to write the part to. A kill leaves the part complete or not there."""
        with replacing(self._part_path(number)) as draft:
            yield draft

    def parts(self) -> list[Path]:
        """The parts that are there, from 0 up to the first that is missing."""
        paths: list[Path] = []
        while self._part_path(len(paths)).is_file():
            paths.append(self._part_path(len(paths)))
        return paths

    @contextmanager
    def finishing(self) -> Iterator[Path]:
        """A file to join the parts in. It becomes the output afterwards, and the parts are removed."""
        draft = self.folder / "joined"
        yield draft
        move_into_place(draft, self.out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _check_note(self) -> None:
        note = self.folder / self.NOTE
        found = None
        if note.is_file():
            found = json.loads(note.read_text(encoding="utf-8") or "null")
        if found == self._made_from:
            return
        if found is not None and not self._discard_others:
            raise StorageError(
                f"{self.folder} has parts that were made from other files or with other options. "
                "Remove that folder to start again."
            )
        for path in self.folder.glob("part-*"):
            path.unlink()
        replace_text(note, json.dumps(self._made_from))

    def _part_path(self, number: int) -> Path:
        return self.folder / f"part-{number:08}"
