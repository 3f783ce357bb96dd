"""Ours beside the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from scipy import stats

from fairfr.report.paper.comparison import TOLERANCE, companions, coverage, spearman
from fairfr.report.paper.published import QUANTITIES, TPR, WORST_AUROC
from fairfr.report.readings import Reading
from fairfr.report.runs import Runs
from fairfr.report.tables.grid import Cell, Grid, Line

CELL = ("rfw", "magface", "falcon")  # third column
COLUMN = 2


def lines(grid: Grid) -> dict[str, Line]:
    return {line.label: line for section in grid.sections for line in section.lines}


def companion(runs: Runs, name: str, reading: Reading = "paper") -> Grid:
    return next(grid for grid in companions(runs, reading) if grid.id == f"against_paper_{name}")


def differences(grid: Grid) -> list[Cell]:
    return [cell for label, line in lines(grid).items() if label.endswith("difference") for cell in line.cells]


@pytest.mark.parametrize("reading", get_args(Reading))
def test_runs_that_give_the_papers_numbers_differ_nowhere(paper_runs: Callable[..., Runs], reading: Reading) -> None:
    runs = paper_runs()
    grids = companions(runs, reading)
    assert len(grids) == 8
    cells = [cell for grid in grids for cell in differences(grid)]
    assert sum(cell.text != "" for cell in cells) == 711 + 72  # AC-Density (LOO) stands against AC-Density's
    assert all(cell.value == 0 and cell.tone == "plain" for cell in cells)
    for grid in grids:
        by_label = lines(grid)
        for label, line in by_label.items():
            if label.endswith(", ours"):
                assert [c.text for c in line.cells] == [c.text for c in by_label[label[:-4] + "paper"].cells]
    summary = lines(coverage(runs, reading))
    assert [c.text for c in summary["All"].cells[:3]] == ["711/711", "0.000", "0.000"]
    correlations = [cell.value for line in summary.values() for cell in line.cells[4:] if cell.text]
    assert correlations == pytest.approx([1.0] * len(correlations)) and len(correlations) >= 60


def test_a_cell_beyond_the_tolerance_is_marked(paper_runs: Callable[..., Runs]) -> None:
    # the paper prints 0.941 and 0.508 there
    inside = paper_runs(change={CELL: {("auroc", "worst"): 0.9514}})
    outside = paper_runs(change={CELL: {("auroc", "worst"): 0.9296, ("tpr_at_fpr_1e-3", "all"): 0.468}})
    cell = lines(companion(inside, "worst_group_auroc"))["FALCON, difference"].cells[COLUMN]
    assert (cell.text, cell.tone) == ("+0.010", "plain")  # exactly the tolerance, between the printed values
    cell = lines(companion(outside, "worst_group_auroc"))["FALCON, difference"].cells[COLUMN]
    assert (cell.text, cell.tone) == ("-0.011", "beyond")
    assert lines(companion(outside, "worst_group_auroc"))["FALCON, ours"].cells[COLUMN].text == "0.930"
    assert sum(c.tone == "beyond" for g in companions(outside, "paper") for c in differences(g)) == 2
    summary = lines(coverage(outside, "paper"))
    assert [c.text for c in summary["All"].cells[:4]] == ["711/711", "0.000", "0.040", "2"]
    assert any("TPR at FPR=1e-3 FALCON, RFW MagFace" in note for note in coverage(outside, "paper").notes)


def test_both_forms_of_ac_density_stand_against_the_printed_one(paper_runs: Callable[..., Runs]) -> None:
    # printed 0.466
    loo = ("rfw", "magface", "ac_density_loo")
    runs = paper_runs(change={loo: {("tpr_at_fpr_1e-3", "all"): 0.516}})
    grid = companion(runs, "tpr_at_fpr_1e-3")
    rows = lines(grid)
    assert list(rows)[-6:] == [
        f"AC-Density{form}, {w}" for form in ("", " (LOO)") for w in ("ours", "paper", "difference")
    ]
    assert rows["AC-Density, difference"].cells[COLUMN].text == "+0.000"
    left_out = [rows[f"AC-Density (LOO), {what}"].cells[COLUMN] for what in ("ours", "paper", "difference")]
    assert [cell.text for cell in left_out] == ["0.516", "0.466", "+0.050"] and left_out[2].tone == "beyond"
    # the paper's cells are counted once, by the form of its text
    assert any("Covered 99/99 cells; median absolute difference 0.000, worst 0.000" in note for note in grid.notes)
    assert [c.text for c in lines(coverage(runs, "paper"))["All"].cells[:4]] == ["711/711", "0.000", "0.000", "0"]


def test_levels_differ_by_groups(paper_runs: Callable[..., Runs]) -> None:
    # printed 4/4 for FALCON: its second-worst group no longer improves
    runs = paper_runs(change={CELL: {("auroc", "g1"): 0.5}})
    rows = lines(companion(runs, "lu_auroc"))
    assert rows["FALCON, ours"].cells[COLUMN].text == "1/4"
    assert rows["FALCON, difference"].cells[COLUMN] == Cell("-3", -3.0, tone="beyond")
    summary = lines(coverage(runs, "paper"))
    assert summary["All"].cells[2].text == "0.000"  # groups are not mixed with rates
    assert next(line for label, line in summary.items() if label.startswith("LU-AUROC")).cells[2].text == "3.000"


def test_missing_runs_leave_cells_empty_and_are_counted(paper_runs: Callable[..., Runs]) -> None:
    runs = paper_runs(without={CELL})
    rows = lines(companion(runs, "worst_group_auroc"))
    assert rows["FALCON, ours"].cells[COLUMN] == rows["FALCON, difference"].cells[COLUMN] == Cell()
    assert rows["FALCON, paper"].cells[COLUMN].text == "0.941"
    grid = coverage(runs, "paper")
    assert lines(grid)["All"].cells[0].text == "704/711"  # FALCON stands in seven of the eight tables
    assert any("run.py" in note and "falcon" in note for note in grid.notes)


def test_without_the_baseline_no_level_is_compared(paper_runs: Callable[..., Runs]) -> None:
    runs = paper_runs(without={("rfw", "magface", "baseline")})
    assert all(not line.cells[COLUMN].text for k, line in lines(companion(runs, "lu_auroc")).items() if "ours" in k)


def test_no_runs_at_all() -> None:
    runs = Runs([], "files")
    assert all(cell == Cell() for grid in companions(runs, "strict") for cell in differences(grid))
    assert [c.text for c in lines(coverage(runs, "strict"))["All"].cells[:4]] == ["0/711", "", "", "0"]


def test_captions_name_tolerance_reading_and_simulation(paper_runs: Callable[..., Runs]) -> None:
    files, synthetic = paper_runs(), paper_runs(source="synthetic")
    for reading in get_args(Reading):
        for grid in (*companions(synthetic, reading), coverage(synthetic, reading)):
            assert "SIMULATION" in grid.caption and f"{reading} reading" in grid.caption.lower()
        assert not any("SIMULATION" in g.caption for g in (*companions(files, reading), coverage(files, reading)))
    assert f"beyond {TOLERANCE[WORST_AUROC]:g}." in companion(files, "worst_group_auroc").caption
    assert f"beyond {TOLERANCE[TPR]:g}." in companion(files, "tpr_at_fpr_1e-3").caption
    assert set(TOLERANCE) == set(QUANTITIES.values())


def test_group_aware_methods_have_a_dagger(paper_runs: Callable[..., Runs]) -> None:
    marked = {label.split(",")[0] for label, line in lines(companion(paper_runs(), "auroc")).items() if line.dagger}
    assert marked == {"GST", "DemoNorm", "Oracle"}


def test_a_paper_reading_takes_the_papers_variants(paper_runs: Callable[..., Runs]) -> None:
    runs = paper_runs()
    result: Any = runs.get("rfw", "magface", "gst_paper")
    row = next(r for r in result.stored["metrics"] if r["metric"] == "auroc_on_probability" and r["group"] == "all")
    row["mean"] = 0.5
    assert lines(companion(runs, "auroc", "paper"))["GST, ours"].cells[COLUMN].text == "0.500"
    assert lines(companion(runs, "auroc", "strict"))["GST, ours"].cells[COLUMN].text == "0.957"


def test_spearman_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = rng.integers(0, 6, (2, 11)) / 10  # many ties
        assert spearman(first.tolist(), second.tolist()) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_spearman_is_empty_where_it_is_undefined() -> None:
    assert spearman([0.1, 0.2], [0.1, 0.2]) is None
    assert spearman([0.1, 0.1, 0.1], [0.1, 0.2, 0.3]) is None
    assert spearman([0.1, 0.2, 0.3], [0.5, 0.5, 0.5]) is None
    assert spearman([0.3, 0.2, 0.1], [1, 2, 3]) == pytest.approx(-1)
