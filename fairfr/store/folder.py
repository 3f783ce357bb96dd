"""Run folders: the truth about what has run.

A run is written under ``<out_root>/.partial/`` and renamed into ``<out_root>/runs/`` when it is whole and on the disk.
A kill or a power cut at any moment leaves either the old state or the new one, never half a run. Nothing here relies on
locks, which network disks may not have: only on renames, and only one of two can succeed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairfr.core.keys import RunKey
from fairfr.core.storage import storing, sync
from fairfr.core.types import MetricRow
from fairfr.store.owner import Owner
from fairfr.store.reading import DamagedRunError, Result, check_files, read_run, write_result
from fairfr.store.score_file import write_scores

__all__ = ["Result", "RunFolders", "write_metrics", "write_scores"]

OWNER = ".owner.json"  # beside a draft's folder: who writes in it
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
        return self.out_root.joinpath("runs", *key.place)

    def completed(self, key: RunKey, on_damage: Callable[[str], None] = lambda message: None) -> Result | None:
        """The result of a completed run with this key, if there is one and it is whole.

        ``on_damage`` gets a line about one that is not: it counts as not done.
        """
        self._settle(key)
        try:
            result = read_run(self.path(key))
            if result is not None:
                check_files(self.path(key), result)
        except DamagedRunError as error:
            on_damage(str(error))
            return None
        return result if result and result["status"] == "completed" else None

    @contextmanager
    def draft(self, key: RunKey) -> Iterator[Path]:
        """A folder to write a run in. What is not published when the block ends is thrown away."""
        self._partial.mkdir(parents=True, exist_ok=True)
        self._remove_orphans()
        folder = self._partial / f"{_unique()}-{key}"
        owner = folder.with_name(folder.name + OWNER)
        _write_owner(owner)  # before there is anything to own, and until there is nothing
        try:
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            owner.unlink(missing_ok=True)

    def publish(self, draft: Path, key: RunKey, result: Result) -> Path:
        """Write result.json last, then rename the folder to its place, replacing an older run of the same key."""
        write_result(draft, result)
        final = self.path(key)
        self._move(draft, final, lambda: self._partial / f"{REPLACED}-{key}-{_unique()}")
        self._settle(key)
        return final

    def set_apart(self, draft: Path, key: RunKey, result: Result) -> Path:
        """Keep a failed rerun of a run that is complete: under ``failed/``, where it hides nothing."""
        write_result(draft, result)
        folder = self.out_root / "failed" / key.slug
        self._move(draft, folder, lambda: self._partial / f"{DISCARDED}-{_unique()}")
        return folder

    def look_again(self, key: RunKey) -> None:
        """See what others have just stored: a network disk may remember for a minute that a folder was not there.

        A change inside a folder makes the disk's client ask the server what else is in it.
        """
        folder = self.out_root
        for name in ("runs", *key.place[:-1], ""):
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

    def _settle(self, key: RunKey) -> None:
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
        """Remove drafts whose process is known to be gone; what another machine or container writes stays."""
        for path in self._partial.glob(f"*{OWNER}"):
            owner = _read_owner(path)
            if owner is not None and owner.is_provably_dead():
                shutil.rmtree(path.with_name(path.name.removesuffix(OWNER)), ignore_errors=True)
                path.unlink(missing_ok=True)
        for path in self._partial.glob(f"{DISCARDED}-*"):
            shutil.rmtree(path, ignore_errors=True)


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


def _write_owner(path: Path) -> None:
    path.write_text(json.dumps(Owner.me().as_dict()), encoding="utf-8")


def _read_owner(path: Path) -> Owner | None:
    try:
        return Owner.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def write_metrics(path: Path, rows: Iterable[MetricRow]) -> None:
    """metrics.parquet: one tidy row per number."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(MetricRow._fields))
    with storing(path):
        frame.to_parquet(path, index=False)
