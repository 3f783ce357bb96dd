"""What the words around a table say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_runs import tables_of

from fairfr.paper.order import HEADLINE, PAPER_READING, ROWS
from fairfr.report.run import STRICT, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.grid import Entry

Make = Callable[..., Run]
MakeRuns = Callable[..., SelectedRuns]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def test_missing_cells_are_empty_and_a_command_fills_them(
    runs: MakeRuns, find: Find, tpr: Make, notes: Callable[..., list[str]]
) -> None:
    every = [tpr(row.paper, 0.5, setting=f"{d}/{b}") for row in ROWS for d, b in HEADLINE]
    made = [r for r in every if r.cell not in {("lfw", "magface", "falcon"), ("rfw", "adaface", "gst_paper")}]
    grid = find(tables_of(runs(*made), PAPER_READING), "table1_tpr")
    assert find([grid], grid.id, "FALCON", 8) == Entry() and find([grid], grid.id, "GST", 1) == Entry()
    (note,) = notes(grid, "missing")
    assert note.endswith(
        ": fairfr run -m dataset=rfw backbone=adaface method=gst_paper source=files ; "
        "fairfr run -m dataset=lfw backbone=magface method=falcon source=files"
    )
    assert not notes(find(tables_of(runs(*every), PAPER_READING), "table1_tpr"), "missing")


def test_a_missing_run_and_an_undefined_number_are_told_apart(
    runs: MakeRuns, find: Find, tpr: Make, notes: Callable[..., list[str]]
) -> None:
    made = runs(tpr("fsn", 0.5, status="failed"), tpr("baseline", float("nan")))
    grids = tables_of(made, PAPER_READING)
    failed, undefined = (find(grids, "table1_tpr", row, RFW_MAGFACE) for row in ("FSN", "Baseline"))
    assert (failed.missing, failed.shown) == ("no run", "")
    assert (undefined.missing, undefined.shown) == ("too few pairs", "\u2013")
    (note,) = notes(find(grids, "table1_tpr"), "missing")
    assert "fsn" in note and "method=baseline,faircal" in note, "the Baseline is missing elsewhere only"
    assert "dataset=rfw backbone=magface method=faircal" in note


def test_captions_name_reading_source_folds_and_runs(
    runs: MakeRuns, tpr: Make, notes: Callable[..., list[str]]
) -> None:
    made = [tpr("baseline", 0.5, folds=10, source=source) for source in ("files", "synthetic")]
    for source, words in (("files", "[data files]"), ("synthetic", "[SYNTHETIC stand-in, not faces]")):
        for grid in tables_of(runs(*made, source=source), STRICT):
            assert words in grid.heading
            if grid.id == "appendix_brier":
                continue  # the Baseline has no row there
            assert "Strict reading" in grid.caption and "RFW 10" in grid.caption and notes(grid, "keys")
            assert "; 1 run." in grid.caption


def test_ties_at_the_highest_value_are_said_with_the_value_by_the_score(
    runs: MakeRuns, find: Find, tpr: Make, tied: Run, notes: Callable[..., list[str]]
) -> None:
    made = runs(tied, tpr("baseline", 0.49))
    (note,) = notes(find(tables_of(made, PAPER_READING), "table1_tpr"), "ties")
    assert "FPR=1e-3: AC-Density on RFW x MagFace 0.106, by the score 0.533." in note and "Baseline" not in note
    assert not notes(find(tables_of(made, PAPER_READING), "appendix_auroc"), "ties"), "hangs on no rate"
    assert not notes(find(tables_of(made, STRICT), "table1_tpr"), "ties"), "ranked by the score, which has no ties"


def test_keys_are_listed(runs: MakeRuns, find: Find, tpr: Make, notes: Callable[..., list[str]]) -> None:
    grid = find(tables_of(runs(tpr("baseline", 0.2, key="files-bbbbbbbb2222")), PAPER_READING), "table1_tpr")
    assert notes(grid, "keys") == ["Run keys, in column order: Baseline bbbbbbbb."]


def test_too_few_false_matches_are_warned_about(
    result: Make, runs: MakeRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    both = {TPR: 0.5, "auroc": 0.9}
    few = result("baseline", overall=both, folds=10, n_diff=12_000)
    many = result("baseline", "bfw/magface", overall=both, folds=5, n_diff=680_000)
    grids = tables_of(runs(few, many), PAPER_READING)
    (note,) = notes(find(grids, "table1_tpr"), "few_negatives")
    assert "FPR=1e-3: RFW 1.2" in note and "BFW" not in note
    assert not notes(find(grids, "appendix_auroc"), "few_negatives"), "AUROC does not hang on one threshold"
