"""What a sweep shows while it runs: the only writer to the terminal, whichever processes compute the cells."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fairfr.store.result_file import read_json
from fairfr.store.sweep_record import Outcome, read_outcome
from fairfr.sweep.bars import SweepBars, time_left
from fairfr.sweep.progress import CellState, read_state
from fairfr.sweep.terminal import Terminal

INTERVAL = 0.25  # seconds between two looks into the sweep's folder


class SweepDisplay:
    """Reads what the jobs of one sweep leave in ``folder``; a line for each cell that has ended, bars for the others
    where there is a terminal."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        self._folder, self._terminal = folder, terminal
        self._planned, self._computed = 0, 0
        self._ended: set[int] = set()
        self._started = time.time()

    @contextmanager
    def watching(self, first: int, jobs: Sequence[Sequence[str]]) -> Iterator[None]:
        """Meanwhile, a thread shows how far ``jobs`` are, the overrides of jobs whose numbers begin with ``first``."""
        self._planned = first + len(jobs)
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
        for job in (job for job in range(self._planned) if job not in self._ended):
            outcome = read_outcome(self._folder / str(job))  # first: of a cell that has ended the state is the last
            state = read_state(self._folder / str(job))
            for finding in () if state is None else state.findings:
                self._terminal.warn(finding)
            if outcome is not None:
                news.append((job, outcome))
            elif state is not None:
                running[job] = state
        for job, outcome in news:
            self._show_end(job, outcome, now)
        bars.show(len(self._ended), self._planned, running, self._left(now))

    def _show_end(self, job: int, outcome: Outcome, now: float) -> None:
        self._ended.add(job)
        stored = read_json(Path(outcome["folder"])) if "folder" in outcome else None
        self._computed += outcome["status"] == "completed"
        planned = str(self._planned)
        position = f"[{len(self._ended):>{len(planned)}}/{planned}] "
        if stored is None:
            self._terminal.failed(f"{position}{outcome['choices']}", str(outcome["error"]))
        else:
            self._terminal.cell_line(outcome["status"], stored, outcome["error"], position, self._left(now))

    def _left(self, now: float) -> str | None:
        """Time left in words, by the cells that were computed so far; None before the first, and at the end."""
        waiting = self._planned - len(self._ended)
        if waiting == 0 or self._computed == 0:
            return None
        return time_left((now - self._started) / self._computed * waiting)
