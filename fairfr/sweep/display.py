"""What a sweep shows while it runs: the only writer to the terminal, whichever processes compute the cells."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fairfr.store.reading import read_result
from fairfr.store.sweep import Outcome, read_outcome
from fairfr.sweep.bars import SweepBars, time_left
from fairfr.sweep.forecast import Forecast, Place
from fairfr.sweep.progress import CellState, read_state
from fairfr.sweep.terminal import Terminal

INTERVAL = 0.25  # seconds between two looks into the sweep's folder


class SweepDisplay:
    """Reads what the jobs of one sweep leave in ``folder``; a line for each cell that has ended, bars for the others
    where there is a terminal."""

    def __init__(
        self,
        folder: Path,
        places_of: Callable[[Sequence[Sequence[str]]], list[Place]],
        forecast: Forecast,
        terminal: Terminal,
    ) -> None:
        self._folder, self._places_of, self._forecast, self._terminal = folder, places_of, forecast, terminal
        self._places: list[Place] = []
        self._ended: set[int] = set()
        self._workers = 1

    @contextmanager
    def watching(self, first: int, jobs: Sequence[Sequence[str]]) -> Iterator[None]:
        """Meanwhile, a thread shows how far ``jobs`` are, the overrides of jobs whose numbers begin with ``first``."""
        self._places[first:] = self._places_of(jobs)
        over = threading.Event()
        with self._terminal.sweep_bars() as bars:
            watcher = threading.Thread(target=self._watch, args=(over, bars), daemon=True)
            watcher.start()
            try:
                yield
            finally:
                over.set()
                watcher.join()
                self.look(bars, time.time())

    def _watch(self, over: threading.Event, bars: SweepBars) -> None:
        try:
            while not over.wait(INTERVAL):
                self.look(bars, time.time())
        except SystemExit:  # rich: whoever read the output has closed the pipe
            _thread.interrupt_main()

    def look(self, bars: SweepBars, now: float) -> None:
        """Show once what has changed."""
        running: dict[int, CellState] = {}
        news: list[tuple[int, Outcome]] = []
        for job in (job for job in range(len(self._places)) if job not in self._ended):
            outcome = read_outcome(self._folder / str(job))  # first: of a cell that has ended the state is the last
            state = read_state(self._folder / str(job))
            for finding in () if state is None else state.findings:
                self._terminal.warn(finding)
            if outcome is not None:
                news.append((job, outcome))
            elif state is not None:
                running[job] = state
        self._workers = max(self._workers, len(running))
        for job, outcome in news:
            self._show_end(job, outcome, running, now)
        bars.show(len(self._ended), len(self._places), running, self._left(running, now))

    def _show_end(self, job: int, outcome: Outcome, running: dict[int, CellState], now: float) -> None:
        self._ended.add(job)
        stored = read_result(Path(outcome["folder"])) if "folder" in outcome else None
        if stored is not None and outcome["status"] == "completed":
            self._forecast.add(self._places[job], stored["seconds"])
        planned = str(len(self._places))
        position = f"[{len(self._ended):>{len(planned)}}/{planned}] "
        if stored is None:
            self._terminal.failed(f"{position}{outcome['choices']}", str(outcome["error"]))
        else:
            self._terminal.cell_line(outcome["status"], stored, outcome["error"], position, self._left(running, now))

    def _left(self, running: dict[int, CellState], now: float) -> str | None:
        """Time left in words; None at the end, and while nothing is known."""
        waiting = [place for job, place in enumerate(self._places) if job not in self._ended and job not in running]
        if not waiting and not running:
            return None
        states = [(self._places[job], state) for job, state in running.items()]
        return time_left(self._forecast.left(waiting, states, self._workers, now))
