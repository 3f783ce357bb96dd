"""The public metrics against scikit-learn, and where they differ from it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve
from sklearn.exceptions import UndefinedMetricWarning

import fairfr
from fairfr.core.errors import ConfigError, DataError

NAMES = ("auroc", "brier", "by_group", "ece", "ks", "log_loss", "pauc", "threshold_at_fpr", "tpr_at_fpr")


def pairs(decimals: int | None = None) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Labels and probabilities of 2,000 pairs; rounded ones have many ties."""
    rng = np.random.default_rng(3)
    same = rng.random(2000) < 0.4
    values = 1 / (1 + np.exp(-rng.normal(np.where(same, 1.0, -1.0), 1.0)))
    if decimals is not None:
        values = values.round(decimals)
    return same, values


both = pytest.mark.parametrize("decimals", [None, 1])


@both
def test_areas_and_losses_are_those_of_scikit_learn(decimals: int | None) -> None:
    same, values = pairs(decimals)
    assert fairfr.metrics.auroc(same, values) == pytest.approx(sk.roc_auc_score(same, values), abs=1e-12)
    for level in (0.1, 0.01):
        expected = sk.roc_auc_score(same, values, max_fpr=level)
        assert fairfr.metrics.pauc(same, values, max_fpr=level) == pytest.approx(expected, abs=1e-12)
    assert fairfr.metrics.brier(same, values) == pytest.approx(sk.brier_score_loss(same, values), abs=1e-14)
    assert fairfr.metrics.log_loss(same, values) == pytest.approx(sk.log_loss(same, values), rel=1e-12)


@both
@pytest.mark.parametrize("rate", [0.003, 0.05, 0.5])
def test_rates_and_thresholds_are_read_off_scikit_learns_curve(decimals: int | None, rate: float) -> None:
    same, values = pairs(decimals)
    fpr, tpr, thresholds = sk.roc_curve(same, values, drop_intermediate=False)
    assert fairfr.metrics.tpr_at_fpr(same, values, rate) == pytest.approx(np.interp(rate, fpr, tpr), abs=1e-12)
    assert fairfr.metrics.threshold_at_fpr(same, values, rate) == thresholds[fpr <= rate][-1]


def test_surely_wrong_pairs_cost_what_they_do_in_scikit_learn() -> None:
    same, values = [True, False, True, False], [0.0, 0.0, 1.0, 1.0]
    assert fairfr.metrics.log_loss(same, values) == pytest.approx(sk.log_loss(same, values), rel=1e-12)
    assert fairfr.metrics.log_loss([True], [0.5]) == pytest.approx(np.log(2))


def test_ece_is_the_weighted_gap_of_scikit_learns_curve_off_the_edges() -> None:
    same, values = pairs()
    for bins in (5, 15):
        observed, predicted = calibration_curve(same, values, n_bins=bins)
        number = np.minimum((values * bins).astype(int), bins - 1)
        weights = np.bincount(number, minlength=bins)
        expected = np.average(np.abs(observed - predicted), weights=weights[weights > 0])
        assert fairfr.metrics.ece(same, values, bins=bins) == pytest.approx(expected, abs=1e-12)


def test_a_probability_on_an_edge_is_in_the_upper_bin_unlike_in_scikit_learn() -> None:
    same, values = [True, False, False], [0.5, 0.4, 0.6]
    # bins [0, .5) and [.5, 1]: |.4 - 0| / 3 + 2 |.55 - .5| / 3; scikit-learn's are [0, .5] and (.5, 1]
    assert fairfr.metrics.ece(same, values, bins=2) == pytest.approx((0.4 + 0.1) / 3)
    observed, predicted = calibration_curve(same, values, n_bins=2)
    assert np.average(np.abs(observed - predicted), weights=[2, 1]) == pytest.approx((0.1 + 0.6) / 3)


def test_ks_by_hand() -> None:
    # by rising probability .2, .4, .9 with labels 0, 1, 1: the sums differ by .2, -.4, -.5
    assert fairfr.metrics.ks([1, 0, 1], [0.4, 0.2, 0.9]) == pytest.approx(0.5 / 3)


def test_one_class_gives_nan_where_both_are_needed() -> None:
    for name in ("auroc", "pauc", "tpr_at_fpr", "threshold_at_fpr"):
        assert np.isnan(getattr(fairfr.metrics, name)([True, True], [0.2, 0.3])), name
    with pytest.warns(UndefinedMetricWarning):
        sk.roc_auc_score([True, True], [0.2, 0.3])
    for name in ("brier", "ece", "log_loss", "ks"):
        assert np.isnan(getattr(fairfr.metrics, name)([], [])), name


def test_no_threshold_accepts_few_of_many_that_share_the_highest_value() -> None:
    same, values = [True, False, False, False], [1.0, 1.0, 1.0, 0.0]
    assert fairfr.metrics.threshold_at_fpr(same, values, 0.1) == np.inf


