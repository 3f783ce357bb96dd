"""How far a cell is, and its bar in a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from fairfr.core.findings import Finding
from fairfr.core.text import escape_control_chars

BAR_WIDTH = 24
WIDE = 100  # columns of a terminal that shows the elapsed time too
ELSEWHERE_CODE = "computed-elsewhere"  # of a finding that cannot wait until the end
READING, MEASURING, STORING, ELSEWHERE = "reading data", "measuring", "storing", "computed elsewhere"


@dataclass(frozen=True, slots=True)
class CellState:
    """A cell that runs: since when (seconds since 1970), and how many of its folds are done.

    ``folds`` is None until the data is read. A cell ``is_stored`` when its run folder is complete; MLflow may still
    have to get it.
    """

    title: str
    started: float
    folds: int | None = None
    done: int = 0
    is_stored: bool = False
    waits_for: str | None = None  # who computes the same run, and since when
    findings: tuple[Finding, ...] = ()

    def seconds_left(self, now: float) -> float | None:
        """By the folds that are done; None before the first."""
        if self.is_stored:
            return 0.0
        if self.folds is None or self.done < 1:
            return None
        return (now - self.started) / self.done * (self.folds - self.done)


def waits_for(title: str, holder: str) -> Finding:
    """What is said of a cell that another process computes."""
    return Finding(ELSEWHERE_CODE, "note", f"{title} is computed by {holder}: its result will be taken.")


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


class CellProgress:
    """What a running cell tells how far it is; subclasses show it or write it down."""

    def __init__(self, title: str) -> None:
        self._state = CellState(title, time.time())

    def warn(self, finding: Finding) -> None:
        raise NotImplementedError

    def wait_for(self, holder: str) -> None:
        """Another process computes this run."""
        if self._state.waits_for != holder:
            self.warn(waits_for(self._state.title, holder))
            self._change(replace(self._state, waits_for=holder))

    def start(self, n_folds: int) -> None:
        self._change(replace(self._state, folds=n_folds, waits_for=None))

    def fold_done(self, fold: str) -> None:
        self._change(replace(self._state, done=self._state.done + 1))

    def stored(self) -> None:
        """The run is complete, and goes to MLflow."""
        self._change(replace(self._state, is_stored=True))

    def _change(self, state: CellState) -> None:
        self._state = state


class CellBar(CellProgress):
    """A bar of a single cell; ``warn`` shows what it finds."""

    def __init__(self, bars: Progress, title: str, warn: Callable[[Finding], None]) -> None:
        super().__init__(title)
        self._bars = bars
        self._warn = warn
        self._task = bars.add_task(escape_control_chars(title), total=None, count=READING, left="")

    def warn(self, finding: Finding) -> None:
        self._warn(finding)

    def _change(self, state: CellState) -> None:
        super()._change(state)
        left = time_left(state.seconds_left(time.time())) or ""
        self._bars.update(self._task, total=steps_of(state), completed=state.done, count=text_of(state), left=left)


def time_left(seconds: float | None) -> str | None:
    """``about 40 s left``, ``about 5 min left``, ``about 2 h 10 min left``; None if that is not known."""
    if seconds is None:
        return None
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < 59.5:
        return f"about {seconds:.0f} s left"
    return f"about {hours} h {minutes:02d} min left" if hours else f"about {minutes} min left"


def steps_of(state: CellState) -> int | None:
    """Its folds and what comes after them: the clock of a bar stops when the bar is full."""
    return None if state.folds is None else state.folds + 1


def text_of(state: CellState) -> str:
    """What a cell is doing."""
    if state.is_stored:
        return STORING
    if state.folds is None:
        return READING if state.waits_for is None else ELSEWHERE
    return MEASURING if state.done == state.folds else f"{state.done}/{state.folds} folds"
