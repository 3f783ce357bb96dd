"""Write files whole or not at all, and say what to do when a place cannot be written."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairfr.core.errors import StorageError


@contextmanager
def storing(place: Path) -> Iterator[None]:
    """Meanwhile, what the system refuses is a StorageError that names the file, or else ``place``, and what to do."""
    try:
        yield
    except BrokenPipeError:  # the reader of the output has gone: no other place would help
        raise
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise StorageError(
            f"{error.filename or place} cannot be written: {reason.rstrip('.').lower()}. "
            "Make room or allow writing there, or choose another place (out_root)."
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
