from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_curve as library_roc_curve

from fairfr.metrics.roc_metrics import OperatingPoint

# Ten impostors at 0..9, and genuine pairs between them.
DIFF = np.arange(10.0)
TRUE = np.array([3.5, 7.5, 8.5, 8.6, 9.5])
SAME = np.concatenate((np.zeros(10, dtype=bool), np.ones(5, dtype=bool)))
VALUES = np.concatenate((DIFF, TRUE))


def test_interp_weighs_the_two_bracketing_thresholds() -> None:
    # Halfway between 9.5, which accepts one genuine pair, and 9.0, which adds the first impostor.
    point = OperatingPoint.from_pairs(SAME, VALUES, 0.05)
    assert point.thresholds == (9.5, 9.0)
    assert point.fpr == (0.0, 0.1)
    assert point.rates(SAME, VALUES) == pytest.approx((0.2, 0.05, 1.5 / 15))


def test_on_a_vertical_segment_the_upper_end_counts() -> None:
    # FPR is 0.1 from 9.0 (TPR 1/5) down to 8.5 (3/5).
    for convention in ("interp", "conservative", "nearest"):
        point = OperatingPoint.from_pairs(SAME, VALUES, 0.1, convention)
        assert point.thresholds[0] == 8.5
        assert point.rates(SAME, VALUES).tpr == 0.6


def test_conservative_never_exceeds_alpha_and_nearest_may() -> None:
    conservative = OperatingPoint.from_pairs(SAME, VALUES, 0.18, "conservative").rates(SAME, VALUES)
    nearest = OperatingPoint.from_pairs(SAME, VALUES, 0.18, "nearest").rates(SAME, VALUES)
    assert conservative.fpr == 0.1
    assert conservative.tpr == 0.6
    assert nearest.fpr == 0.2
    assert nearest.tpr == 0.8


def test_between_equally_near_rates_nearest_takes_the_smaller_threshold() -> None:
    same = np.array([True, False, False])
    point = OperatingPoint.from_pairs(same, np.array([3.0, 2.0, 1.0]), 0.25, "nearest")
    assert point.thresholds == (2.0, 2.0)


def test_an_impostor_on_top_leaves_only_the_infinite_threshold_below_it() -> None:
    same = np.array([False, True, False])
    values = np.array([3.0, 2.0, 1.0])
    assert OperatingPoint.from_pairs(same, values, 0.1, "conservative").rates(same, values) == (0.0, 0.0, 0.0)
    interpolated = OperatingPoint.from_pairs(same, values, 0.1)
    assert interpolated.thresholds == (np.inf, 3.0)
    assert interpolated.rates(same, values) == pytest.approx((0.0, 0.1, 0.2 / 3))


def test_group_rates_use_the_global_thresholds_and_the_global_weight() -> None:
    point = OperatingPoint.from_pairs(SAME, VALUES, 0.05)
    group = np.array([4, 9, 13, 14])
    # Halfway between "accept from 9.5" and "accept from 9.0"; alone, this group would put FPR 0.05 elsewhere.
    assert point.rates(SAME[group], VALUES[group]) == pytest.approx((0.5, 0.25, 0.375))


def test_alpha_one_accepts_everything() -> None:
    for convention in ("interp", "conservative", "nearest"):
        assert OperatingPoint.from_pairs(SAME, VALUES, 1.0, convention).rates(SAME, VALUES) == (1.0, 1.0, 1.0)


def test_without_both_classes_the_point_and_its_rates_are_undefined() -> None:
    point = OperatingPoint.from_pairs(np.ones(3, dtype=bool), np.arange(3.0), 0.01)
    assert np.isnan(point.thresholds).all()
    assert np.isnan(point.rates(SAME, VALUES)).all()


def test_a_rate_without_pairs_to_count_is_undefined() -> None:
    point = OperatingPoint.from_pairs(SAME, VALUES, 0.1)
    only_diff = point.rates(SAME[:10], VALUES[:10])
    assert np.isnan(only_diff.tpr)
    assert only_diff.fpr == pytest.approx(0.1)
    only_same = point.rates(SAME[10:], VALUES[10:])
    assert np.isnan(only_same.fpr)
    assert only_same.tpr == pytest.approx(0.6)
    assert np.isnan(point.rates(SAME[:0], VALUES[:0])).all()


@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.05])
def test_global_tpr_is_np_interp_on_the_library_curve(alpha: float) -> None:
    rng = np.random.default_rng(1)
    for digits in (1, 2, 8):
        same = rng.random(6000) < 0.5
        values = np.round(rng.normal(same * 2.0, 1.0), digits)
        fpr, tpr, _ = library_roc_curve(same, values, drop_intermediate=False)
        assert OperatingPoint.from_pairs(same, values, alpha).rates(same, values).tpr == np.interp(alpha, fpr, tpr)
        fpr, tpr, _ = library_roc_curve(same, values, drop_intermediate=True)
        expected = pytest.approx(np.interp(alpha, fpr, tpr), abs=1e-14)
        assert OperatingPoint.from_pairs(same, values, alpha).rates(same, values).tpr == expected
