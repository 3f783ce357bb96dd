"""The paper's tables, and what comes before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_runs import tables_of

from fairfr.paper.order import PAPER_READING, SETTINGS
from fairfr.report.run import STRICT, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.grid import Entry

Make = Callable[..., Run]
MakeRuns = Callable[..., SelectedRuns]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def test_rows_and_columns_are_the_papers(runs: MakeRuns, find: Find, tpr: Make) -> None:
    grid = find(tables_of(runs(tpr("baseline", 0.5)), PAPER_READING), "table1_tpr")
    rows = [line.label for section in grid.sections for line in section.lines]
    assert rows == [
        "Baseline",
        "FairCal",
        "FALCON",
        "FRAPPÉ",
        "FSN",
        "GST",
        "DemoNorm",
        "Oracle",
        "AC-MLP",
        "AC-Linear",
        "AC-Density",
        "AC-Density (LOO)",
    ]
    assert [group.heading for group in grid.spanners] == ["RFW", "BFW", "LFW"]
    assert all(group.columns == ("R100", "AdaFace", "MagFace") for group in grid.spanners)
    assert find([grid], "table1_tpr", "Baseline", RFW_MAGFACE) == Entry("0.500", 0.5, printed=0.5)


def test_worst_group_brier_is_that_of_the_raw_score_only_in_the_paper_reading(
    result: Make, runs: MakeRuns, find: Find
) -> None:
    made = runs(result("baseline", worst={"auroc": 0.9, "brier": 0.05, "brier_raw": 0.17}))
    for reading, expected in ((PAPER_READING, "0.170"), (STRICT, "0.050")):
        grid = find(tables_of(made, reading), "table2_worst_group")
        panels = [section.lines[0].entries[RFW_MAGFACE].text for section in grid.sections if section.panel]
        assert panels == ["0.900", expected]


def test_the_brier_table_leaves_out_methods_without_a_probability(result: Make, runs: MakeRuns, find: Find) -> None:
    grid = find(tables_of(runs(result("faircal", overall={"brier": 0.1})), PAPER_READING), "appendix_brier")
    rows = [line.label for section in grid.sections for line in section.lines]
    assert rows == ["FairCal", "FRAPPÉ", "GST", "Oracle", "AC-MLP", "AC-Linear", "AC-Density", "AC-Density (LOO)"]


def test_lifted_groups_are_counted_against_the_baseline(
    lifted: SelectedRuns, find: Find, bold_rows: Callable[..., set[str]]
) -> None:
    grids = tables_of(lifted, PAPER_READING)
    rows = {line.label: line for section in find(grids, "table3_lu_auroc").sections for line in section.lines}
    assert "Baseline" not in rows
    found = {label: line.entries[RFW_MAGFACE].text for label, line in rows.items() if line.entries[RFW_MAGFACE].text}
    assert found == {"FSN": "0/2", "GST": "2/2", "AC-Linear": "1/2", "AC-Density": "2/2"}
    assert bold_rows(find(grids, "table3_lu_auroc"), RFW_MAGFACE) == {"AC-Density"}


def test_without_a_baseline_nothing_is_lifted_and_the_command_asks_for_it(
    result: Make, runs: MakeRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    grids = tables_of(runs(result("fsn", groups={"asian": {"auroc": 0.9, TPR: 0.5}})), PAPER_READING)
    assert find(grids, "table3_lu_auroc", "FSN", RFW_MAGFACE) == Entry()
    for id in ("table3_lu_auroc", "appendix_ld_tpr"):
        assert "method=baseline," in notes(find(grids, id), "missing")[0]


def test_ld_tpr_has_a_row_for_each_setting(lifted: SelectedRuns, find: Find) -> None:
    grid = find(tables_of(lifted, PAPER_READING), "appendix_ld_tpr")
    assert grid.columns == (
        "FairCal",
        "FALCON",
        "FRAPPÉ",
        "FSN",
        "AC-MLP",
        "AC-Linear",
        "AC-Density",
        "AC-Density (LOO)",
    )
    assert [section.heading for section in grid.sections] == ["RFW", "BFW", "LFW"]
    magface = grid.sections[0].lines[2]
    assert magface.label == "MagFace"
    assert [cell.text for cell in magface.entries] == ["", "", "", "0/2", "", "1/2", "2/2", ""]
    assert [cell.bold for cell in magface.entries] == [False] * 6 + [True, False]


def test_own_data_comes_first_and_empty_tables_are_one_line(result: Make, runs: MakeRuns, find: Find) -> None:
    own = result("platt", "mine/mynet", overall={"auroc": 0.9}, groups={"a": {"auroc": 0.8}})
    grids = tables_of(runs(result("baseline", "rfw/facenet", overall={"auroc": 0.9}), own), PAPER_READING)
    assert grids[0].id == "appendix_summary_mine_mynet" and grids[0].chapter == "MINE x Mynet"
    assert [line.label for line in grids[0].lines()] == ["Platt"], "no empty rows of methods that have not run"
    table = find(grids, "table1_tpr")
    assert table.sections == () and [note.code for note in table.notes] == ["unfilled"]
    assert table.notes[0].commands == ("fairfr run -m experiment=headline source=files",)
    assert find(grids, "table4_wins").sections, "it counts all sixteen settings, RFW with FaceNet among them"


def test_every_setting_of_the_paper_has_its_tables_once(result: Make, runs: MakeRuns) -> None:
    groups = {"asian": {"auroc": 0.9}, "white": {"auroc": 0.95}}
    made = [result("baseline", f"{d}/{b}", groups=groups) for d, b in SETTINGS]
    ids = [grid.id for grid in tables_of(runs(*made), PAPER_READING)]
    # 4 main, 4 aggregates, accuracy and gaps in 3 + 3 + 4 parts, then three tables for each of 16 settings
    assert len(ids) == len(set(ids)) == 4 + 4 + 2 * (3 + 3 + 4) + 3 * 16
    paper = ids[3 * 16 :]
    assert paper[:5] == ["table1_tpr", "table2_worst_group", "table3_lu_auroc", "table4_wins", "appendix_brier"]
