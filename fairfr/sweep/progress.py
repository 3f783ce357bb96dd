"""How far the cells of a sweep are: a small file in each job's folder, read by the process that started the sweep.

Cells may run in that process, in parallel workers or on other machines. None of them writes to the terminal; the one
process that does shows whole lines, whatever launcher is in use.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fairfr.core.findings import Finding

PROGRESS_FILE = "progress.json"


@dataclass(frozen=True, slots=True)
class CellState:
    """A cell that runs: since when (seconds since 1970), and how many of its folds are done.

    ``folds`` is None until the data is read; ``resumed`` folds are among those that are done, and took no time. A cell
    ``is_stored`` when its run folder is complete; MLflow may still have to get it.
    """

    title: str
    started: float
    folds: int | None = None
    done: int = 0
    resumed: int = 0
    is_stored: bool = False
    waits_for: str | None = None  # who computes the same run, and since when
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "findings": [finding.as_dict() for finding in self.findings]}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> CellState:
        return cls(**{**stored, "findings": tuple(map(Finding.from_dict, stored["findings"]))})

    def with_fold(self, resumed: bool) -> CellState:
        """The state after one more fold."""
        return replace(self, done=self.done + 1, resumed=self.resumed + int(resumed))

    def seconds_left(self, now: float) -> float | None:
        """By the folds that were computed so far; None before the first."""
        computed = self.done - self.resumed
        if self.is_stored:
            return 0.0
        if self.folds is None or computed < 1:
            return None
        return (now - self.started) / computed * (self.folds - self.done)


class ProgressFile:
    """Writes the state of one cell into ``folder``, each time whole."""

    def __init__(self, folder: Path, title: str) -> None:
        self._folder = folder
        self._change(CellState(title, time.time()))

    def warn(self, finding: Finding) -> None:
        self._change(replace(self._state, findings=(*self._state.findings, finding)))

    def wait_for(self, holder: str) -> None:
        """Another process computes this run."""
        if self._state.waits_for != holder:
            self.warn(waits_for(self._state.title, holder))
            self._change(replace(self._state, waits_for=holder))

    def start(self, n_folds: int) -> None:
        self._change(replace(self._state, folds=n_folds, waits_for=None))

    def fold_done(self, fold: str, resumed: bool = False) -> None:
        self._change(self._state.with_fold(resumed))

    def stored(self) -> None:
        """The run is complete, and goes to MLflow."""
        self._change(replace(self._state, is_stored=True))

    def _change(self, state: CellState) -> None:
        self._state = state
        new = self._folder / f"{PROGRESS_FILE}.new"
        with contextlib.suppress(OSError):  # a full disk stops the cell where it matters, with a better message
            self._folder.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps(state.as_dict()), encoding="utf-8")
            os.replace(new, self._folder / PROGRESS_FILE)


def waits_for(title: str, holder: str) -> Finding:
    """What is said of a cell that another process computes."""
    return Finding("computed-elsewhere", "note", f"{title} is computed by {holder}: its result will be taken.")


def read_state(folder: Path) -> CellState | None:
    """The state of the cell whose job folder this is; None before it has one."""
    try:
        return CellState.from_dict(json.loads((folder / PROGRESS_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
