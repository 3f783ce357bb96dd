"""How far the cells of a sweep are: a small file in each job's folder, read by the process that started the sweep.

Cells may run in that process, in parallel workers or on other machines. None of them writes to the terminal; the one
process that does shows whole lines, whatever launcher is in use, and live bars where there is a terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from fairfr.core.findings import Finding
from fairfr.core.text import escape_control_chars

PROGRESS_FILE = "progress.json"

BAR_WIDTH = 24
WIDE = 100  # columns of a terminal that shows the elapsed time too
READING, MEASURING, STORING, ELSEWHERE = "reading data", "measuring", "storing", "computed elsewhere"


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


def make_bars(console: Console) -> Progress:
    """Columns: title, bar, how many of how many, elapsed time where there is space for it, time left."""
    columns: list[ProgressColumn] = [
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=BAR_WIDTH),
        TextColumn("{task.fields[count]}"),
    ]
    if console.width >= WIDE:
        columns.append(TimeElapsedColumn())
    return Progress(
        *columns,
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class CellBar:
    """The progress of a single run; ``warn`` shows what it finds."""

    def __init__(self, bars: Progress, title: str, warn: Callable[[Finding], None]) -> None:
        self._bars, self.warn = bars, warn
        self._task = bars.add_task(escape_control_chars(title), total=None, count=READING, left="")
        self._state = CellState(title, time.time())

    def wait_for(self, holder: str) -> None:
        """Another process computes this run."""
        if self._state.waits_for != holder:
            self.warn(waits_for(self._state.title, holder))
            self._show(replace(self._state, waits_for=holder))

    def start(self, n_folds: int) -> None:
        self._show(replace(self._state, folds=n_folds, waits_for=None))

    def fold_done(self, fold: str, resumed: bool = False) -> None:
        self._show(self._state.with_fold(resumed))

    def stored(self) -> None:
        """The bar ends here, before the results are printed."""

    def _show(self, state: CellState) -> None:
        self._state = state
        left = time_left(state.seconds_left(time.time())) or ""
        self._bars.update(self._task, total=_steps(state), completed=state.done, count=_count(state), left=left)


class SweepBars:
    """A bar for the sweep, and one for each cell that runs."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._sweep = bars.add_task("sweep", total=None, count="", left="")
        self._cells: dict[int, TaskID] = {}

    def show(self, ended: int, planned: int, running: Mapping[int, CellState], left: str | None) -> None:
        count = f"{ended}/{planned} cells"
        self._bars.update(self._sweep, total=planned, completed=ended, count=count, left=left or "")
        for job in set(self._cells) - set(running):
            self._bars.remove_task(self._cells.pop(job))
        for job, state in running.items():
            if job not in self._cells:
                title = escape_control_chars(f"  {job + 1}  {state.title}")
                self._cells[job] = self._bars.add_task(title, total=None, count=READING, left="")
            self._bars.update(self._cells[job], total=_steps(state), completed=state.done, count=_count(state))


def time_left(seconds: float | None) -> str | None:
    """``about 40 s left``, ``about 5 min left``, ``about 2 h 10 min left``; None if that is not known."""
    if seconds is None:
        return None
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < 59.5:
        return f"about {seconds:.0f} s left"
    return f"about {hours} h {minutes:02d} min left" if hours else f"about {minutes} min left"


def _steps(state: CellState) -> int | None:
    """Its folds and what comes after them: the clock of a bar stops when the bar is full."""
    return None if state.folds is None else state.folds + 1


def _count(state: CellState) -> str:
    """What a cell is doing."""
    if state.is_stored:
        return STORING
    if state.folds is None:
        return READING if state.waits_for is None else ELSEWHERE
    return MEASURING if state.done == state.folds else f"{state.done}/{state.folds} folds"
