from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairfr.core.types import F64, Bool
from fairfr.numerics.roc import auroc_of, descending_order, pauc_of, roc_curve

SAME = np.array([True, True, False, True, False, False])
VALUES = np.array([0.9, 0.8, 0.8, 0.4, 0.3, 0.1])


def auroc(same: Bool, values: F64) -> float:
    return auroc_of(roc_curve(same, values))


def pauc(same: Bool, values: F64, max_fpr: float = 0.1) -> float:
    return pauc_of(roc_curve(same, values), max_fpr)


def random_pairs(seed: int, levels: int) -> tuple[Bool, F64]:
    rng = np.random.default_rng(seed)
    same = rng.random(500) < 0.4
    return same, np.round(rng.normal(same * 1.0, 1.0) * levels) / levels


def test_roc_curve_counts_each_distinct_value_once() -> None:
    curve = roc_curve(SAME, VALUES)
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.8, 0.4, 0.3, 0.1]
    assert curve.n_true.tolist() == [0, 1, 2, 3, 3, 3]
    assert curve.n_false.tolist() == [0, 0, 1, 1, 2, 3]


def test_points_of_the_curve_are_found_by_fpr_and_by_threshold() -> None:
    curve = roc_curve(SAME, VALUES)
    assert [curve.index_at_fpr(fpr) for fpr in (0.0, 0.3, 1 / 3, 0.5, 1.0)] == [1, 1, 3, 3, 5]
    assert [curve.index_at_threshold(at) for at in (np.inf, 0.95, 0.9, 0.85, 0.8, 0.1, -1.0)] == [0, 0, 1, 1, 2, 5, 5]


@pytest.mark.parametrize("levels", [1, 3, 1000, 10**12])
def test_the_descending_order_keeps_that_of_equal_values(levels: int) -> None:
    for seed in range(5):
        values = random_pairs(seed, levels)[1]
        values[::50] = 0.0
        values[::100] *= -1.0  # -0.0 equals 0.0
        assert np.array_equal(descending_order(values), np.argsort(-values, kind="stable"))
    assert len(descending_order(np.zeros(0))) == 0


def test_auroc_counts_a_tie_as_one_half() -> None:
    # Of 9 genuine-impostor comparisons, 0.9 wins 3, 0.8 wins 2 and ties 1, 0.4 wins 2.
    assert auroc(SAME, VALUES) == 7.5 / 9


@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_auroc_equals_the_library_value(levels: int) -> None:
    for seed in range(5):
        same, values = random_pairs(seed, levels)
        assert auroc(same, values) == pytest.approx(roc_auc_score(same, values), abs=1e-14)


@pytest.mark.parametrize("levels", [1, 3, 1000])
@pytest.mark.parametrize("max_fpr", [0.01, 0.1, 0.5])
def test_pauc_equals_the_library_value(levels: int, max_fpr: float) -> None:
    for seed in range(5):
        same, values = random_pairs(seed, levels)
        assert pauc(same, values, max_fpr) == pytest.approx(roc_auc_score(same, values, max_fpr=max_fpr), abs=1e-13)


def test_pauc_of_a_perfect_ranking_is_one() -> None:
    same = np.array([True, True, False, False])
    values = np.array([4.0, 3.0, 2.0, 1.0])
    assert pauc(same, values) == pytest.approx(1.0)


def test_pauc_of_chance_is_one_half_after_standardising() -> None:
    same = np.array([True, False])
    values = np.array([1.0, 1.0])
    assert pauc(same, values) == pytest.approx(0.5)


def test_pauc_cuts_a_slanted_segment_at_the_limit() -> None:
    # One segment from (0, 0.5) to (1, 1): TPR at 0.1 is 0.55, the trapezoid 0.1 * (0.5 + 0.55) / 2.
    same = np.array([True, True, False])
    values = np.array([2.0, 1.0, 1.0])
    chance = 0.1**2 / 2
    assert pauc(same, values) == pytest.approx((1 + (0.0525 - chance) / (0.1 - chance)) / 2)


@pytest.mark.parametrize("same", [[], [True, True], [False, False]])
@pytest.mark.parametrize("metric", [auroc, pauc])
def test_ranking_is_undefined_without_both_classes(metric, same: list[bool]) -> None:
    assert np.isnan(metric(np.array(same, dtype=bool), np.arange(len(same), dtype=np.float64)))


def test_inputs_are_not_modified() -> None:
    same, values = random_pairs(0, 3)
    before = same.copy(), values.copy()
    auroc(same, values)
    pauc(same, values)
    assert np.array_equal(same, before[0])
    assert np.array_equal(values, before[1])
