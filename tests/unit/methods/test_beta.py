"""Beta calibration against betacal, and its constrained, paper and degenerate forms."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairfr.core.calibrator import FitContext
from fairfr.core.types import VerificationSet
from fairfr.methods.beta import Beta
from fairfr.numerics.beta import BetaMap, fit_beta
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

GRID = np.linspace(-1, 1, 401)


def betacal_on(score: np.ndarray, same: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Probabilities at ``at`` and [a, b] of the published implementation, on cosines mapped to [0, 1]."""
    with warnings.catch_warnings():  # betacal switches warnings off for the whole process
        warnings.simplefilter("ignore")
        from betacal import BetaCalibration

        oracle = BetaCalibration(parameters="abm").fit((score + 1) / 2, same)
        return oracle.predict((at + 1) / 2), [float(v) for v in oracle.calibrator_.map_[:2]]


def drawn(a: float, b: float, c: float, n: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores in (-1, 1), labelled with the probability of a known beta map."""
    rng = np.random.default_rng(seed)
    u = rng.beta(1.5, 1.5, n)
    return 2 * u - 1, rng.random(n) < expit(a * np.log(u) - b * np.log1p(-u) + c)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("a", "b", "c"), [(2.0, 1.0, 0.3), (0.3, 3.0, -1.0), (4.0, 4.0, 0.0)])
def test_equals_betacal(a: float, b: float, c: float, seed: int) -> None:
    score, same = drawn(a, b, c, seed=seed)
    expected, (a_there, b_there) = betacal_on(score, same, GRID)
    fitted = fit_beta(score, same)
    np.testing.assert_allclose(fitted.probability(GRID), expected, atol=1e-8)
    assert (fitted.a, fitted.b) == (pytest.approx(a_there, abs=1e-7), pytest.approx(b_there, abs=1e-7))


def test_equals_betacal_on_faces(synthetic_set: Callable[..., VerificationSet]) -> None:
    data = synthetic_set("rfw")
    cosine = PairTable(data).cosine
    np.testing.assert_allclose(
        fit_beta(cosine, data.same).probability(cosine), betacal_on(cosine, data.same, cosine)[0], atol=1e-8
    )


@pytest.mark.parametrize(("a", "b", "dropped"), [(-0.7, 3.0, "a"), (3.0, -0.7, "b")])
def test_a_negative_weight_is_dropped_and_the_other_refitted(a: float, b: float, dropped: str) -> None:
    score, same = drawn(a, b, 0.0)
    free = fit_beta(score, same, constrained=False)
    assert getattr(free, dropped) < 0
    fitted = fit_beta(score, same)
    expected, weights = betacal_on(score, same, GRID)
    assert getattr(fitted, dropped) == weights["ab".index(dropped)] == 0
    np.testing.assert_allclose(fitted.probability(GRID), expected, atol=1e-8)
    assert (np.diff(fitted.probability(GRID)) >= 0).all()


def test_two_negative_weights_leave_the_base_rate() -> None:
    score, same = drawn(-2.0, -2.0, 0.4)
    free = fit_beta(score, same, constrained=False)
    assert free.a < 0 > free.b
    np.testing.assert_allclose(fit_beta(score, same).probability(GRID), same.mean(), atol=1e-12)


@pytest.mark.parametrize("label", [False, True])
def test_one_class_gives_the_base_rate(label: bool) -> None:
    fitted = fit_beta(np.linspace(-0.9, 0.9, 30), np.full(30, label))
    np.testing.assert_allclose(fitted.probability(GRID), float(label), atol=1e-12)


def test_one_score_gives_the_base_rate() -> None:
    same = np.arange(40) % 4 == 0
    fitted = fit_beta(np.full(40, 0.3), same, (0.3, 0.3))
    np.testing.assert_allclose(fitted.probability(np.array([0.3])), 0.25, atol=1e-3)


def test_scores_at_the_ends_of_the_range_are_finite() -> None:
    score, same = drawn(2.0, 1.0, 0.0, n=500)
    score[:2], same[:2] = [-1, 1], [False, True]
    assert np.isfinite(fit_beta(score, same).probability(np.array([-1.0, 1.0, -2.0, 2.0]))).all()


def test_another_range_is_a_change_of_units() -> None:
    score, same = drawn(2.0, 1.0, 0.3)
    shifted = fit_beta(3 * score + 5, same, (2.0, 8.0))
    np.testing.assert_allclose(shifted.probability(3 * GRID + 5), fit_beta(score, same).probability(GRID), atol=1e-6)


@pytest.mark.parametrize("score", [-1.0, 0.3, 1.0])
def test_equal_scores_have_the_base_rate_at_the_optimum(score: float) -> None:
    same = np.arange(200) % 5 < 2
    fitted = fit_beta(np.full(200, score), same, solver="converged")
    np.testing.assert_allclose(fitted.probability(np.full(200, score)), 0.4, atol=1e-8)


def test_converged_solver_reaches_the_optimum() -> None:
    score, same = drawn(2.0, 1.0, 0.3)
    u = (score + 1) / 2
    features = np.column_stack([np.log(u), -np.log1p(-u)])
    oracle = LogisticRegression(C=1e11, tol=1e-12, solver="newton-cholesky").fit(features, same)
    expected = oracle.predict_proba(features)[:, 1]
    np.testing.assert_allclose(fit_beta(score, same, solver="converged").probability(score), expected, atol=1e-8)


# -- the method --------------------------------------------------------------------------------------------------------


def method_on(data: VerificationSet, train: np.ndarray, test: np.ndarray, variant: str) -> tuple[np.ndarray, BetaMap]:
    table = PairTable(data)
    method = Beta(variant=variant)  # type: ignore[arg-type]
    method.fit(
        PairView(table, train, frozenset()),
        data.same[train],
        FitContext(seed=0, dataset="d", backbone="b", fold="0"),
    )
    probability = method.predict(PairView(table, test, frozenset())).probability
    assert probability is not None
    return probability, method.map_


def test_constrained_variant_is_betacal_on_held_out_cosines(synthetic_set: Callable[..., VerificationSet]) -> None:
    data = synthetic_set("rfw")
    cosine = PairTable(data).cosine
    train, test = np.flatnonzero(data.fold != 3), np.flatnonzero(data.fold == 3)
    probability, fitted = method_on(data, train, test, "constrained")
    expected, _ = betacal_on(cosine[train], data.same[train], cosine[test])
    np.testing.assert_allclose(probability, expected, atol=1e-8)
    assert (fitted.low, fitted.high) == (-1, 1)


def test_paper_variant_is_free_and_clips_to_the_training_range(synthetic_set: Callable[..., VerificationSet]) -> None:
    data = synthetic_set("rfw")
    cosine = PairTable(data).cosine
    train = np.sort(np.argsort(cosine)[5:-5])  # the extremes are held out
    test = np.setdiff1d(np.arange(data.n_pairs), train)
    low, high = cosine[train].min(), cosine[train].max()

    def features(values: np.ndarray) -> np.ndarray:
        u = np.clip((values - low) / (high - low), 1e-6, 1 - 1e-6)
        return np.column_stack([np.log(u), -np.log(1 - u)])

    oracle = LogisticRegression(C=99999999999).fit(features(cosine[train]), data.same[train])
    probability, fitted = method_on(data, train, test, "unconstrained")
    np.testing.assert_allclose(probability, oracle.predict_proba(features(cosine[test]))[:, 1], atol=1e-8)
    assert (fitted.low, fitted.high, fitted.epsilon) == (low, high, 1e-6)
    assert len(np.unique(probability)) == 2  # everything beyond the range is at one of its ends


def test_paper_variant_keeps_negative_weights() -> None:
    score, same = drawn(-0.7, 3.0, 0.0)
    assert fit_beta(score, same, (score.min(), score.max()), False, 1e-6).a < 0
