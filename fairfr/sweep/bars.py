"""Live bars in a terminal: of a single run, or of a sweep and the cells that run. A pipe gets none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from fairfr.core.findings import Finding
from fairfr.core.text import escape_control_chars
from fairfr.sweep.progress import CellState, waits_for

BAR_WIDTH = 24
WIDE = 100  # columns of a terminal that shows the elapsed time too
READING, MEASURING, STORING, ELSEWHERE = "reading data", "measuring", "storing", "computed elsewhere"


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
