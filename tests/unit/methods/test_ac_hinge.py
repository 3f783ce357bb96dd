"""AC-Hinge against a dense Newton that spells out every pair, and in the cases where there is little to fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairfr.core.types import EmbeddingSet, VerificationSet
from fairfr.methods import _hinge
from fairfr.methods.ac_hinge import ACHinge
from fairfr.pairs.view import PairView

Fit = Callable[..., tuple[Any, PairView]]


@pytest.fixture(scope="module", params=["rfw", "bfw"])
def data(request: pytest.FixtureRequest, synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    """Images that barely repeat, and images that repeat often; 16 dimensions of the stand-in, to be quick."""
    whole = synthetic_set(request.param, scale=0.04 if request.param == "rfw" else 0.02)
    assert whole.embeddings is not None
    vectors = whole.embeddings.vectors[:, :16]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.sort(np.random.default_rng(0).choice(whole.n_pairs, 900, replace=False))
    cut = EmbeddingSet("cut", "0", whole.images, vectors)
    return replace(whole, pairs=whole.pairs.take(rows), same=whole.same[rows], fold=whole.fold[rows], embeddings=cut)


def dense_newton(X: np.ndarray, y: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Plain Newton steps on a matrix; the last column is the intercept."""
    theta = np.zeros(X.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-X @ theta))
        gradient = X.T @ (p - y) + penalty * theta
        hessian = (X * (p * (1 - p))[:, None]).T @ X + np.diag(penalty)
        theta = theta - np.linalg.solve(hessian, gradient)
    assert np.abs(gradient).max() < 1e-7
    return theta


def dense_logits(data: VerificationSet) -> np.ndarray:
    """The formula of the card, written out pair by pair; fitted without fold 0, for the pairs of fold 0."""
    assert data.embeddings is not None
    z = data.embeddings.vectors.astype(np.float64)
    left, right, train = data.pairs.left, data.pairs.right, data.fold != 0
    images = np.unique(np.concatenate([left[train], right[train]]))
    mean = z[images].mean(axis=0)
    spread = np.sqrt(((z[images] - mean) ** 2).sum(axis=1).mean())
    x = (z - mean) / spread
    s = (z[left] * z[right]).sum(axis=1)
    t = (s - s[train].mean()) / (s[train].std() + 1e-12)
    X = np.column_stack([t, np.maximum(t, 0) ** 2, (x[left] + x[right]) / 2, np.ones(len(t))])
    penalty = np.array([1e-3, 0.1, *np.ones(z.shape[1]), 0.0])
    theta = dense_newton(X[train], data.same[train].astype(float), penalty)
    if theta[1] < 0:
        keep = np.arange(X.shape[1]) != 1
        theta = np.insert(dense_newton(X[train][:, keep], data.same[train].astype(float), penalty[keep]), 1, 0.0)
    out: np.ndarray = X[~train] @ theta
    return out


def test_equals_the_dense_form(data: VerificationSet, fit: Fit) -> None:
    method, test = fit(data, ACHinge())
    prediction = method.predict(test)
    expected = dense_logits(data)
    np.testing.assert_allclose(prediction.score, expected, atol=1e-6)
    np.testing.assert_allclose(prediction.probability, 1 / (1 + np.exp(-expected)), atol=1e-7)


def test_a_bend_downwards_is_none(two_places: Callable[..., VerificationSet], fit: Fit) -> None:
    """Labels that grow ever more slowly with the cosine ask for a negative bend: it is 0 exactly."""
    data = two_places(1200)
    assert data.embeddings is not None
    z = data.embeddings.vectors.astype(np.float64)
    s = (z[data.pairs.left] * z[data.pairs.right]).sum(axis=1)
    t = (s - s.mean()) / s.std()
    rate = 1 / (1 + np.exp(-(3 * np.minimum(t, 0) + 0.3)))
    fold = np.arange(len(s), dtype=np.int16) % 3
    data = replace(data, same=np.random.default_rng(1).random(len(s)) < rate, fold=fold)
    method, test = fit(data, ACHinge())
    assert method.model_.bend == 0.0
    np.testing.assert_allclose(method.predict(test).score, dense_logits(data), atol=1e-6)


def test_the_bend_is_found_and_never_negative(data: VerificationSet, fit: Fit) -> None:
    assert fit(data, ACHinge())[0].model_.bend >= 0


@pytest.mark.parametrize("answer", [True, False])
def test_pairs_of_one_kind_give_their_base_rate(data: VerificationSet, fit: Fit, answer: bool) -> None:
    method, test = fit(replace(data, same=np.full(data.n_pairs, answer)), ACHinge())
    np.testing.assert_allclose(method.predict(test).probability, float(answer), atol=1e-12)


def test_a_constant_cosine_has_no_weight(make_set: Callable[..., VerificationSet], fit: Fit) -> None:
    """Images along different axes: every cosine is the same, only the place can tell."""
    rng = np.random.default_rng(0)
    left, step = rng.integers(12, size=300), rng.integers(1, 12, size=300)
    same = rng.random(300) < np.where(left < 6, 0.8, 0.2)
    method, test = fit(make_set(np.eye(12), left, (left + step) % 12, same, np.arange(300) % 3), ACHinge())
    assert method.model_.slope == method.model_.bend == 0.0
    assert np.isfinite(method.predict(test).score).all()


def test_the_logit_grows_with_the_cosine_of_the_same_images(data: VerificationSet, fit: Fit) -> None:
    method, test = fit(data, ACHinge())
    assert method.model_.slope > 0
    steps = np.linspace(-3, 3, 20)
    logits = [method.model_.logit(test.midpoints(), np.full(test.n_pairs, t)) for t in steps]
    assert (np.diff(logits, axis=0) > 0).all()


def test_without_context_and_bend_it_is_platt(data: VerificationSet, fit: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_hinge, "BEND_PENALTY", 1e15)
    monkeypatch.setattr(_hinge, "CONTEXT_PENALTY", 1e15)
    method, test = fit(data, ACHinge())
    train = data.fold != 0
    assert data.embeddings is not None
    z = data.embeddings.vectors.astype(np.float64)
    s = (z[data.pairs.left] * z[data.pairs.right]).sum(axis=1)
    t = (s - s[train].mean()) / s[train].std()
    X = np.column_stack([t, np.ones(len(t))])
    theta = dense_newton(X[train], data.same[train].astype(float), np.array([1e-3, 0.0]))
    np.testing.assert_allclose(method.predict(test).score, (X @ theta)[~train], atol=1e-5)


def test_the_test_fold_means_nothing_to_the_fit(
    data: VerificationSet, fit: Fit, other_test_fold: Callable[[VerificationSet], VerificationSet]
) -> None:
    one, two = fit(data, ACHinge())[0].model_, fit(other_test_fold(data), ACHinge())[0].model_
    assert one.context.tobytes() == two.context.tobytes()
    assert (one.slope, one.bend, one.intercept) == (two.slope, two.bend, two.intercept)


def test_swapped_labels_are_warned_of(data: VerificationSet, fit: Fit, caplog: pytest.LogCaptureFixture) -> None:
    fit(data, ACHinge())
    assert not caplog.text
    fit(replace(data, same=~data.same), ACHinge())
    assert "are labels swapped?" in caplog.text
