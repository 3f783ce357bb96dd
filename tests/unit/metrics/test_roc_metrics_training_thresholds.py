"""Thresholds that training pairs set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfr.metrics.roc_metrics import best_accuracy_threshold, training_thresholds


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1, max_size=40))
def test_no_threshold_decides_more_pairs_rightly_and_none_above_as_many(pairs: list[tuple[bool, int]]) -> None:
    same, values = np.array([s for s, _ in pairs]), np.array([v for _, v in pairs], dtype=float)
    found = best_accuracy_threshold(same, values)
    right = {t: int(np.sum((values >= t) == same)) for t in (*np.unique(values), np.inf)}
    assert right[found] == max(right.values())
    assert all(right[t] < right[found] for t in right if t > found)


def test_thresholds_of_a_rate_do_not_exceed_it() -> None:
    rng = np.random.default_rng(0)
    same = rng.random(5000) < 0.5
    values = rng.normal(size=5000) + 2 * same
    found = training_thresholds(same, values)
    for name, alpha in (("fpr_1e-2", 0.01), ("fpr_1e-3", 0.001)):
        impostors = values[~same]
        assert np.mean(impostors >= found[name]) <= alpha
        below = values[values < found[name]].max()
        assert np.mean(impostors >= below) > alpha or same[values == below].all()


def test_a_threshold_that_nothing_reaches_is_infinite() -> None:
    assert training_thresholds(np.array([False, True]), np.array([1.0, 0.0]))["fpr_1e-3"] == np.inf
    assert best_accuracy_threshold(np.array([False, False]), np.array([1.0, 0.0])) == pytest.approx(np.inf)
