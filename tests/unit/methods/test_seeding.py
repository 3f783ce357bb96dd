"""k-means++: faiss's own draws."""

from __future__ import annotations

import faiss
import numpy as np
import pytest

from fairfr.methods import _seeding
from fairfr.methods._seeding import drawn, faiss_drawn


def crowds(n: int, d: int, decay: float) -> np.ndarray:
    """Unit vectors around forty places, some of them twice; with ``decay`` mostly in few directions."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, d))[rng.integers(40, size=n)] + rng.normal(size=(n, d))
    rows = rows * np.exp(-decay * np.arange(d) / d)
    rows[n // 2 : n // 2 + 20] = rows[:20]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def shadows(vectors: np.ndarray, width: int) -> np.ndarray:
    found: np.ndarray = vectors @ np.linalg.eigh(vectors.T @ vectors)[1][:, -width:].astype(np.float32)
    return found


@pytest.mark.parametrize(("K", "seed"), [(1, 0), (2, 1), (100, 0), (100, 7), (156, 2**31 + 5), (200, 3)])
@pytest.mark.parametrize("decay", [0.0, 6.0])
def test_centres_are_those_that_faiss_draws(K: int, seed: int, decay: float) -> None:
    vectors = crowds(3000, 128, decay)
    found = drawn(vectors, shadows(vectors, 16), K, seed)
    np.testing.assert_array_equal(found, faiss_drawn(vectors, K, seed))


def test_they_are_what_its_k_means_begins_with() -> None:
    """No step, and the centres of faiss.Kmeans are those it drew."""
    vectors = crowds(3000, 64, 3.0)
    model = faiss.Kmeans(
        64, 30, niter=0, seed=5, max_points_per_centroid=3000, init_method=faiss.ClusteringInitMethod_KMEANS_PLUS_PLUS
    )
    model.train(vectors)
    np.testing.assert_array_equal(faiss_drawn(vectors, 30, 5), model.centroids)


def test_few_distances_are_measured_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    full = _seeding._squared_distances
    monkeypatch.setattr(
        _seeding, "_squared_distances", lambda v, rows, to: measured.append(len(rows)) or full(v, rows, to)
    )
    vectors = crowds(3000, 128, 6.0)
    drawn(vectors, shadows(vectors, 32), 100, 0)
    assert sum(measured) < 0.3 * 100 * len(vectors)


def test_a_faiss_that_draws_otherwise_draws_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_seeding, "_mt19937_64", lambda seed, count: [2**60 * (i + 1) for i in range(count)])
    _seeding._is_as_faiss_draws.cache_clear()
    try:
        vectors = crowds(500, 32, 0.0)
        assert not _seeding._is_as_faiss_draws()
        np.testing.assert_array_equal(drawn(vectors, shadows(vectors, 8), 20, 1), faiss_drawn(vectors, 20, 1))
    finally:
        _seeding._is_as_faiss_draws.cache_clear()


def test_the_generator_is_that_of_the_standard() -> None:
    """C++ [rand.predef]: the 10,000th of std::mt19937_64 with its default seed is known; here the first two are."""
    assert _seeding._mt19937_64(5489, 2) == [14514284786278117030, 4620546740167642908]
