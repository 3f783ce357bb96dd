"""Ridge from grams against scikit-learn's StandardScaler and Ridge on built features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairfr.core.types import Pairs
from fairfr.numerics.regression import fit_ridge
from fairfr.pairs.design import DenseDesign, PairDesign


def pair_problem(n: int, p: int, d: int = 24) -> tuple[np.ndarray, Pairs, np.ndarray, np.ndarray]:
    """Vectors, pairs, two more columns (p, 2) and a target (p,)."""
    rng = np.random.default_rng(21)
    vectors = rng.standard_normal((n, d)) + 2 * rng.standard_normal(d)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    pairs = Pairs(*rng.integers(n, size=(2, p)).astype(np.int32))
    extra = np.column_stack([0.8 + 0.05 * rng.standard_normal(p), rng.uniform(-1, 1, p)])
    midpoint = (vectors[pairs.left].astype(np.float64) + vectors[pairs.right]) / 2
    target = 3 * midpoint[:, 0] - extra[:, 0] + 0.5 * extra[:, 1] + 0.3 * rng.standard_normal(p)
    return vectors, pairs, extra, target


def expected_on(features: np.ndarray, target: np.ndarray, alpha: float) -> np.ndarray:
    out: np.ndarray = make_pipeline(StandardScaler(), Ridge(alpha=alpha)).fit(features, target).predict(features)
    return out


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("n", "p"), [(100, 3000), (4000, 2000), (60, 20)])
def test_equals_standard_scaler_and_ridge(n: int, p: int, alpha: float) -> None:
    vectors, pairs, extra, target = pair_problem(n, p)
    design = PairDesign(vectors, pairs).append(*extra.T)
    features = np.column_stack([(vectors[pairs.left].astype(np.float64) + vectors[pairs.right]) / 2, extra])
    model = fit_ridge(design, target, alpha)
    np.testing.assert_allclose(model.value(design), expected_on(features, target, alpha), atol=1e-8)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1e6])
def test_a_constant_feature_has_no_say(constant: float) -> None:
    rng = np.random.default_rng(22)
    features = rng.standard_normal((300, 4))
    features[:, 2] = constant
    target = features[:, 0] + rng.standard_normal(300)
    model = fit_ridge(DenseDesign(features), target, 1.0)
    assert model.weights[2] == 0
    np.testing.assert_allclose(model.value(DenseDesign(features)), expected_on(features, target, 1.0), atol=1e-8)
    kept = features[:, [0, 1, 3]]
    without = fit_ridge(DenseDesign(kept), target, 1.0)
    np.testing.assert_allclose(model.value(DenseDesign(features)), without.value(DenseDesign(kept)), atol=1e-8)


def test_a_narrow_feature_is_not_mistaken_for_a_constant() -> None:
    rng = np.random.default_rng(23)
    narrow = 1.0 + 1e-4 * rng.standard_normal(500)
    features, target = np.column_stack([narrow, rng.standard_normal(500)]), 1e4 * (narrow - 1)
    model = fit_ridge(DenseDesign(features), target, 1.0)
    np.testing.assert_allclose(model.value(DenseDesign(features)), expected_on(features, target, 1.0), atol=1e-6)
    assert model.weights[0] == pytest.approx(1e4, rel=0.01)


def test_the_intercept_is_free() -> None:
    rng = np.random.default_rng(24)
    features, target = rng.standard_normal((200, 3)) + 5, rng.standard_normal(200)
    low, high = (fit_ridge(DenseDesign(features), target + shift, 50.0) for shift in (0.0, 1000.0))
    np.testing.assert_allclose(high.weights, low.weights, atol=1e-9)
    assert high.intercept - low.intercept == pytest.approx(1000.0)


def test_units_do_not_matter() -> None:
    rng = np.random.default_rng(25)
    features, target = rng.standard_normal((200, 3)), rng.standard_normal(200)
    scaled = features * np.array([1e-3, 1.0, 1e4])
    one = fit_ridge(DenseDesign(features), target, 10.0).value(DenseDesign(features))
    two = fit_ridge(DenseDesign(scaled), target, 10.0).value(DenseDesign(scaled))
    np.testing.assert_allclose(two, one, atol=1e-9)
