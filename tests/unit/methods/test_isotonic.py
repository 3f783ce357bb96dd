"""Isotonic: hand-worked cases, scikit-learn's form, and training pairs of one class."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from fairfr.core.calibrator import FitContext
from fairfr.methods.isotonic import Isotonic
from fairfr.pairs.view import PairView


def test_isotonic_pools_what_is_out_of_order_and_joins_by_lines(
    with_cosines: Callable[..., PairView], fit_to: Callable[..., FitContext]
) -> None:
    view = with_cosines([0.0, 0.25, 0.5, 0.75])
    method = Isotonic()
    ctx = fit_to(method, view, [0, 1, 0, 1])
    asked = with_cosines([-0.5, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.9])
    expected = [0, 0, 0.25, 0.5, 0.5, 0.5, 0.75, 1, 1]
    score, probability = method.predict(asked)
    np.testing.assert_allclose(probability, expected, atol=1e-6)  # the cosines are those of float32 vectors
    assert np.array_equal(score, probability)
    assert ctx.report == {"levels": 3}


def test_isotonic_equals_scikit_learn_and_never_falls(
    with_cosines: Callable[..., PairView], noisy_pairs: tuple[PairView, np.ndarray], fit_to: Callable[..., FitContext]
) -> None:
    view, same = noisy_pairs
    method = Isotonic()
    fit_to(method, view, same)
    asked = with_cosines(np.linspace(-1, 1, 999))
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(view.cosine, same).predict(asked.cosine)
    probability = method.predict(asked).probability
    np.testing.assert_allclose(probability, theirs, atol=1e-12)
    assert all(a <= b for a, b in pairwise(probability))


@pytest.mark.parametrize("label", [0, 1])
def test_isotonic_of_one_class_is_that_class(
    with_cosines: Callable[..., PairView], fit_to: Callable[..., FitContext], label: int
) -> None:
    view = with_cosines([0.1, 0.2, 0.9])
    method = Isotonic()
    fit_to(method, view, [label] * 3)
    assert method.predict(with_cosines([-1, 0.15, 1])).probability.tolist() == [label] * 3


def test_isotonic_of_one_cosine_is_the_base_rate(
    with_cosines: Callable[..., PairView], fit_to: Callable[..., FitContext]
) -> None:
    view = with_cosines([0.5] * 4)
    method = Isotonic()
    fit_to(method, view, [0, 1, 1, 1])
    np.testing.assert_allclose(method.predict(with_cosines([0, 0.5, 1])).probability, 0.75)
