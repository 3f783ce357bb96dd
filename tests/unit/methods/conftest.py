"""Toy sets and fits that the tests of several methods share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairfr.core.calibrator import FitContext
from fairfr.core.types import EmbeddingSet, Pairs, VerificationSet
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView


@pytest.fixture(scope="session")
def two_places() -> Callable[..., VerificationSet]:
    """Makes pairs in two places; in the second one, strangers look alike: ``two_places(600, seed=1)``."""
    return _two_places


def _two_places(n_pairs: int = 1200, d: int = 8, seed: int = 0) -> VerificationSet:
    rng = np.random.default_rng(seed)
    same = rng.random(n_pairs) < 0.5
    place = rng.integers(0, 2, n_pairs)
    centre = np.where(place[:, None] == 1, np.eye(d)[0] * 2.0, np.eye(d)[1] * 0.8)
    person = rng.standard_normal((2, n_pairs, d))
    person[1] = np.where(same[:, None], person[0], person[1])
    vectors = (centre + person + 0.5 * rng.standard_normal((2, n_pairs, d))).reshape(-1, d)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    images = np.arange(2 * n_pairs).astype(str)
    return VerificationSet(
        id="toy",
        source="synthetic",
        backbone="net",
        digest="0",
        images=images,
        identity=np.full(2 * n_pairs, -1, np.int32),
        pairs=Pairs(np.arange(n_pairs, dtype=np.int32), np.arange(n_pairs, 2 * n_pairs, dtype=np.int32)),
        same=same,
        fold=np.zeros(n_pairs, np.int16),
        fold_labels=("1",),
        groupings={},
        grouping=None,
        embeddings=EmbeddingSet("net", "0", images, vectors),
    )


@pytest.fixture(scope="session")
def context() -> Callable[..., FitContext]:
    """What a fit on all folds but the first is given: ``context(data, cache)``."""
    return _context


def _context(data: VerificationSet, cache: Path | None = None) -> FitContext:
    return FitContext(seed=0, dataset=data.id, backbone=data.backbone, fold="0", cache=cache)


@pytest.fixture(scope="session")
def fit() -> Callable[..., tuple[Any, PairView]]:
    """Fits a method on all folds but the first, and gives the view of the first with it."""
    return _fit


def _fit(data: VerificationSet, method: Any, ctx: FitContext | None = None) -> tuple[Any, PairView]:
    table, rows = PairTable(data), np.arange(data.n_pairs)
    train, test = rows[data.fold != 0], rows[data.fold == 0]
    name = type(method).__name__
    view = PairView(table, train, method.needs, name)
    fitted = method.fit(view, data.same[train], ctx or _context(data))
    return fitted, PairView(table, test, method.needs, name)


@pytest.fixture
def eight_images(make_set: Callable[..., VerificationSet]) -> VerificationSet:
    """80 pairs of eight images in two folds: fewer images than clusters; labels follow the cosine with noise."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(8, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left, step = rng.integers(8, size=80), rng.integers(1, 8, size=80)
    right = (left + step) % 8
    same = (vectors[left] * vectors[right]).sum(axis=1) + rng.normal(scale=0.3, size=80) > 0
    return make_set(vectors, left, right, same, np.arange(80) % 2)


@pytest.fixture(scope="session")
def other_test_fold() -> Callable[[VerificationSet], VerificationSet]:
    """Makes the same set with other labels, and other vectors of images not met in training, in the first fold."""

    def change(data: VerificationSet) -> VerificationSet:
        assert data.embeddings is not None
        train = data.fold != 0
        used = np.union1d(data.pairs.left[train], data.pairs.right[train])
        vectors = np.roll(data.embeddings.vectors, 1, axis=0).copy()
        vectors[used] = data.embeddings.vectors[used]
        assert not np.array_equal(vectors, data.embeddings.vectors)
        return replace(data, same=data.same ^ ~train, embeddings=EmbeddingSet("other", "0", data.images, vectors))

    return change


@pytest.fixture
def with_cosines(make_set: Callable[..., VerificationSet]) -> Callable[..., PairView]:
    """Makes pairs with these cosines: the first image is the first axis, the others lie at the wanted angle to it."""

    def make(cosine: list[float] | np.ndarray) -> PairView:
        cosine = np.asarray(cosine, dtype=np.float64)
        vectors = np.zeros((len(cosine) + 1, 2))
        vectors[0, 0] = 1
        vectors[1:] = np.column_stack([cosine, np.sqrt(1 - cosine**2)])
        p = len(cosine)
        return PairView(PairTable(make_set(vectors, np.zeros(p), np.arange(1, p + 1))), np.arange(p), frozenset())

    return make


@pytest.fixture
def noisy_pairs(with_cosines: Callable[..., PairView]) -> tuple[PairView, np.ndarray]:
    """500 pairs, and labels (500,) that follow their cosines with noise."""
    rng = np.random.default_rng(0)
    cosine = rng.uniform(-0.4, 0.9, size=500)
    return with_cosines(cosine), cosine + rng.normal(scale=0.3, size=500) > 0.2


@pytest.fixture(scope="session")
def fit_to() -> Callable[..., FitContext]:
    """Fits a method to a view and its labels; returns what it was given, with its report."""

    def fit_method(method: Any, view: PairView, same: list[int] | np.ndarray) -> FitContext:
        ctx = FitContext(seed=0, dataset="made", backbone="net", fold="0")
        assert method.fit(view, np.asarray(same, dtype=bool), ctx) is method
        return ctx

    return fit_method
