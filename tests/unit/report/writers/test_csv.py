"""CSV: as printed, and tidy with unrounded numbers."""

from __future__ import annotations

import csv as csv_module
import io

import pandas as pd

from fairfr.report.tables.grid import Grid
from fairfr.report.writers import csv


def test_csv_reads_back_as_printed(grid: Grid) -> None:
    table = pd.read_csv(io.StringIO(csv.render(grid)), comment=None, skiprows=3, dtype=str, keep_default_na=False)
    assert list(table.columns) == ["panel", "section", "Method", "RFW R100", "RFW AdaFace", "K/N"]
    assert table["Method"].tolist() == ["Baseline", "FRAPPÉ", f"{[*grid.lines()][-1].label}†"]
    assert table["RFW R100"].tolist() == ["0.900", "0.950", "1.0"]
    assert table["panel"].tolist() == ["Panel A"] * 3 and table["section"].tolist() == ["", "", "Needs labels"]
    assert csv.render(grid).startswith("# A title [SYNTHETIC stand-in, not faces].")


def test_tidy_csv_has_unrounded_numbers_and_marks(grid: Grid) -> None:
    rows = list(csv_module.DictReader(io.StringIO(csv.tidy([grid]))))
    assert len(rows) == 6, "empty cells are left out"
    assert rows[3] == {
        "table": "odd_table",
        "panel": "Panel A",
        "section": "",
        "row": "FRAPPÉ",
        "needs_groups": "0",
        "group": "RFW",
        "column": "R100",
        "printed": "0.950",
        "value": "0.95",
        "bold": "1",
        "mark": "improved",
    }