def test_by_group_is_the_metric_of_each_groups_pairs() -> None:
    same, values = pairs()
    groups = np.where(np.arange(len(same)) % 3 == 0, "women", "men").astype(object)
    groups[:50] = None
    found = fairfr.metrics.by_group(fairfr.metrics.brier, same, values, pd.Series(groups))
    assert list(found.columns) == ["group", "value", "n_same", "n_diff"]
    assert list(found["group"]) == ["all", "men", "women"]
    assert found["value"][0] == fairfr.metrics.brier(same, values)
    women = groups == "women"
    assert found["value"][2] == pytest.approx(sk.brier_score_loss(same[women], values[women]))
    assert found["n_same"][2] == same[women].sum()
    assert found["n_diff"][2] == (~same[women]).sum()
    assert found["n_same"][0] == same.sum()


def test_a_named_metric_has_one_threshold_for_all_pairs_and_a_function_one_for_each_group() -> None:
    same, values = pairs()
    women = np.arange(len(same)) % 3 == 0
    values = np.where(women, values / 2, values)
    groups = np.where(women, "women", "men")
    shared = fairfr.metrics.by_group("tpr_at_fpr_1e-2", same, values, groups).set_index("group")["value"]
    fpr, _, thresholds = sk.roc_curve(same, values, drop_intermediate=False)
    at = thresholds[fpr <= 0.01][-1]
    assert shared["women"] == pytest.approx((values[women & same] >= at).mean(), abs=0.01)
    own = fairfr.metrics.by_group(lambda s, v: fairfr.metrics.tpr_at_fpr(s, v, 0.01), same, values, groups)
    expected = fairfr.metrics.tpr_at_fpr(same[women], values[women], 0.01)
    assert own.set_index("group")["value"]["women"] == expected
    assert shared["women"] < expected
    named = fairfr.metrics.by_group("tpr_at_own_fpr_1e-2", same, values, groups).set_index("group")["value"]
    assert named["women"] == expected


def test_pairs_of_two_groups_count_among_all_only() -> None:
    left, right = ["f", "f", "m", ""], ["f", "m", "m", ""]
    found = fairfr.metrics.by_group("brier", [1, 0, 0, 1], [1.0, 0.5, 0.0, 0.5], (left, right)).set_index("group")
    assert found["n_same"].to_dict() == {"all": 2, "f": 1, "m": 0}
    assert found["n_diff"].to_dict() == {"all": 2, "f": 0, "m": 1}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fairfr.metrics.auroc([1, 0, 1], [0.1, 0.2]), "one shape"),
        (lambda: fairfr.metrics.auroc([1, 0], [0.1, np.nan]), r"values\[1\] is nan"),
        (lambda: fairfr.metrics.auroc([1, 2], [0.1, 0.2]), r"same\[1\]"),
        (lambda: fairfr.metrics.brier([1, 0], [0.1, 1.2]), r"values\[1\] is 1.2"),
        (lambda: fairfr.metrics.by_group("brier", [1, 0], [0.1, 0.2], ["a"]), "one name for each"),
        (lambda: fairfr.metrics.by_group("brier", [1, 0], [0.1, 0.2], [["a"], ["b"]]), r"found shape \(2, 1\)"),
        (lambda: fairfr.metrics.by_group("brier", [1, 0], [0.1, 0.2], ["a", "all"]), "called 'all'"),
    ],
)
def test_bad_input_is_named(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(DataError, match=said):
        call()


def test_unknown_metrics_and_rates_are_named() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'brier'"):
        fairfr.metrics.by_group("briar", [1, 0], [0.1, 0.2], ["a", "a"])
    with pytest.raises(ConfigError, match="for all groups together"):
        fairfr.metrics.by_group("fpr_ratio_at_fpr_1e-3", [1, 0], [0.1, 0.2], ["a", "a"])
    with pytest.raises(ConfigError, match="fpr must be above 0"):
        fairfr.metrics.tpr_at_fpr([1, 0], [0.1, 0.2], 0)
    with pytest.raises(ConfigError, match="fpr must be above 0 and at most 1, found '1e-3'"):
        fairfr.metrics.tpr_at_fpr([1, 0], [0.1, 0.2], "1e-3")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="bins=0: must be a whole number"):
        fairfr.metrics.ece([1, 0], [0.1, 0.2], bins=0)
    with pytest.raises(ConfigError, match="metric is 3"):
        fairfr.metrics.by_group(3, [1, 0], [0.1, 0.2], ["a", "a"])  # type: ignore[arg-type]


def test_names_are_listed_and_stay_functions_whatever_is_imported() -> None:
    assert dir(fairfr.metrics) == sorted(NAMES)
    code = (
        "import sys, fairfr; print('numpy' in sys.modules); import fairfr.runner.cell, fairfr.metrics.cell_metrics; "
        f"print(all(callable(getattr(fairfr.metrics, name)) for name in {NAMES}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
