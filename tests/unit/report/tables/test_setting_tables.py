"""One data set with one backbone: every method, every group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_runs import change, tables_of

from fairfr.paper.order import PAPER_READING
from fairfr.report.run import Run
from fairfr.report.runs import SelectedRuns

Make = Callable[..., Run]
MakeRuns = Callable[..., SelectedRuns]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def test_groups_with_too_few_pairs_have_a_dash_and_a_note(
    result: Make, runs: MakeRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    made = runs(result("baseline", groups={"asian": {"auroc": None}, "white": {"auroc": 0.9}}))
    grid = find(tables_of(made, PAPER_READING), "appendix_groups_auroc_rfw_magface")
    assert [entry.shown for entry in find([grid], grid.id, "Baseline").entries] == ["\u2013", "90.00±1.00"]
    assert "\u2013: too few pairs" in notes(grid, "few_pairs")[0]


def test_groups_are_printed_in_percent_and_coloured_against_the_baseline(
    lifted: SelectedRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    grids = tables_of(lifted, PAPER_READING)
    id = "appendix_groups_auroc_rfw_magface"
    assert find(grids, id).columns == ("Asian", "White")
    assert find(grids, id, "Baseline", 0).shown == "94.19±1.00"
    toned = {
        row: [cell.tone for cell in find(grids, id, row).entries] for row in ("Baseline", "FSN", "GST", "AC-Linear")
    }
    assert toned == {
        "Baseline": ["plain", "plain"],
        "FSN": ["degraded", "improved"],
        "GST": ["improved", "improved"],
        "AC-Linear": ["improved", "plain"],
    }
    assert notes(find(grids, "appendix_groups_pauc_rfw_magface"), "mcclish")


def test_many_groups_have_several_tables(result: Make, runs: MakeRuns, find: Find) -> None:
    groups = {f"g{i}": {"auroc": 0.9} for i in range(11)}
    grids = tables_of(runs(result("baseline", groups=groups)), PAPER_READING)
    parts = [grid for grid in grids if grid.id.startswith("appendix_groups_auroc")]
    assert [grid.columns for grid in parts] == [tuple(f"G{i}" for i in range(8)), ("G8", "G9", "G10")]
    assert parts[1].title.endswith("part 2 of 2")


def test_own_data_gets_its_tables_too(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(result("baseline", "mine/mynet", overall={"auroc": 0.9}, groups={"a": {"auroc": 0.8}}))
    grids = tables_of(made, PAPER_READING)
    assert find(grids, "appendix_summary_mine_mynet", "Baseline", 0).shown == "90.00±1.00"
    assert find(grids, "appendix_groups_auroc_mine_mynet", "Baseline", 0).shown == "80.00±1.00"
    assert not [grid.id for grid in grids if grid.id.startswith("appendix_mine")], "one backbone is compared with none"


def test_own_backbones_of_a_data_set_stand_beside_each_other(result: Make, runs: MakeRuns, find: Find) -> None:
    settings = ("mine/mynet", "mine/other", "lfw/mynet", "lfw/magface")
    made = runs(*(result("baseline", where, overall={"auroc": 0.9}) for where in settings))
    grids = tables_of(made, PAPER_READING)
    grid = find(grids, "appendix_mine_accuracy_own")
    assert [(section.heading, section.panel) for section in grid.sections] == [("Mynet", True), ("Other", True)]
    chapters = list(dict.fromkeys(grid.chapter for grid in grids))
    assert (
        chapters.index("MINE, by backbone") == 1 + chapters.index("MINE x Other") < chapters.index("The paper's tables")
    )
    assert not [grid.id for grid in grids if grid.id.startswith("appendix_lfw_accuracy_own")]
    assert find(grids, "appendix_lfw_accuracy_2", "Baseline", 0).shown == "0.900±0.010", "the paper's parts stay"


def test_data_without_groups_has_tables_without_group_numbers(
    result: Make, runs: MakeRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    made = result("baseline", "mine/mynet", overall={"auroc": 0.9})
    change(made, data={"folds": ["0"], "grouping": None, "groups": {}})
    grids = tables_of(runs(made), PAPER_READING)
    assert not [grid.id for grid in grids if grid.id.startswith("appendix_groups")]
    summary = find(grids, "appendix_summary_mine_mynet")
    entries = find([summary], summary.id, "Baseline").entries
    assert [entry.shown for entry in entries if entry.text] == ["90.00±1.00"]
    assert entries[3].missing == "no groups"
    assert notes(summary, "no_groups")


def test_each_attribute_has_its_table_which_says_where_few_folds_count(
    result: Make, runs: MakeRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    made = result("baseline", "mine/mynet", groups={"a": {"auroc": 0.9}})
    change(made, data={"folds": ["0", "1"], "grouping": "kind_x_sex", "groups": {"kind": ["a", "b"]}})
    place = {"grouping": "kind", "rule": "first", "metric": "auroc", "std": 0.0, "folds_total": 2}
    rows = [
        {**place, "group": "a", "mean": 0.75, "folds": 1},
        {**place, "group": "b", "mean": 0.5, "folds": 2},
    ]
    assert made.result.metrics is not None
    change(made, metrics=[*made.result.metrics.rows, *rows])
    grid = find(tables_of(runs(made), PAPER_READING), "appendix_groups_kind_mine_mynet")
    assert grid.columns == ("A", "B", "Worst", "TPR@1e-3, %", "Brier")
    entries = find([grid], grid.id, "Baseline").entries
    assert [entry.shown for entry in entries[:2]] == ["75.00", "50.00±0.00"], "one fold has no spread"
    assert notes(grid, "few_folds") == ["Folds with enough pairs, where not all: A 1 of 2."]
