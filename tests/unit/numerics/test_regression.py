"""The factored logistic, Platt and AC-Linear against scikit-learn on built features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairfr.core.calibrator import FitContext
from fairfr.core.types import VerificationSet
from fairfr.methods.ac_linear import ACLinear
from fairfr.methods.platt import Platt
from fairfr.numerics.regression import Solver, _loss_and_gradient, fit_logistic, fit_newton, sigmoid
from fairfr.pairs.design import DenseDesign, PairDesign
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView


@dataclass
class Problem:
    """Pairs whose label depends on place and cosine, with the features [m, s] built."""

    data: VerificationSet
    features: np.ndarray

    @property
    def same(self) -> np.ndarray:
        return self.data.same

    @property
    def cosine(self) -> np.ndarray:
        return self.features[:, -1]

    def design(self, dense: bool) -> PairDesign:
        assert self.data.embeddings is not None
        return PairDesign(self.data.embeddings.vectors, self.data.pairs, dense=dense).append(self.cosine)

    def view(self) -> PairView:
        return PairView(PairTable(self.data), np.arange(self.data.n_pairs), frozenset({"embeddings"}))


@pytest.fixture(scope="module")
def problem(make_set: Callable[..., VerificationSet]) -> Problem:
    rng = np.random.default_rng(11)
    n, d, p = 900, 40, 4000
    person = rng.standard_normal((n // 3, d))
    vectors = np.repeat(person, 3, axis=0) + 0.8 * rng.standard_normal((n, d)) + 0.5 * rng.standard_normal(d)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    left = rng.integers(n, size=p)
    right = np.where(rng.random(p) < 0.4, (left + rng.integers(1, 3, size=p)) % n, rng.integers(n, size=p))
    wide = vectors.astype(np.float64)
    midpoint, cosine = (wide[left] + wide[right]) / 2, (wide[left] * wide[right]).sum(axis=1)
    same = rng.random(p) < expit(9 * (cosine - 0.45) + 6 * midpoint[:, 0] - 4 * midpoint[:, 3])
    return Problem(make_set(vectors, left, right, same), np.column_stack([midpoint, cosine]))


def context() -> FitContext:
    return FitContext(seed=0, dataset="made", backbone="net", fold="0")


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("dense", [True, False])
def test_sklearn_solver_stops_where_scikit_learn_stops(problem: Problem, C: float, dense: bool) -> None:
    expected = LogisticRegression(C=C).fit(problem.features, problem.same)
    model = fit_logistic(problem.design(dense), problem.same, C)
    assert model.iterations == expected.n_iter_[0]
    probability = model.probability(problem.design(dense))
    np.testing.assert_allclose(probability, expected.predict_proba(problem.features)[:, 1], atol=1e-5)


def test_ac_linear_is_scikit_learn_on_midpoint_and_cosine(problem: Problem) -> None:
    expected = LogisticRegression().fit(problem.features, problem.same).predict_proba(problem.features)[:, 1]
    ctx = context()
    prediction = ACLinear().fit(problem.view(), problem.same, ctx).predict(problem.view())
    np.testing.assert_allclose(prediction.probability, expected, atol=1e-5)
    np.testing.assert_array_equal(prediction.score, prediction.probability)
    assert ctx.report["iterations"] > 0


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_platt_is_scikit_learn_on_the_cosine(problem: Problem, C: float) -> None:
    cosine = problem.cosine[:, None]
    expected = LogisticRegression(C=C).fit(cosine, problem.same).predict_proba(cosine)[:, 1]
    prediction = Platt(C=C).fit(problem.view(), problem.same, context()).predict(problem.view())
    np.testing.assert_allclose(prediction.probability, expected, atol=1e-9)


@pytest.mark.parametrize("dense", [True, False])
def test_converged_solver_reaches_the_optimum(problem: Problem, dense: bool) -> None:
    design = problem.design(dense)
    model = fit_logistic(design, problem.same, 1.0, "converged")
    parameters = np.append(model.weights, model.intercept)
    _, gradient = _loss_and_gradient(parameters, design, problem.same.astype(float), 1.0 / problem.data.n_pairs)
    assert np.abs(gradient).max() < 1e-10
    expected = LogisticRegression(tol=1e-10, solver="newton-cholesky").fit(problem.features, problem.same)
    np.testing.assert_allclose(model.weights, expected.coef_[0], atol=1e-6)
    probability = expected.predict_proba(problem.features)[:, 1]
    np.testing.assert_allclose(model.probability(design), probability, atol=1e-8)


def test_newton_with_a_penalty_for_each_weight_ends_at_the_optimum() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    same = rng.random(400) < 1 / (1 + np.exp(-X @ [2.0, -1.0, 0.0]))
    penalty = np.array([1e-3, 0.1, 1.0])
    fitted = fit_newton(DenseDesign(X), same, penalty)
    residual = fitted.probability(DenseDesign(X)) - same
    gradient = np.append(X.T @ residual + penalty * fitted.weights, residual.sum())
    assert np.abs(gradient).max() / 400 < 1e-8


def test_separable_pairs_have_an_optimum_with_a_penalty() -> None:
    X = np.linspace(-1, 1, 40)[:, None]
    fitted = fit_newton(DenseDesign(X), X[:, 0] > 0, np.array([1e-3]))
    assert np.isfinite(fitted.weights).all()
    assert ((fitted.probability(DenseDesign(X)) > 0.5) == (X[:, 0] > 0)).all()


def test_stopping_is_part_of_the_result(problem: Problem) -> None:
    early, late = (fit_logistic(problem.design(True), problem.same, 1.0, s) for s in ("sklearn", "converged"))
    gap = np.abs(early.probability(problem.design(True)) - late.probability(problem.design(True))).max()
    assert gap > 1e-5


def test_loss_and_gradient_agree_with_finite_differences(problem: Problem) -> None:
    rng = np.random.default_rng(0)
    design, target = problem.design(False), problem.same.astype(float)
    at = rng.standard_normal(problem.features.shape[1] + 1)
    loss, gradient = _loss_and_gradient(at, design, target, 0.01)
    probability = expit(problem.features @ at[:-1] + at[-1])
    by_hand = -np.mean(np.log(np.where(target == 1, probability, 1 - probability))) + 0.005 * at[:-1] @ at[:-1]
    assert loss == pytest.approx(by_hand, rel=1e-12)
    direction = rng.standard_normal(len(at))
    up, down = (_loss_and_gradient(at + h * direction, design, target, 0.01)[0] for h in (1e-5, -1e-5))
    assert gradient @ direction == pytest.approx((up - down) / 2e-5, rel=1e-6)


@pytest.mark.parametrize("solver", ["sklearn", "converged"])
@pytest.mark.parametrize("label", [False, True])
def test_one_class_gives_the_base_rate(label: bool, solver: Solver) -> None:
    cosine = np.linspace(-1, 1, 50)
    model = fit_logistic(DenseDesign(cosine), np.full(50, label), 1.0, solver)
    np.testing.assert_allclose(model.probability(DenseDesign(cosine)), float(label), atol=1e-12)


@pytest.mark.parametrize("solver", ["sklearn", "converged"])
def test_separable_labels_stay_finite(solver: Solver) -> None:
    cosine = np.linspace(-1, 1, 60)
    model = fit_logistic(DenseDesign(cosine), cosine > 0, 1e6, solver)
    assert np.isfinite(model.weights).all()
    assert (np.diff(model.probability(DenseDesign(cosine))) >= 0).all()


def test_smoothed_targets_are_those_of_platt(problem: Problem) -> None:
    """Fractional targets equal weighted labels: each pair counts t as same and 1 - t as different."""
    n_same, n_diff = problem.same.sum(), (~problem.same).sum()
    target = np.where(problem.same, (n_same + 1) / (n_same + 2), 1 / (n_diff + 2))
    cosine = np.concatenate([problem.cosine, problem.cosine])[:, None]
    labels, weights = np.repeat([1, 0], len(target)), np.concatenate([target, 1 - target])
    oracle = LogisticRegression(tol=1e-10, solver="newton-cholesky").fit(cosine, labels, sample_weight=weights)
    method = Platt(smooth_targets=True, solver="converged").fit(problem.view(), problem.same, context())
    expected = oracle.predict_proba(problem.cosine[:, None])[:, 1]
    np.testing.assert_allclose(method.predict(problem.view()).probability, expected, atol=1e-8)


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("n", [1, 65, 5000])
@pytest.mark.parametrize("spread", [1e-8, 1.0, 30.0, 400.0])
def test_loss_and_gradient_are_the_formula_wherever_logits_lie(n: int, spread: float) -> None:
    rng = np.random.default_rng(n)
    features, target = rng.standard_normal((n, 2)), rng.choice([0.0, 1.0, 0.3], n)
    parameters = spread * np.array([1.0, -0.5, 0.2])
    loss, gradient = _loss_and_gradient(parameters, DenseDesign(features), target, 0.0)
    logit = features @ parameters[:2] + parameters[2]
    slope = expit(logit) - target
    assert loss == pytest.approx(np.mean(np.logaddexp(0, logit) - target * logit), rel=1e-13)
    np.testing.assert_allclose(gradient, [*(features.T @ slope / n), slope.mean()], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_extreme_logits_have_a_finite_loss(label: float) -> None:
    logit = np.array([0.0, -0.0, 5e-324, -1e-300, 36.7, -36.8, 707.9, -708.1, 745.2, -1e4])
    target = np.full(len(logit), label)
    loss, gradient = _loss_and_gradient(np.array([1.0, 0.0]), DenseDesign(logit), target, 0.0)
    assert loss == pytest.approx(np.mean(np.logaddexp(0, logit) - label * logit), rel=1e-15)
    assert np.isfinite(gradient).all()
