"""The threshold at a wanted false-positive rate, against scikit-learn's ROC curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from fairfr.methods._threshold import threshold_at_fpr


def by_roc_curve(score: np.ndarray, same: np.ndarray, fpr: float) -> float:
    """The rule itself: corners of the curve, finite thresholds only, the smallest among the nearest."""
    rate, _, threshold = roc_curve(same, score, drop_intermediate=True)
    rate, threshold = rate[np.isfinite(threshold)], threshold[np.isfinite(threshold)]
    distance = np.abs(rate - fpr)
    return float(threshold[distance == distance.min()].min())


@pytest.mark.parametrize("fpr", [0.0, 1e-3, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("decimals", [16, 2, 1])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_rule_on_random_scores(seed: int, decimals: int, fpr: float) -> None:
    rng = np.random.default_rng(seed)
    same = rng.random(800) < 0.4
    score = np.round(rng.standard_normal(800) + same, decimals)
    assert threshold_at_fpr(score, same, fpr) == by_roc_curve(score, same, fpr)


@settings(max_examples=300)
@given(
    pairs=st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=2, max_size=25),
    fpr=st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]),
)
def test_equals_the_rule_on_small_sets_with_ties(pairs: list[tuple[int, bool]], fpr: float) -> None:
    score = np.array([value for value, _ in pairs], dtype=np.float64)
    same = np.array([label for _, label in pairs])
    if same.all() or not same.any():
        assert threshold_at_fpr(score, same, fpr) is None
    else:
        assert threshold_at_fpr(score, same, fpr) == by_roc_curve(score, same, fpr)


def test_by_hand() -> None:
    # accepted at >= 0.8: no impostor of two; at >= 0.4: one; between them one genuine pair makes a corner
    score = np.array([0.9, 0.8, 0.4, 0.3, 0.2])
    same = np.array([True, True, False, True, False])
    assert threshold_at_fpr(score, same, 0.0) == 0.8
    assert threshold_at_fpr(score, same, 0.5) == 0.3
    assert threshold_at_fpr(score, same, 1.0) == 0.2


@pytest.mark.parametrize("same", [[], [True, True], [False, False]])
def test_undefined_without_both_classes(same: list[bool]) -> None:
    assert threshold_at_fpr(np.arange(len(same), dtype=float), np.array(same, dtype=bool), 0.05) is None


def test_order_of_the_pairs_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    score, same = np.round(rng.standard_normal(200), 1), rng.random(200) < 0.5
    order = rng.permutation(200)
    assert threshold_at_fpr(score[order], same[order], 0.05) == threshold_at_fpr(score, same, 0.05)
