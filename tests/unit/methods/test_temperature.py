"""Temperature: a case worked by hand, scikit-learn's form, and labels that it cannot fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairfr.core.calibrator import FitContext
from fairfr.methods.temperature import MAX_INVERSE, Temperature
from fairfr.pairs.view import PairView


def test_temperature_equals_a_logistic_without_intercept(
    noisy_pairs: tuple[PairView, np.ndarray], fit_to: Callable[..., FitContext]
) -> None:
    view, same = noisy_pairs
    method = Temperature()
    ctx = fit_to(method, view, same)
    theirs = LogisticRegression(C=1e12, fit_intercept=False, tol=1e-12, max_iter=1000, solver="newton-cholesky")
    weight = float(theirs.fit(view.cosine[:, None], same).coef_[0, 0])
    score, probability = method.predict(view)
    np.testing.assert_allclose(probability, expit(weight * view.cosine), atol=1e-8)
    assert ctx.report["temperature"] == pytest.approx(1 / weight, rel=1e-8)
    assert np.array_equal(score, probability)


def test_temperature_by_hand(with_cosines: Callable[..., PairView], fit_to: Callable[..., FitContext]) -> None:
    # at one cosine c, three of four the same: sigmoid(c / T) = 3/4, so T = c / ln 3
    view = with_cosines([0.5] * 4)
    method = Temperature()
    ctx = fit_to(method, view, [1, 1, 1, 0])
    assert ctx.report["temperature"] == pytest.approx(0.5 / np.log(3), rel=1e-9)
    np.testing.assert_allclose(method.predict(view).probability, 0.75, rtol=1e-9)


def test_temperature_keeps_the_order_of_the_cosine(
    noisy_pairs: tuple[PairView, np.ndarray], fit_to: Callable[..., FitContext]
) -> None:
    view, same = noisy_pairs
    method = Temperature()
    fit_to(method, view, same)
    assert np.array_equal(np.argsort(method.predict(view).score), np.argsort(view.cosine))


def test_cosines_that_run_against_the_labels_give_one_half(
    with_cosines: Callable[..., PairView], fit_to: Callable[..., FitContext]
) -> None:
    view = with_cosines([-0.5, -0.4, 0.4, 0.5])
    method = Temperature()
    ctx = fit_to(method, view, [1, 1, 0, 0])
    assert ctx.report["temperature"] == np.inf
    assert method.predict(view).probability.tolist() == [0.5] * 4


@pytest.mark.parametrize(("cosine", "same"), [([-0.5, -0.4, 0.4, 0.5], [0, 0, 1, 1]), ([0.2, 0.3], [1, 1])])
def test_separable_labels_stop_at_the_coldest_temperature(
    with_cosines: Callable[..., PairView], fit_to: Callable[..., FitContext], cosine: list[float], same: list[int]
) -> None:
    view = with_cosines(cosine)
    method = Temperature()
    fit_to(method, view, same)
    assert method.inverse_ <= MAX_INVERSE
    np.testing.assert_allclose(method.predict(view).probability, same, atol=1e-6)
