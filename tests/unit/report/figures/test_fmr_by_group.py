"""False match rates of groups at one threshold, drawn: what is counted, what is hollow, which methods are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from made_runs import change, results_of
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfr.core.findings import Finding
from fairfr.metrics.ties import ties_code
from fairfr.report.figures.draw import draw_figures
from fairfr.report.figures.fmr_by_group import fmr_by_group_figure, setting_figure
from fairfr.report.group_fmr import GroupFmr
from fairfr.stored.results import Results
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

FakeRun = Callable[..., Run]
SETTING = ("rfw", "facenet")


def results_from(*runs: Run) -> Results:
    return results_of(runs, "synthetic")


def dots(axes: Axes) -> list[tuple[float, str]]:
    """Where the dots are, from the top, and the colour inside them."""
    found = []
    for line in axes.lines:
        if line.get_marker() not in ("None", None, ""):
            x, y = line.get_data()
            found.append((float(np.asarray(y)[0]), float(np.asarray(x)[0]), str(line.get_markerfacecolor())))
    return [(x, face) for _, x, face in sorted(found)]


def rates(*rate: float, matches: tuple[float, ...]) -> GroupFmr:
    value = np.array(rate)
    return GroupFmr(value, value / 2, value * 2 + 0.1, np.array(matches))


def test_plain_arrays_give_a_dot_for_each_group_hollow_below_ten_false_matches() -> None:
    lines = {"Raw": rates(2.0, 0.5, matches=(20, 9)), "Mine": rates(1.1, np.nan, matches=(10, np.nan))}
    figure = fmr_by_group_figure({"at 1e-3": lines}, ["women", "men"], "Title")
    (axes,) = figure.axes
    found = dots(axes)
    assert [x for x, _ in found] == [2.0, 0.5, 1.1]
    assert [face == "white" for _, face in found] == [False, True, False]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Raw", "Mine"]
    assert axes.get_xscale() == "log"
    assert any(list(line.get_xdata()) == [1, 1] for line in axes.lines)


def test_a_group_without_a_false_match_is_an_arrow_at_the_edge() -> None:
    figure = fmr_by_group_figure({"x": {"Raw": rates(0.0, 1.0, matches=(0, 30))}}, ["a", "b"], "Title")
    (axes,) = figure.axes
    arrow = next(line for line in axes.lines if line.get_marker() == "<")
    assert float(np.asarray(arrow.get_xdata())[0]) == pytest.approx(axes.get_xlim()[0])
    assert arrow.get_markerfacecolor() == "white"


def test_what_is_drawn_is_counted_from_the_scores(fake_run: FakeRun) -> None:
    run = fake_run("baseline", n_pairs=6000)
    scores = RunScores(run)
    figure = setting_figure(results_from(run), SETTING)
    assert figure is not None
    (axes,) = figure.axes  # 1e-3 would be three false matches
    impostors = scores.score[~scores.same]
    allowed = int(0.01 * len(impostors))
    assert axes.get_title() == f"at FMR 1e-2 ({0.01 * len(impostors):.0f} false matches)"
    refused = np.sort(impostors)[::-1][allowed]
    expected = []
    for code in range(3):
        inside = (scores.pair_groups("both") == code) & ~scores.same
        expected.append(np.mean(scores.score[inside] > refused) / 0.01)
    assert [x for x, _ in dots(axes)] == pytest.approx(expected)


def test_intervals_are_those_of_the_threshold_report(fake_run: FakeRun) -> None:
    """They contain the dot, and are at least as wide as the exact binomial one."""
    from scipy.stats import binomtest

    run = fake_run("baseline", n_pairs=6000)
    scores = RunScores(run)
    figure = setting_figure(results_from(run), SETTING)
    assert figure is not None
    (axes,) = figure.axes
    inside = (scores.pair_groups("both") == 0) & ~scores.same
    x = dots(axes)[0][0]
    exact = binomtest(round(x * 0.01 * inside.sum()), int(inside.sum())).proportion_ci(method="exact")
    spans = [line.get_xdata() for line in axes.lines if line.get_marker() in ("None", None, "")][1:]
    low, high = spans[0]
    assert low <= max(exact.low / 0.01, axes.get_xlim()[0]) + 1e-9
    assert high >= exact.high / 0.01 - 1e-9


def test_methods_of_faces_are_shown_beside_the_score_and_beta(fake_run: FakeRun) -> None:
    runs = [fake_run(method, n_pairs=3000) for method in ("ac_cohort", "platt", "baseline", "ac_linear", "beta")]
    figure = setting_figure(results_from(*runs), SETTING)
    assert figure is not None
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert shown == ["Baseline", "Beta", "Ac\\_Cohort"] or shown == ["Baseline", "Beta", "Ac_Cohort"]
    without = setting_figure(results_from(*(run for run in runs if run.cell[2] != "ac_cohort")), SETTING)
    assert without is not None
    assert len(without.axes[0].get_yticklabels()) == 4


def test_too_few_impostors_or_no_scores_have_no_figure(fake_run: FakeRun) -> None:
    assert setting_figure(results_from(fake_run("baseline")), SETTING) is None
    run = fake_run("beta", n_pairs=3000)
    run.folder = None
    assert setting_figure(results_from(run), SETTING) is None


def test_a_rate_that_no_threshold_meets_is_marked(fake_run: FakeRun) -> None:
    run = fake_run("baseline", n_pairs=3000)
    change(run, metric_warnings=[asdict(Finding(ties_code("tpr_at_fpr_1e-2"), "warning", "tied"))])
    figure = setting_figure(results_from(run), SETTING)
    assert figure is not None
    assert figure.axes[0].get_yticklabels()[0].get_text().endswith("\u2021")


def test_the_figure_of_a_stand_in_says_so_and_is_written(fake_run: FakeRun, tmp_path: Path) -> None:
    runs = [fake_run(method, n_pairs=3000) for method in ("baseline", "beta", "ac_density")]
    figure = setting_figure(results_from(*runs), SETTING)
    assert isinstance(figure, Figure)
    assert "SYNTHETIC" in figure.get_suptitle()
    names = [path.name for path in draw_figures(results_from(*runs), tmp_path)]
    assert "fmr_by_group_rfw_facenet.png" in names
