"""What the stand-ins predict: which numbers count as fitted, and the table of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_runs import change

from fairfr.paper.comparison import coverage
from fairfr.paper.figures import prediction_figure
from fairfr.paper.order import PAPER_READING
from fairfr.paper.prediction import compared_with_print, is_fitted, prediction
from fairfr.paper.printed import AUROC, BRIER, TPR, WORST_BRIER, printed_headline
from fairfr.report.run import STRICT, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.grid import FITTED

METHODS = ("baseline", "faircal", "falcon", "frappe", "ac_mlp", "ac_linear", "ac_density", "ac_density_loo")
# by how much ours is above print in AUROC, by method
AWAY = {"faircal": 0.010, "falcon": -0.020, "ac_density": 0.004, "ac_density_loo": 0.002, "ac_linear": 0.1}


def printed_auroc(backbone: str, method: str) -> float:
    method = method.removesuffix("_loo")
    return next(
        p.value
        for p in printed_headline()
        if (p.quantity, p.dataset, p.backbone, p.method) == (AUROC, "rfw", backbone, method)
    )


@pytest.fixture
def synthetic(result: Callable[..., Run], runs: Callable[..., SelectedRuns]) -> SelectedRuns:
    """RFW with two backbones; ours is AWAY from print, the same in both."""
    made = []
    for backbone in ("adaface", "magface"):
        for method in METHODS:
            ours = printed_auroc(backbone, method) + AWAY.get(method, 0.0)
            made.append(result(method, f"rfw/{backbone}", overall={"auroc": ours}, source="synthetic"))
    return runs(*made, source="synthetic")


def lines_of(grid: Any) -> dict[str, Any]:
    return {line.label: line.entries for line in grid.lines()}


def test_eight_figures_are_fitted_and_no_others() -> None:
    fitted = {(p.method, p.quantity) for p in printed_headline() if is_fitted(p.method, p.quantity)}
    assert len(fitted) == 8
    assert {method for method, _ in fitted} == {"baseline", "ac_linear"}
    assert is_fitted("ac_linear", TPR) and not is_fitted("ac_linear", WORST_BRIER)
    assert is_fitted("baseline", WORST_BRIER) and not is_fitted("baseline", BRIER)


def test_misses_are_means_over_settings_and_fitted_ones_stand_in_brackets(synthetic: SelectedRuns) -> None:
    (grid,) = prediction(synthetic, PAPER_READING)
    column = list(grid.columns).index("AUROC")
    auroc = {label: entries[column].text for label, entries in lines_of(grid).items()}
    assert auroc["FairCal"] == "0.010" and auroc["FALCON"] == "0.020" and auroc["AC-Density (LOO)"] == "0.002"
    assert auroc["Baseline"] == "(0.000)" and auroc["AC-Linear"] == "(0.100)"
    # FairCal, FALCON, FRAPPE, AC-MLP, AC-Density of the text; neither what was fitted nor its second form
    assert auroc["all that was not fitted"] == f"{np.mean([0.010, 0.020, 0, 0, 0.004]):.3f}"


def test_rank_correlation_is_of_the_predicted_methods(synthetic: SelectedRuns) -> None:
    (grid,) = prediction(synthetic, PAPER_READING)
    column = list(grid.columns).index("AUROC")
    methods = ("faircal", "falcon", "frappe", "ac_mlp", "ac_density")
    printed = [printed_auroc("magface", m) for m in methods]
    ours = [round(p + AWAY.get(m, 0.0), 3) for p, m in zip(printed, methods, strict=True)]
    from scipy.stats import spearmanr

    assert lines_of(grid)["RFW MagFace"][column].value == pytest.approx(spearmanr(ours, printed).statistic)


def test_the_largest_misses_are_named(synthetic: SelectedRuns) -> None:
    (grid,) = prediction(synthetic, PAPER_READING)
    (note,) = [note for note in grid.notes if note.code == "largest"]
    ours, printed = printed_auroc("magface", "falcon") - 0.020, printed_auroc("magface", "falcon")
    assert f"FALCON on RFW MagFace {ours:.3f} / {printed:.3f}" in note.text
    assert "AC-Linear" not in note.text


def test_a_rate_that_ties_decide_is_named_with_the_value_by_the_score(
    tied: Run, runs: Callable[..., SelectedRuns]
) -> None:
    change(tied, source="synthetic")
    (grid,) = prediction(runs(tied, source="synthetic"), PAPER_READING)
    (note,) = [note for note in grid.notes if note.code == "largest"]
    assert "AC-Density on RFW MagFace 0.106 (ties; by score 0.533) / 0.466" in note.text


def test_the_caption_says_which_brier_scores_are_of_raw_scores(
    result: Callable[..., Run], runs: Callable[..., SelectedRuns]
) -> None:
    made = [
        result(method, "rfw/magface", worst={"brier": 0.1, "brier_raw": 0.2}, source="synthetic")
        for method in ("baseline", "ac_linear")
    ]
    for reading, said in ((PAPER_READING, True), (STRICT, False)):
        of_both = runs(*made, source="synthetic")
        for grid in (*prediction(of_both, reading), coverage(of_both, reading)):  # type: ignore[arg-type]
            assert ("raw score, which is not a probability, for Baseline;" in " ".join(grid.about)) is said


def test_there_is_no_table_without_numbers(runs: Callable[..., SelectedRuns], result: Callable[..., Run]) -> None:
    assert prediction(runs(result("platt", source="synthetic"), source="synthetic"), PAPER_READING) == []


def test_the_figure_has_a_dot_for_each_number_and_those_fitted_are_hollow(synthetic: SelectedRuns) -> None:
    compared = compared_with_print(synthetic, PAPER_READING)
    figure = prediction_figure(compared)
    assert figure is not None and FITTED in figure.get_suptitle()
    (panel,) = [axes for axes in figure.axes if axes.get_visible()]
    dots = [line for line in panel.lines if len(line.get_xdata()) == 1]
    assert len(dots) == len(compared) == 2 * len(METHODS)
    hollow = {(float(d.get_xdata()[0]), float(d.get_ydata()[0])) for d in dots if d.get_markerfacecolor() == "none"}
    wanted = set()
    for backbone in ("adaface", "magface"):
        for method in ("baseline", "ac_linear"):
            printed = printed_auroc(backbone, method)
            wanted.add((printed, round(printed + AWAY.get(method, 0.0), 3)))
    assert hollow == wanted
    assert prediction_figure([]) is None
