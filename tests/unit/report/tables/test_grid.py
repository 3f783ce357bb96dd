"""Which values are bold, and what every table of stand-in runs says about its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from made_runs import in_reading, tables_of

from fairfr.report.tables.grid import Entry, Grid, Line, Note, Opening, Section, Spanner
from fairfr.report.writers import csv, html, latex, markdown
from fairfr.stored.reading import PAPER_READING
from fairfr.stored.results import Results
from fairfr.stored.run import Run

Make = Callable[..., Run]
MakeRuns = Callable[..., Results]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def test_ties_as_printed_are_bold_together(
    runs: MakeRuns, find: Find, tpr: Make, bold_rows: Callable[..., set[str]]
) -> None:
    made = runs(tpr("baseline", 0.7), tpr("fsn", 0.90049), tpr("ac_linear", 0.8996))
    assert bold_rows(find(tables_of(in_reading(made, PAPER_READING)), "table1_tpr"), RFW_MAGFACE) == {
        "FSN",
        "AC-Linear",
    }


def test_ties_of_the_mean_are_bold_whatever_their_spread(
    result: Make, runs: MakeRuns, find: Find, bold_rows: Callable[..., set[str]]
) -> None:
    made = runs(
        result("baseline", overall={"brier": 0.2}),
        result("fsn", overall={"brier": 0.1}, std=0.02),
        result("ac_linear", overall={"brier": 0.1001}, std=0.03),
    )
    grid = find(tables_of(in_reading(made, PAPER_READING)), "appendix_rfw_accuracy_2")
    column = grid.columns.index("Brier")
    assert bold_rows(grid, column) == {"FSN", "AC-Linear"}
    assert find([grid], grid.id, "FSN", column).shown == "0.100±0.020"


def test_nothing_is_bold_without_a_win_or_a_rival(
    result: Make, runs: MakeRuns, find: Find, bold_rows: Callable[..., set[str]]
) -> None:
    groups = {"asian": {"auroc": 0.9, TPR: 0.5}}
    same = [result(m, groups=groups, overall={"auroc": 0.9}) for m in ("baseline", "fsn", "ac_linear")]
    grids = tables_of(in_reading(runs(*same), PAPER_READING))
    assert find(grids, "table3_lu_auroc", "FSN", RFW_MAGFACE).text == "0/1"
    assert bold_rows(find(grids, "table3_lu_auroc"), RFW_MAGFACE) == set(), "0/1 is no win"
    assert bold_rows(find(grids, "appendix_auroc"), RFW_MAGFACE) == set(), "all print the same"
    alone = tables_of(in_reading(runs(same[1], result("gst_paper", overall={"auroc": 0.8})), PAPER_READING))
    assert bold_rows(find(alone, "appendix_auroc"), RFW_MAGFACE) == set(), "no label-free rival"


SAID = "Fitted to the paper: Baseline and AC-Linear in the headline settings, Platt and AC-Linear in the appendix"
GRID = Grid("t", "A title", ("Row",), (Spanner("", ("a",)),), (Section("", (Line("x", (Entry("1", 1.0),)),)),))


@pytest.mark.parametrize("render", [markdown.render, latex.render, html.render, csv.render])
def test_tables_of_stand_ins_say_what_was_fitted(render: Callable[[Grid], str]) -> None:
    assert SAID in render(replace(GRID, source="synthetic"))
    assert SAID not in render(replace(GRID, source="files"))


def test_a_table_with_nothing_to_show_does_not() -> None:
    assert SAID not in replace(GRID, source="synthetic", sections=()).caption


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
    opening = Opening([("What is decided", ["A is better."])], [note])
    page = html.page([grid, wordy], "All", opening=opening)
    text = markdown.document([grid, wordy], "All", opening)
    assert "Not shown: 2 runs. <code>fairfr tables --where a=&lt;b&gt;</code>" in page
    said = [page.index(words) for words in ("<h1>", "What is decided", "A is better.", "Not shown", "<figure")]
    assert said == sorted(said)
    answer = "**What is decided**\n\n- A is better.\n"
    assert text.startswith(f"# All\n\n{answer}\nNot shown: 2 runs. `fairfr tables --where a=<b>`\n")
