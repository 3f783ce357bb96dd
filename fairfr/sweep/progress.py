"""How far the cells of a sweep are: a small file in each job's folder, read by the process that started the sweep.

Cells may run in that process, in parallel workers or on other machines. None of them writes to the terminal; the one
process that does shows whole lines, whatever launcher is in use, and live bars where there is a terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from rich.progress import Progress, TaskID

from fairfr.core.config import from_file
from fairfr.core.errors import ConfigError
from fairfr.core.findings import Finding
from fairfr.core.text import escape_control_chars
from fairfr.runner.cell_bar import READING, CellProgress, CellState, steps_of, text_of

PROGRESS_FILE = "progress.json"


class ProgressFile(CellProgress):
    """Writes the state of one cell into ``folder``, each time whole."""

    def __init__(self, folder: Path, title: str) -> None:
        super().__init__(title)
        self._folder = folder
        self._change(self._state)

    def warn(self, finding: Finding) -> None:
        self._change(replace(self._state, findings=(*self._state.findings, finding)))

    def _change(self, state: CellState) -> None:
        super()._change(state)
        new = self._folder / f"{PROGRESS_FILE}.new"
        with contextlib.suppress(OSError):  # a full disk stops the cell where it matters, with a better message
            self._folder.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps(asdict(state)), encoding="utf-8")
            os.replace(new, self._folder / PROGRESS_FILE)


def read_state(folder: Path) -> CellState | None:
    """The state of the cell whose job folder this is; None before it has one."""
    try:
        return from_file(CellState, json.loads((folder / PROGRESS_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, ConfigError):
        return None


class SweepBars:
    """A bar for the sweep, and one for each cell that runs."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._sweep = bars.add_task("sweep", total=None, count="", left="")
        self._cells: dict[int, TaskID] = {}

    def show(self, ended: int, planned: int, running: Mapping[int, CellState], left: str | None) -> None:
        count = f"{ended}/{planned} runs"
        self._bars.update(self._sweep, total=planned, completed=ended, count=count, left=left or "")
        for job in set(self._cells) - set(running):
            self._bars.remove_task(self._cells.pop(job))
        for job, state in running.items():
            if job not in self._cells:
                title = escape_control_chars(f"  {job + 1}  {state.title}")
                self._cells[job] = self._bars.add_task(title, total=None, count=READING, left="")
            self._bars.update(self._cells[job], total=steps_of(state), completed=state.done, count=text_of(state))
