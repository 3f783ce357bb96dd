"""Reliability figures: of one run, every group that is large enough, and all pairs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfr.report.figures.reliability import run_reliability_figure
from fairfr.stored.scores import RunScores


def test_all_pairs_and_every_group_have_a_curve(fake_run: Any) -> None:
    scores = RunScores(fake_run("ac_linear"))
    figure = run_reliability_figure(scores)
    lines = {line.get_label().partition(" (")[0]: line for line in figure.axes[0].lines}
    assert {"all pairs", "one", "two parts", "three"} <= lines.keys()
    observed = np.asarray(lines["all pairs"].get_ydata(), dtype=float)
    assert observed[0] < 0.2 and observed[-1] > 0.8, "shares of genuine pairs, from improbable to probable"
    assert "SYNTHETIC" in figure.get_suptitle() and "Ac_Linear" in figure.get_suptitle()
    assert "Some figures are fitted to the paper" in figure.get_suptitle()


def test_a_run_without_groups_has_one_curve(fake_run: Any) -> None:
    figure = run_reliability_figure(RunScores(fake_run("platt", source="files", grouping=None)))
    labels = [str(line.get_label()) for line in figure.axes[0].lines]
    assert sum(not label.startswith("_") for label in labels) == 1
    assert "SYNTHETIC" not in figure.get_suptitle()
