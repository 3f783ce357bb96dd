"""The compiled loss is the formula, to rounding, wherever logits lie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from fairfr.methods import _logistic
from fairfr.methods._logistic import fit_logistic
from fairfr.methods._logistic_loops import ROOM, block_loss, loss_and_gradient
from fairfr.pairs.design import Columns

EXTREMES = [0.0, -0.0, 5e-324, -1e-300, 36.7, -36.8, 707.9, -708.1, 745.2, -1e4]


@pytest.mark.parametrize("n", [1, 63, 64, 65, ROOM, 2 * ROOM + 77])
@pytest.mark.parametrize("spread", [1e-8, 1.0, 30.0, 400.0])
def test_loss_and_slope_are_the_formula(n: int, spread: float) -> None:
    rng = np.random.default_rng(n)
    logit, target = spread * rng.standard_normal(n), rng.choice([0.0, 1.0, 0.3], n)
    slope = np.empty(n)
    loss = block_loss(logit, target, slope)
    assert loss == pytest.approx(np.sum(np.logaddexp(0, logit) - target * logit), rel=1e-13)
    np.testing.assert_allclose(slope, expit(logit) - target, rtol=0, atol=4e-16)


@pytest.mark.parametrize("n", [1, 70, ROOM + 65])
@pytest.mark.parametrize("c", [1, 2, 3])
def test_features_and_their_gradient_in_one_go(n: int, c: int) -> None:
    rng = np.random.default_rng(n + c)
    columns, weights = rng.standard_normal((c, n + 9)), rng.standard_normal(c)
    target, gradient = rng.choice([0.0, 1.0, 0.3], n + 9), np.full(c + 1, np.nan)
    part = slice(5, n + 5)
    loss = loss_and_gradient(columns, target, part.start, part.stop, weights, 0.7, gradient)
    logit = weights @ columns[:, part] + 0.7
    slope = expit(logit) - target[part]
    assert loss == pytest.approx(np.sum(np.logaddexp(0, logit) - target[part] * logit), rel=1e-13)
    np.testing.assert_allclose(gradient, [*(columns[:, part] @ slope), slope.sum()], rtol=1e-12, atol=1e-12)


def test_extreme_logits_are_finite() -> None:
    logit = np.array(EXTREMES)
    slope = np.empty(len(logit))
    loss = block_loss(logit, np.zeros(len(logit)), slope)
    np.testing.assert_allclose(slope, expit(logit), rtol=1e-15, atol=1e-300)
    assert loss == pytest.approx(np.logaddexp(0, logit).sum(), rel=1e-15)


def test_many_pairs_are_fitted_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    same = rng.random(3000) < 0.3
    design = Columns(same + rng.standard_normal(3000))
    plain = fit_logistic(design, same, solver="converged")
    monkeypatch.setattr(_logistic, "COMPILED_FROM", 0)
    monkeypatch.setattr(_logistic, "_block_loss", lambda *_: pytest.fail("the plain loop was taken"))
    compiled = fit_logistic(design, same, solver="converged")
    np.testing.assert_allclose(compiled.weights, plain.weights, rtol=1e-8)
    assert compiled.intercept == pytest.approx(plain.intercept, rel=1e-8)


@pytest.mark.parametrize("threads", [1, 2])
def test_several_features_in_several_blocks(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    features = rng.standard_normal((5000, 2))
    same = features @ [1.0, -2.0] + rng.logistic(size=5000) > 0.5
    plain = fit_logistic(Columns(features), same, C=0.01)
    monkeypatch.setattr(_logistic, "COMPILED_FROM", 0)
    monkeypatch.setattr(_logistic, "BLOCK", 700)
    compiled = fit_logistic(Columns(features), same, C=0.01, threads=threads)
    np.testing.assert_allclose(compiled.weights, plain.weights, rtol=1e-10)
    assert compiled.intercept == pytest.approx(plain.intercept, rel=1e-10)
    assert compiled.iterations == plain.iterations
