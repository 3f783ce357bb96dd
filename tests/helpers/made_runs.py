"""Runs made by hand from some keys of result.json, and the tables of runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairfr.core.run_result import RunResult
from fairfr.paper.order import ORDER
from fairfr.paper.paper_tables import appendix_tables, main_tables
from fairfr.report.tables.grid import Grid
from fairfr.report.tables.layout import Layout
from fairfr.report.tables.setting_tables import tables_of_runs
from fairfr.stored.reading import Reading
from fairfr.stored.run import Run
from fairfr.stored.runs import SelectedRuns
from fairfr.stored.selection import Selection

BLANK: dict[str, Any] = {
    "key": "k",
    "status": "completed",
    "source": "files",
    "finished": "2026-01-01T00:00:00+00:00",
    "identity": {},
    "differs": {},
}
IDS = {"dataset": "set", "backbone": "net", "method": "method"}


def result_of(stored: Mapping[str, Any]) -> RunResult:
    """The result with these keys; what every result has is filled in where it is missing."""
    named = {noun: {"id": id, **stored.get(noun, {})} for noun, id in IDS.items()}
    return RunResult.from_json({**BLANK, **stored, **named})


def run_of(stored: Mapping[str, Any], folder: Path | None = None) -> Run:
    """A run with that result."""
    return Run(result_of(stored), folder)


def change(run: Run, **keys: Any) -> None:
    """Give the result of a run other values of these keys."""
    run.result = result_of({**run.result.to_json(), **keys})


def in_reading(runs: SelectedRuns, reading: Reading) -> SelectedRuns:
    """The same runs, read in another way."""
    return SelectedRuns(runs, runs.source, Selection(everything=True), reading=reading)


def layout_of(runs: SelectedRuns, reading: Reading) -> Layout:
    """The same runs, read in another way, in the paper's order."""
    return Layout(in_reading(runs, reading), ORDER)


def tables_of(runs: SelectedRuns) -> list[Grid]:
    """Data sets with backbones that have runs, then Tables 1 to 4 of the paper, then those of its appendix."""
    layout = Layout(runs, ORDER)
    return [*tables_of_runs(layout), *main_tables(layout), *appendix_tables(layout)]
