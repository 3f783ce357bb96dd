"""What a sweep shows while it runs: one process writes to the terminal, whichever processes compute the cells."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairfr.runner.cell_bar import CellState, time_left
from fairfr.store.result_file import try_read_result
from fairfr.store.sweep_record import CellOutcome, read_outcome
from fairfr.sweep.progress import SweepBars, read_state
from fairfr.sweep.terminal import Terminal

INTERVAL = 0.25  # seconds between two looks into the sweep's folder


class SweepWatcher:
    """Reads what the jobs of one sweep leave in its folder, and shows it.

    A cell that has ended is a line; where there is a terminal, the sweep and each running cell have a bar.

    Parameters
    ----------
    folder : Path
        The sweep's folder.
    n_jobs : int
        How many jobs it has.
    terminal : Terminal
        Where to show them.
    on_fit : callable
        Called, perhaps repeatedly, when a cell has read its data and is fitted.
    on_end : callable
        Called once with the outcome of each job that has ended.
    """

    def __init__(
        self,
        folder: Path,
        n_jobs: int,
        terminal: Terminal,
        on_fit: Callable[[], object] = lambda: None,
        on_end: Callable[[CellOutcome], object] = lambda outcome: None,
    ) -> None:
        self._folder = folder
        self._n_jobs = n_jobs
        self._terminal = terminal
        self._on_fit = on_fit
        self._on_end = on_end
        self._n_computed = 0
        self._ended: set[int] = set()
        self._started = time.time()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Meanwhile, a thread shows how far the jobs are."""
        over = threading.Event()
        with self._terminal.sweep_bars() as bars:
            thread = threading.Thread(target=self._watch, args=(over, bars), daemon=True)
            thread.start()
            try:
                yield
            finally:
                over.set()
                thread.join()
                self.look(bars, time.time())

    def _watch(self, over: threading.Event, bars: SweepBars) -> None:
        try:
            while not over.wait(INTERVAL):
                self.look(bars, time.time())
        except SystemExit:  # rich: the reader of the output has closed the pipe
            _thread.interrupt_main()

    def look(self, bars: SweepBars, now: float) -> None:
        """Show once what has changed."""
        running: dict[int, CellState] = {}
        for job in range(self._n_jobs):
            if job in self._ended:
                continue
            outcome = read_outcome(self._folder / str(job))  # first: of a cell that has ended the state is the last
            state = read_state(self._folder / str(job))
            if state is not None:
                self._show_state(state)
            if outcome is not None:
                self._show_end(job, outcome, now)
            elif state is not None:
                running[job] = state
        bars.show(len(self._ended), self._n_jobs, running, self._time_left(now))

    def _show_state(self, state: CellState) -> None:
        for finding in state.findings:
            self._terminal.warn(finding)
        if state.folds is not None:
            self._on_fit()

    def _show_end(self, job: int, outcome: CellOutcome, now: float) -> None:
        self._ended.add(job)
        if outcome.status == "completed":
            self._n_computed += 1
        stored = None
        if outcome.folder is not None:
            stored = try_read_result(outcome.folder)
        total = str(self._n_jobs)
        position = f"[{len(self._ended):>{len(total)}}/{total}] "
        if stored is None:
            self._terminal.failed(f"{position}{outcome.choices}", str(outcome.error))
        else:
            self._terminal.cell_line(outcome.status, stored, outcome.error, position, self._time_left(now))
        self._on_end(outcome)

    def _time_left(self, now: float) -> str | None:
        """Time left in words, by the cells that were computed so far; None before the first, and at the end."""
        n_left = self._n_jobs - len(self._ended)
        if n_left == 0 or self._n_computed == 0:
            return None
        return time_left((now - self._started) / self._n_computed * n_left)
