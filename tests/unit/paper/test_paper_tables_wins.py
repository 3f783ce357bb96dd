"""Table 4: for how many groups an AC variant is at best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_runs import tables_of

from fairfr.paper.order import PAPER_READING
from fairfr.report.run import Run
from fairfr.report.runs import SelectedRuns

Make = Callable[..., Run]
MakeRuns = Callable[..., SelectedRuns]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def test_one_form_of_ac_density_competes_for_wins_at_a_time(result: Make, runs: MakeRuns, find: Find) -> None:
    """With both in one count four variants would compete, and the paper's three could not be compared with it."""

    def of(method: str, asian: float, white: float) -> Run:
        return result(
            method, groups={"asian": {"auroc": asian, "pauc": asian}, "white": {"auroc": white, "pauc": white}}
        )

    some = (of("baseline", 0.90, 0.95), of("ac_linear", 0.91, 0.94), of("ac_density", 0.92, 0.93))
    grid = find(tables_of(runs(*some, of("ac_density_loo", 0.93, 0.96)), PAPER_READING), "table4_wins")
    text, left_out = (section.lines[0].entries for section in grid.sections)
    assert [cell.text for cell in text] == ["1/2 (50.0%)", "AC-Density (1)"]
    assert [cell.text for cell in left_out] == ["2/2 (100.0%)", "AC-Density (LOO) (2)"]
    assert "Three AC variants compete" in grid.caption
    without = find(tables_of(runs(*some), PAPER_READING), "table4_wins")
    assert [cell.text for cell in without.sections[1].lines[0].entries] == ["", ""]


def test_wins_count_cells_where_a_variant_is_best_ties_included(lifted: SelectedRuns, find: Find) -> None:
    # asian: AC-Density alone; white: AC-Density and FSN tie at 98.00; GST sees groups and does not compete
    grid = find(tables_of(lifted, PAPER_READING), "table4_wins")
    assert [cell.text for cell in find([grid], grid.id, "Per-group AUROC").entries] == [
        "2/2 (100.0%)",
        "AC-Density (2)",
    ]


def test_wins_are_lost_to_a_better_label_free_method(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(
        result("baseline", groups={"asian": {"auroc": 0.9}, "white": {"auroc": 0.99}}),
        result("ac_mlp", groups={"asian": {"auroc": 0.95}, "white": {"auroc": 0.98}}),
        result("ac_linear", groups={"asian": {"auroc": 0.95001}, "white": {"auroc": 0.97}}),
        result("platt", groups={"asian": {"auroc": 0.999}, "white": {"auroc": 0.999}}),
    )
    line = find(tables_of(made, PAPER_READING), "table4_wins", "Per-group AUROC")
    assert [entry.text for entry in line.entries] == ["1/2 (50.0%)", "AC-MLP (1), AC-Linear (1)"], (
        "Platt does not count"
    )
