"""CSV: as printed, and tidy with unrounded numbers."""

from __future__ import annotations

import csv as csv_module
import io
from dataclasses import replace

import pandas as pd
import pytest

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


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+A1", "'+A1"),
        ("-1+cmd|'x'!A0", "'-1+cmd|'x'!A0"),
        ("\t=1+A1", "'\t=1+A1"),
        ("-0.012", "-0.012"),
        ("+1e-05", "+1e-05"),
        ("-0.012 [-0.020, 0.011]", "-0.012 [-0.020, 0.011]"),
        ("mynet", "mynet"),
    ],
)
def test_no_spreadsheet_runs_a_name(grid: Grid, text: str, written: str) -> None:
    section = grid.sections[0]
    line = section.lines[0]
    entries = (replace(line.entries[0], text=text, spread=""), *line.entries[1:])
    named = replace(
        grid, sections=(replace(section, lines=(replace(line, label=text, dagger=False, entries=entries),)),)
    )
    (row,) = csv_module.DictReader(io.StringIO(csv.render(named).split("\n", 3)[3]))
    assert (row["Method"], row["RFW R100"]) == (written, written)
    first = next(csv_module.DictReader(io.StringIO(csv.tidy([named]))))
    assert (first["row"], first["printed"]) == (written, written)


def test_a_caption_with_commas_has_no_formula_behind_one(grid: Grid) -> None:
    text = csv.render(replace(grid, title="of x,=cmd()\n=cmd()"))
    cells = [cell for row in csv_module.reader(io.StringIO(text)) for cell in row]
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)
