"""Ours beside the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fairfr.paper.companions import companions
from fairfr.paper.comparison import TOLERANCE, coverage
from fairfr.paper.order import PAPER_READING, READINGS
from fairfr.paper.printed import QUANTITIES, TPR, WORST_AUROC
from fairfr.report.run import STRICT, Reading, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.grid import Entry, Grid, Line

CELL = ("rfw", "magface", "falcon")


def lines(grid: Grid) -> dict[str, Line]:
    return {line.label: line for line in grid.lines()}


def companion(runs: SelectedRuns, name: str, reading: Reading = PAPER_READING) -> Grid:
    return next(grid for grid in companions(runs, reading) if grid.id == f"against_paper_{name}")


def beside(grid: Grid, row: str, dataset: str = "RFW", backbone: str = "MagFace") -> tuple[Entry, Entry, Entry]:
    """Ours, the paper's and the difference of one method in one setting."""
    panel = next(section for section in grid.sections if section.heading == dataset)
    at = 3 * [spanner.heading for spanner in grid.spanners].index(backbone)
    ours, paper, difference = next(line for line in panel.lines if line.label == row).entries[at : at + 3]
    return ours, paper, difference


def differences(grid: Grid) -> list[Entry]:
    return [entry for line in grid.lines() for entry in line.entries[2::3]]


@pytest.mark.parametrize("reading", READINGS.values())
def test_runs_that_give_the_papers_numbers_differ_nowhere(
    paper_runs: Callable[..., SelectedRuns], reading: Reading
) -> None:
    runs = paper_runs()
    grids = companions(runs, reading)
    assert len(grids) == 8
    cells = [cell for grid in grids for cell in differences(grid)]
    assert sum(cell.text != "" for cell in cells) == 711 + 72  # AC-Density (LOO) stands against AC-Density's
    assert all(cell.value == 0 and cell.tone == "plain" for cell in cells if cell.text)
    for line in (line for grid in grids for line in grid.lines()):
        assert [entry.text for entry in line.entries[::3]] == [entry.text for entry in line.entries[1::3]]
    summary = lines(coverage(runs, reading))
    assert [c.text for c in summary["All"].entries[:3]] == ["711/711", "0.000", "0.000"]
    correlations = [cell.value for line in summary.values() for cell in line.entries[4:] if cell.text]
    assert correlations == pytest.approx([1.0] * len(correlations)) and len(correlations) >= 60


def test_beside_the_papers_number_ties_are_said_with_the_value_by_the_score(
    runs: Callable[..., SelectedRuns], tied: Run
) -> None:
    grid = companion(runs(tied), "tpr_at_fpr_1e-3")
    ours, paper, difference = beside(grid, "AC-Density")
    assert (ours.text, ours.shown, paper.text) == ("0.106", "0.106 (ties; by score 0.533)", "0.466")
    assert difference.value == pytest.approx(0.106 - 0.466)
    assert [note.code for note in grid.notes].count("ties") == 1
    (said,) = [note.text for note in coverage(runs(tied), PAPER_READING).notes if note.code == "ties"]
    assert "AC-Density on RFW x MagFace 0.106, by the score 0.533" in said
    worst = beside(companion(runs(tied), "worst_group_tpr_at_fpr_1e-3"), "AC-Density")[0]
    assert worst.shown == "0.100 (ties; by score 0.491)"
    assert beside(companion(runs(tied), "tpr_at_fpr_1e-3", STRICT), "AC-Density")[0].shown == "0.533"


def test_a_cell_beyond_the_tolerance_is_marked(paper_runs: Callable[..., SelectedRuns]) -> None:
    # the paper prints 0.941 and 0.508 there
    inside = paper_runs(change={CELL: {("auroc", "worst"): 0.9514}})
    outside = paper_runs(change={CELL: {("auroc", "worst"): 0.9296, ("tpr_at_fpr_1e-3", "all"): 0.468}})
    difference = beside(companion(inside, "worst_group_auroc"), "FALCON")[2]
    assert (difference.text, difference.tone) == (
        "+0.010",
        "plain",
    )  # exactly the tolerance, between the printed values
    ours, paper, difference = beside(companion(outside, "worst_group_auroc"), "FALCON")
    assert (difference.text, difference.tone) == ("-0.011", "beyond")
    assert (ours.text, paper.text) == ("0.930", "0.941")
    assert sum(c.tone == "beyond" for g in companions(outside, PAPER_READING) for c in differences(g)) == 2
    summary = lines(coverage(outside, PAPER_READING))
    assert [c.text for c in summary["All"].entries[:4]] == ["711/711", "0.000", "0.040", "2"]
    assert any("TPR at FPR=1e-3 FALCON, RFW MagFace" in note.text for note in coverage(outside, PAPER_READING).notes)


