"""Errors at thresholds, counted in loops; the threshold of a rate with ties."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.error_rates import OneKind, threshold_at
from fairfr.numerics.rate_bounds import people_spread


@pytest.mark.parametrize("genuine", [False, True])
def test_errors_are_counted_in_a_loop(genuine: bool) -> None:
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=300), 1)
    left, right = rng.integers(40, size=(2, 300))
    pairs = OneKind(values, People.of(left, right), genuine)
    for threshold in (-5.0, 0.0, 0.3, 5.0):
        wrong = sum((value < threshold) == genuine for value in values.tolist())
        found = pairs.errors_at(threshold)
        assert (found.errors, found.pairs) == (wrong, 300)
        order = np.argsort(values if genuine else -values, kind="stable")
        assert found.spread == people_spread(People.of(left, right), order, wrong)
    assert pairs.errors_at(None).errors == (300 if genuine else 0)
    assert OneKind(values, None, genuine).errors_at(0.0).spread == 0


def test_the_threshold_of_a_level_in_a_loop() -> None:
    rng = np.random.default_rng(0)
    impostors = np.sort(np.round(rng.normal(size=300), 1))
    observed = np.unique(np.append(impostors, np.round(rng.normal(2, 1, 200), 1)))
    for level in (0.5, 0.1, 0.01, 0.001):
        fits = [value for value in observed if np.mean(impostors >= value) <= level]
        assert threshold_at(impostors, observed, level) == min(fits, default=None)
