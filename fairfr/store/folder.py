"""Run folders: the truth about what has run.

A run is written under ``<out_root>/.partial/`` and renamed into ``<out_root>/runs/`` when it is whole, so a process
killed at any moment leaves either the old state or the new one, never half a run.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from fairfr.core.keys import RunKey
from fairfr.core.storing import storing
from fairfr.core.types import MetricRow
from fairfr.store.owner import Owner
from fairfr.store.reading import DamagedRunError, Result, check_files, read_run, write_result
from fairfr.store.score_file import write_scores

__all__ = ["Result", "RunFolders", "write_metrics", "write_scores"]

OWNER = ".owner.json"  # beside a draft's folder: who writes in it


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
        self._put_back(key)
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
        folder = self._partial / f"{uuid.uuid4().hex[:12]}-{key.slug}"
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
        final, aside = self.path(key), self._aside(key)
        final.parent.mkdir(parents=True, exist_ok=True)
        with self._alone(key):
            if final.exists():
                shutil.rmtree(aside, ignore_errors=True)
                os.rename(final, aside)
            os.rename(draft, final)
            shutil.rmtree(aside, ignore_errors=True)
        return final

    def set_apart(self, draft: Path, key: RunKey, result: Result) -> Path:
        """Keep a failed rerun of a run that is complete: under ``failed/``, where it hides nothing."""
        write_result(draft, result)
        folder = self.out_root / "failed" / key.slug
        folder.parent.mkdir(parents=True, exist_ok=True)
        with self._alone(key):
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(draft, folder)
        return folder

    def _alone(self, key: RunKey) -> AbstractContextManager[object]:
        """One process at a time moves folders of this key; a kill frees the lock."""
        from filelock import FileLock

        self._partial.mkdir(parents=True, exist_ok=True)
        return FileLock(self._partial / f"lock-{key.slug}")

    def _aside(self, key: RunKey) -> Path:
        return self._partial / f"replaced-{key.slug}"

    def _put_back(self, key: RunKey) -> None:
        """A kill between the two renames of ``publish`` leaves the older run set aside: restore it."""
        aside, final = self._aside(key), self.path(key)
        if not aside.exists():
            return
        with self._alone(key):
            if aside.exists() and not final.exists():
                final.parent.mkdir(parents=True, exist_ok=True)
                os.rename(aside, final)

    def _remove_orphans(self) -> None:
        """Remove drafts whose process is known to be gone; what another machine or container writes stays."""
        for path in self._partial.glob(f"*{OWNER}"):
            owner = _read_owner(path)
            if owner is not None and owner.is_provably_dead():
                shutil.rmtree(path.with_name(path.name.removesuffix(OWNER)), ignore_errors=True)
                path.unlink(missing_ok=True)


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
