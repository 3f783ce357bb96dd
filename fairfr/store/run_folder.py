"""Run folders: the truth about what has run.

A run is written under ``<out_root>/.partial/`` and renamed into ``<out_root>/runs/`` when it is whole and on the disk.
A kill or a power cut at any moment leaves either the old state or the new one, never half a run. That relies on renames
alone, of which one of two succeeds. Locks, which network disks may not have, only say which drafts can be removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairfr.core.run_key import RunKey
from fairfr.core.run_result import RunResult
from fairfr.core.storage import sync
from fairfr.store.locks import clear_lock, locked, this_machine
from fairfr.store.result_file import DamagedRunError, check_files, read_result, write_result

FAILED = "failed"  # the folder of failed reruns of complete runs, below out_root
LOCK = ".lock"  # beside a draft's folder, as long as a process writes in it
ABANDONED = 7 * 24 * 3600.0  # seconds without a change, after which no process on any machine writes in a draft
REPLACED, DISCARDED = (
    "replaced",
    "discarded",
)  # an older run, until the new one is in place; no longer needed


class RunFolders:
    """The runs below one ``out_root``."""

    def __init__(self, out_root: Path) -> None:
        self.out_root = out_root
        self._partial = out_root / ".partial"

    def path(self, key: RunKey) -> Path:
        return self.out_root.joinpath("runs", *key.path_parts)

    def completed(self, key: RunKey, on_damage: Callable[[str], None] = lambda message: None) -> RunResult | None:
        """The result of a completed run with this key, if there is one and it is whole.

        ``on_damage`` gets a line about one that is not: it counts as not done.
        """
        self._recover(key)
        try:
            result = read_result(self.path(key))
            if result is not None:
                check_files(self.path(key), result.files)
        except DamagedRunError as error:
            on_damage(str(error))
            return None
        return result if result is not None and result.is_completed else None

    @contextmanager
    def locked(self, key: RunKey, on_wait: Callable[[], object]) -> Iterator[None]:
        """Meanwhile no other process is here for the same run; ``on_wait`` is called if one is, before waiting."""
        self._partial.mkdir(parents=True, exist_ok=True)
        with locked(self._partial / f"{key}{LOCK}", on_wait):
            yield

    @contextmanager
    def draft(self, key: RunKey) -> Iterator[Path]:
        """A folder to write a run in. What is not published when the block ends is thrown away."""
        self._partial.mkdir(parents=True, exist_ok=True)
        self._remove_orphans()
        folder = self._partial / f"{this_machine()}-{_unique()}-{key}"
        with locked(_lock_of(folder)):  # before there is a folder, and until there is none
            try:
                folder.mkdir()
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, draft: Path, key: RunKey, result: RunResult) -> Path:
        """Write result.json last, then rename the folder to its place, replacing an older run of the same key."""
        write_result(draft, result)
        final = self.path(key)
        self._move(draft, final, lambda: self._partial / f"{REPLACED}-{key}-{_unique()}")
        self._recover(key)
        return final

    def keep_failed(self, draft: Path, key: RunKey, result: RunResult) -> Path:
        """Keep a failed rerun of a run that is complete where it hides nothing."""
        write_result(draft, result)
        folder = self.out_root / FAILED / key.slug
        self._move(draft, folder, lambda: self._partial / f"{DISCARDED}-{_unique()}")
        return folder

    def look_again(self, key: RunKey) -> None:
        """See what others have just stored: a network disk may remember for a minute that a folder was not there.

        A change inside a folder makes the disk's client ask the server what else is in it.
        """
        folder = self.out_root
        for name in ("runs", *key.path_parts[:-1], ""):
            with contextlib.suppress(OSError):
                probe = folder / f".{_unique()}"
                os.close(os.open(probe, os.O_CREAT | os.O_EXCL))
                probe.unlink()
            folder = folder / name

    def _move(self, draft: Path, final: Path, aside: Callable[[], Path]) -> None:
        """Rename a draft that is on the disk to ``final``; what is there goes ``aside`` first."""
        sync_folder(draft)
        _make_folder(final.parent)
        while True:
            try:
                os.rename(draft, final)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            with contextlib.suppress(FileNotFoundError):  # another process moved it, or puts its own there
                os.rename(final, aside())
        sync(final.parent)

    def _recover(self, key: RunKey) -> None:
        """A kill between two renames leaves an older run aside: put it back, or remove it if a new one is in place."""
        final = self.path(key)
        for aside in self._partial.glob(f"{REPLACED}-{key}-*"):
            with contextlib.suppress(OSError):  # another process does the same
                if final.exists():
                    discarded = self._partial / f"{DISCARDED}-{_unique()}"
                    os.rename(aside, discarded)  # at once: half of it must not be put back
                    shutil.rmtree(discarded, ignore_errors=True)
                else:
                    _make_folder(final.parent)
                    os.rename(aside, final)

    def _remove_orphans(self) -> None:
        """Remove drafts whose process is known to be gone: of this machine, whose locks can be trusted.

        What another machine writes stays, unless it has not changed for a week.
        """
        for path in self._partial.iterdir():
            if path.name.startswith(f"{DISCARDED}-"):
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith(f"{this_machine()}-"):
                draft = path.with_name(path.name.removesuffix(LOCK))
                if clear_lock(_lock_of(draft)):
                    shutil.rmtree(draft, ignore_errors=True)
            elif _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
                _lock_of(path).unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Return when the files of a folder, and their names, are on the disk."""
    for path in folder.iterdir():
        sync(path)
    sync(folder)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it; the new names are on the disk."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def _unique() -> str:
    return uuid.uuid4().hex[:12]


def _lock_of(draft: Path) -> Path:
    return draft.with_name(draft.name + LOCK)


def _is_abandoned(path: Path) -> bool:
    """Whether ``path`` is a draft in which nothing has changed for long."""
    if path.name.startswith(f"{REPLACED}-"):
        return False
    try:
        newest = max(file.stat().st_mtime for file in (path, *path.iterdir()))
    except OSError:  # a lock, or another process has just removed it
        return False
    return time.time() - newest > ABANDONED
