"""The same tables, in every form, from the small fixed set of runs in tables/runs.json (made up, not measured).

When a table is meant to look different: ``pytest tests/golden/test_tables.py --update-golden``, and read the diff.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_runs import results_of, run_of, tables_of

from fairfr.report.tables.grid import Grid
from fairfr.report.writers import csv, html, latex, markdown
from fairfr.stored.reading import PAPER_READING, READINGS, Reading

FOLDER = Path(__file__).with_name("tables")
FORMS = {"tex": latex.render, "md": markdown.render, "html": html.render, "csv": csv.render}
DRAWN = (
    "table2_worst_group",
    "table3_lu_auroc",
    "table4_wins",
    "appendix_ld_tpr",
    "appendix_summary_rfw_magface",
    "appendix_groups_auroc_bfw_adaface",
)


def tables(reading: Reading) -> dict[str, Grid]:
    stored = json.loads((FOLDER / "runs.json").read_text(encoding="utf-8"))
    for one in stored["runs"]:
        one["metrics"] = [dict(zip(stored["columns"], row, strict=True)) for row in one["metrics"]]
    runs = results_of((run_of(one) for one in stored["runs"]), "synthetic", reading)
    return {grid.id: grid for grid in tables_of(runs)}


def compare(path: Path, text: str, update: bool) -> None:
    if update:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs"


@pytest.mark.parametrize("form", FORMS)
def test_tables_golden(form: str, request: pytest.FixtureRequest) -> None:
    """Six tables that between them use every part of a Grid, in each form."""
    update = bool(request.config.getoption("--update-golden"))
    grids = tables(PAPER_READING)
    for id in DRAWN:
        compare(FOLDER / f"{id}.{form}", FORMS[form](grids[id]), update)


@pytest.mark.parametrize("reading", READINGS.values(), ids=str)
def test_every_number_golden(reading: Reading, request: pytest.FixtureRequest) -> None:
    """Every cell of every table, as printed and unrounded, in both readings."""
    text = csv.tidy(list(tables(reading).values()))
    compare(FOLDER / f"all_{reading}.csv", text, bool(request.config.getoption("--update-golden")))