def test_both_forms_of_ac_density_stand_against_the_printed_one(paper_runs: Callable[..., SelectedRuns]) -> None:
    # printed 0.466
    loo = ("rfw", "magface", "ac_density_loo")
    runs = paper_runs(change={loo: {("tpr_at_fpr_1e-3", "all"): 0.516}})
    grid = companion(runs, "tpr_at_fpr_1e-3")
    assert list(lines(grid))[-2:] == ["AC-Density", "AC-Density (LOO)"]
    assert beside(grid, "AC-Density")[2].text == "+0.000"
    left_out = beside(grid, "AC-Density (LOO)")
    assert [entry.text for entry in left_out] == ["0.516", "0.466", "+0.050"] and left_out[2].tone == "beyond"
    # the paper's cells are counted once, by the form of its text
    assert any(
        "Covered 99/99 numbers; median absolute difference 0.000, worst 0.000" in note.text for note in grid.notes
    )
    assert [c.text for c in lines(coverage(runs, PAPER_READING))["All"].entries[:4]] == [
        "711/711",
        "0.000",
        "0.000",
        "0",
    ]


def test_levels_differ_by_groups(paper_runs: Callable[..., SelectedRuns]) -> None:
    # printed 4/4 for FALCON: its second-worst group no longer improves
    runs = paper_runs(change={CELL: {("auroc", "g1"): 0.5}})
    ours, _, difference = beside(companion(runs, "lu_auroc"), "FALCON")
    assert (ours.text, difference.text, difference.value, difference.tone) == ("1/4", "-3", -3.0, "beyond")
    summary = lines(coverage(runs, PAPER_READING))
    assert summary["All"].entries[2].text == "0.000"  # groups are not mixed with rates
    assert next(line for label, line in summary.items() if label.startswith("LU-AUROC")).entries[2].text == "3.000"


def test_missing_runs_leave_cells_empty_and_are_counted(paper_runs: Callable[..., SelectedRuns]) -> None:
    runs = paper_runs(without={CELL})
    ours, paper, difference = beside(companion(runs, "worst_group_auroc"), "FALCON")
    assert ours == difference == Entry() and paper.text == "0.941"
    grid = coverage(runs, PAPER_READING)
    assert lines(grid)["All"].entries[0].text == "704/711"  # FALCON stands in seven of the eight tables
    assert [note.commands for note in grid.notes if note.code == "missing"] == [
        ("fairfr run -m dataset=rfw backbone=magface method=falcon source=files",)
    ]


def test_without_the_baseline_no_level_is_compared(paper_runs: Callable[..., SelectedRuns]) -> None:
    runs = paper_runs(without={("rfw", "magface", "baseline")})
    assert all(not beside(companion(runs, "lu_auroc"), row)[0].text for row in lines(companion(runs, "lu_auroc")))


def test_without_runs_the_summary_is_one_line_and_there_are_no_companions() -> None:
    runs = SelectedRuns([], "files")
    grid = coverage(runs, STRICT)
    assert grid.sections == () and [note.code for note in grid.notes] == ["unfilled"]
    assert companions(runs, STRICT) == []


def test_only_what_has_run_is_compared(paper_runs: Callable[..., SelectedRuns]) -> None:
    """A data set, backbone or method without a number of ours takes no room."""
    everything = paper_runs()
    some = SelectedRuns([run for run in everything if run.cell in {CELL, ("rfw", "magface", "baseline")}], "files")
    grid = companion(some, "auroc")
    assert [section.heading for section in grid.sections] == ["RFW"]
    assert [spanner.heading for spanner in grid.spanners] == ["MagFace"] and list(lines(grid)) == ["Baseline", "FALCON"]
    assert [spanner.heading for spanner in coverage(some, PAPER_READING).spanners] == ["Absolute difference", "RFW"]


def test_captions_name_tolerance_reading_and_simulation(paper_runs: Callable[..., SelectedRuns]) -> None:
    files, synthetic = paper_runs(), paper_runs(source="synthetic")
    for reading in READINGS.values():
        for grid in (*companions(synthetic, reading), coverage(synthetic, reading)):
            assert "SIMULATION" in grid.caption and f"{reading} reading" in grid.caption.lower()
        assert not any("SIMULATION" in g.caption for g in (*companions(files, reading), coverage(files, reading)))
    assert f"beyond {TOLERANCE[WORST_AUROC]:g}." in companion(files, "worst_group_auroc").caption
    assert f"beyond {TOLERANCE[TPR]:g}." in companion(files, "tpr_at_fpr_1e-3").caption
    assert set(TOLERANCE) == set(QUANTITIES.values())


def test_group_aware_methods_have_a_dagger(paper_runs: Callable[..., SelectedRuns]) -> None:
    marked = {label for label, line in lines(companion(paper_runs(), "auroc")).items() if line.dagger}
    assert marked == {"GST", "DemoNorm", "Oracle"}


def test_a_paper_reading_takes_the_papers_variants(paper_runs: Callable[..., SelectedRuns]) -> None:
    runs = paper_runs()
    result: Any = runs.get("rfw", "magface", "gst_paper")
    row = next(r for r in result.result.metrics.rows if r["metric"] == "auroc_on_probability" and r["group"] == "all")
    row["mean"] = 0.5
    assert beside(companion(runs, "auroc", PAPER_READING), "GST")[0].text == "0.500"
    assert beside(companion(runs, "auroc", STRICT), "GST")[0].text == "0.957"


def test_a_plain_method_is_not_compared_as_the_papers_variant(paper_runs: Callable[..., SelectedRuns]) -> None:
    plain = SelectedRuns([run for run in paper_runs() if not run.cell[2].endswith("_paper")], "files")
    assert "GST" not in lines(companion(plain, "auroc", PAPER_READING))
    assert "GST" in lines(companion(plain, "auroc", STRICT))
