"""Runs made by hand from some keys of result.json, and the tables of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairfr.core.run_result import RunResult
from fairfr.core.types import Source
from fairfr.paper.order import ORDER
from fairfr.paper.paper_tables import appendix_tables, main_tables
from fairfr.report.tables.grid import Grid
from fairfr.report.tables.setting_tables import tables_of_runs
from fairfr.stored.reading import STRICT, Reading
from fairfr.stored.results import Results, shown_results
from fairfr.stored.run import Run

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
    changed = Run(result_of({**run.result.to_json(), **keys}), run.folder, run.reading, run.config_dirs)
    run.__dict__ = changed.__dict__


def results_of(runs: Iterable[Run], source: Source, reading: Reading = STRICT) -> Results:
    """Those of the runs that tables show, in the paper's order."""
    return shown_results(list(runs), source, reading=reading, order=ORDER)


def in_reading(results: Results, reading: Reading) -> Results:
    """The same runs, read in another way, in the paper's order."""
    return Results(results, results.source, reading, ORDER)


def tables_of(results: Results) -> list[Grid]:
    """Data sets with backbones that have runs, then Tables 1 to 4 of the paper, then those of its appendix."""
    return [*tables_of_runs(results), *main_tables(results), *appendix_tables(results)]
