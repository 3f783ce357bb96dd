"""What all forms have in common: a table without runs, missing numbers, a note about the whole."""

from __future__ import annotations

import pytest

from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.writers import csv, html, latex, markdown


@pytest.fixture
def unfilled() -> Grid:
    command = "fairfr run -m experiment=headline source=files"
    return Grid("empty", "Table 9", ("Method",), (), (), (Note("unfilled", "no run yet:", commands=(command,)),))


def test_a_table_without_runs_is_one_line(unfilled: Grid) -> None:
    """What would fill it, and nothing else; LaTeX has nothing to print."""
    for text in (markdown.render(unfilled), html.render(unfilled)):
        assert len(text.splitlines()) == 1 and "Table 9" in text and "experiment=headline" in text and "<td" not in text
    assert all(line.startswith("%") for line in latex.render(unfilled).splitlines())
    assert all(line.startswith("#") for line in csv.render(unfilled).splitlines())


def test_an_undefined_number_is_a_dash_and_a_missing_run_is_blank() -> None:
    line = Line("m", (Entry(missing="too few pairs"), Entry(missing="no groups"), Entry()))
    grid = Grid("t", "T", ("M",), (Spanner("", ("a", "b", "c")),), (Section("", (line,)),))
    assert "| m | \u2013 | \u2013 |  |" in markdown.render(grid)
    assert r"m & -- & -- &  \\" in latex.render(grid)
    assert csv.render(grid).splitlines()[-1] == ",,m,\u2013,\u2013,"
    assert 'title="too few pairs"' in html.render(grid) and 'title="no groups"' in html.render(grid)
    assert csv.tidy([grid]).count("\n") == 1


def test_a_note_about_the_whole_report_stands_below_its_title(grid: Grid, wordy: Grid) -> None:
    note = Note("hidden_variants", "2 runs.", "Not shown", ("fairfr tables --where a=<b>",), for_print=False)
    page, text = html.page([grid, wordy], "All", note=note), markdown.document([grid, wordy], "All", note)
    assert "Not shown: 2 runs. <code>fairfr tables --where a=&lt;b&gt;</code>" in page
    assert page.index("<h1>") < page.index("Not shown") < page.index("<h2>" if "<h2>" in page else "<figure")
    assert text.startswith("# All\n\nNot shown: 2 runs. `fairfr tables --where a=<b>`\n")
