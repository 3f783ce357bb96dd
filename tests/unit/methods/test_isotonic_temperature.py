"""Isotonic and temperature: hand-worked cases, scikit-learn's form, and training pairs of one class."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from fairfr.core.calibrator import FitContext
from fairfr.core.types import VerificationSet
from fairfr.methods.isotonic import Isotonic
from fairfr.methods.temperature import MAX_INVERSE, Temperature
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]
CONTEXT = {"seed": 0, "dataset": "made", "backbone": "net", "fold": "0"}


def view_of(make_set: MakeSet, cosine: list[float] | np.ndarray) -> PairView:
    """Pairs with these cosines: the first image is the first axis, the others lie at the wanted angle to it."""
    cosine = np.asarray(cosine, dtype=np.float64)
    vectors = np.zeros((len(cosine) + 1, 2))
    vectors[0, 0] = 1
    vectors[1:] = np.column_stack([cosine, np.sqrt(1 - cosine**2)])
    p = len(cosine)
    return PairView(PairTable(make_set(vectors, np.zeros(p), np.arange(1, p + 1))), np.arange(p), frozenset())


def fit(method: Isotonic | Temperature, view: PairView, same: list[int] | np.ndarray) -> FitContext:
    ctx = FitContext(**CONTEXT)  # type: ignore[arg-type]
    assert method.fit(view, np.asarray(same, dtype=bool), ctx) is method
    return ctx


def noisy(make_set: MakeSet, p: int = 500) -> tuple[PairView, np.ndarray]:
    rng = np.random.default_rng(0)
    cosine = rng.uniform(-0.4, 0.9, size=p)
    return view_of(make_set, cosine), cosine + rng.normal(scale=0.3, size=p) > 0.2


def test_isotonic_pools_what_is_out_of_order_and_joins_by_lines(make_set: MakeSet) -> None:
    view = view_of(make_set, [0.0, 0.25, 0.5, 0.75])
    method = Isotonic()
    ctx = fit(method, view, [0, 1, 0, 1])
    asked = view_of(make_set, [-0.5, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.9])
    expected = [0, 0, 0.25, 0.5, 0.5, 0.5, 0.75, 1, 1]
    score, probability = method.predict(asked)
    np.testing.assert_allclose(probability, expected, atol=1e-6)  # the cosines are those of float32 vectors
    assert np.array_equal(score, probability)
    assert ctx.report == {"levels": 3}


def test_isotonic_equals_scikit_learn_and_never_falls(make_set: MakeSet) -> None:
    view, same = noisy(make_set)
    method = Isotonic()
    fit(method, view, same)
    asked = view_of(make_set, np.linspace(-1, 1, 999))
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(view.cosine, same).predict(asked.cosine)
    probability = method.predict(asked).probability
    np.testing.assert_allclose(probability, theirs, atol=1e-12)
    assert all(a <= b for a, b in pairwise(probability))


@pytest.mark.parametrize("label", [0, 1])
def test_isotonic_of_one_class_is_that_class(make_set: MakeSet, label: int) -> None:
    view = view_of(make_set, [0.1, 0.2, 0.9])
    method = Isotonic()
    fit(method, view, [label] * 3)
    assert method.predict(view_of(make_set, [-1, 0.15, 1])).probability.tolist() == [label] * 3


def test_isotonic_of_one_cosine_is_the_base_rate(make_set: MakeSet) -> None:
    view = view_of(make_set, [0.5] * 4)
    method = Isotonic()
    fit(method, view, [0, 1, 1, 1])
    np.testing.assert_allclose(method.predict(view_of(make_set, [0, 0.5, 1])).probability, 0.75)


def test_temperature_equals_a_logistic_without_intercept(make_set: MakeSet) -> None:
    view, same = noisy(make_set)
    method = Temperature()
    ctx = fit(method, view, same)
    theirs = LogisticRegression(C=1e12, fit_intercept=False, tol=1e-12, max_iter=1000, solver="newton-cholesky")
    weight = float(theirs.fit(view.cosine[:, None], same).coef_[0, 0])
    score, probability = method.predict(view)
    np.testing.assert_allclose(probability, expit(weight * view.cosine), atol=1e-8)
    assert ctx.report["temperature"] == pytest.approx(1 / weight, rel=1e-8)
    assert np.array_equal(score, probability)


def test_temperature_by_hand(make_set: MakeSet) -> None:
    # at one cosine c, three of four the same: sigmoid(c / T) = 3/4, so T = c / ln 3
    view = view_of(make_set, [0.5] * 4)
    method = Temperature()
    ctx = fit(method, view, [1, 1, 1, 0])
    assert ctx.report["temperature"] == pytest.approx(0.5 / np.log(3), rel=1e-9)
    np.testing.assert_allclose(method.predict(view).probability, 0.75, rtol=1e-9)


def test_temperature_keeps_the_order_of_the_cosine(make_set: MakeSet) -> None:
    view, same = noisy(make_set)
    method = Temperature()
    fit(method, view, same)
    assert np.array_equal(np.argsort(method.predict(view).score), np.argsort(view.cosine))


def test_cosines_that_run_against_the_labels_give_one_half(make_set: MakeSet) -> None:
    view = view_of(make_set, [-0.5, -0.4, 0.4, 0.5])
    method = Temperature()
    ctx = fit(method, view, [1, 1, 0, 0])
    assert ctx.report["temperature"] == np.inf
    assert method.predict(view).probability.tolist() == [0.5] * 4


@pytest.mark.parametrize(("cosine", "same"), [([-0.5, -0.4, 0.4, 0.5], [0, 0, 1, 1]), ([0.2, 0.3], [1, 1])])
def test_separable_labels_stop_at_the_coldest_temperature(
    make_set: MakeSet, cosine: list[float], same: list[int]
) -> None:
    view = view_of(make_set, cosine)
    method = Temperature()
    fit(method, view, same)
    assert method.inverse_ <= MAX_INVERSE
    np.testing.assert_allclose(method.predict(view).probability, same, atol=1e-6)
