"""A sweep from its parent run to its summary: what the process that started it does before and after the cells."""

from __future__ import annotations

import time
from pathlib import Path

from fairfr.core.errors import FairfrError
from fairfr.report.terminal import Terminal
from fairfr.store.mirror import Mirror
from fairfr.store.sweep import Sweep, SweepEnd, read_outcomes


class RunningSweep:
    """One sweep; ``folder`` is where its jobs leave their outcomes, ``mirror`` None where there is no MLflow."""

    def __init__(self, sweep: Sweep, folder: Path, out_root: Path, mirror: Mirror | None) -> None:
        self._sweep, self._folder, self._out_root, self._mirror = sweep, folder, out_root, mirror

    def start(self, in_parallel: bool) -> None:
        """Parallel workers would race to make the database and the parent run: they find both."""
        self._sweep.write(self._folder)
        if self._mirror is not None and in_parallel:
            self._mirror.start().open_sweep(self._sweep)
        elif self._mirror is not None and not self._mirror.has_sweep(self._sweep):
            self._mirror.start()

    def finish(self, status: str | None = None) -> bool:
        """Show the summary and finish the parent run; whether anything failed.

        ``status``: FAILED or KILLED for a sweep that was cut short.
        """
        terminal = Terminal()
        outcomes = read_outcomes(self._folder)
        failed = bool(outcomes) and terminal.sweep_report(outcomes, self._out_root) > 0
        over = self._sweep.over(time.time(), status, outcomes)
        over.write(self._folder)
        if self._mirror is None:
            return failed
        try:
            end = SweepEnd.of(over, outcomes)
            if not self._mirror.has_sweep(self._sweep, end):
                self._mirror.close_sweep(self._sweep, end)
        except FairfrError as error:
            terminal.error(str(error))
            return True
        terminal.mlflow_hint()
        return failed
