"""Lloyd's steps: faiss's own, bit for bit."""

from __future__ import annotations

import faiss
import numpy as np
import pytest

from fairfr.methods import _kmeans, _lloyd
from fairfr.methods._lloyd import Steps


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    faiss.omp_set_num_threads(1)


def crowds(n: int, d: int, places: int, seed: int = 0, decay: float = 0.0) -> np.ndarray:
    """Unit vectors around a few places; with ``decay`` most of their variance lies in few coordinates."""
    rng = np.random.default_rng(seed)
    spread = np.exp(-decay * np.arange(d) / d)
    rows = rng.normal(size=(places, d))[rng.integers(places, size=n)] + 1.5 * rng.normal(size=(n, d))
    rows = rows * spread
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def steps_on(vectors: np.ndarray, width: int = 64) -> Steps:
    return Steps(vectors, np.linalg.eigh(vectors.T @ vectors)[1][:, -width:].astype(np.float32))


def searched(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    lookup = faiss.IndexFlatL2(vectors.shape[1])
    lookup.add(centres)
    found: np.ndarray = lookup.search(vectors, 1)[1][:, 0]
    return found


@pytest.mark.parametrize("n", [8200, 9000, 12_288])
@pytest.mark.parametrize("decay", [0.0, 6.0])
def test_the_nearest_centres_are_those_that_faiss_finds(n: int, decay: float) -> None:
    vectors = crowds(n, 256, 40, decay=decay)
    centres = np.stack([vectors[start::50].mean(axis=0) for start in range(50)])
    assert np.array_equal(steps_on(vectors).assign(centres), searched(vectors, centres))


def test_faiss_decides_between_centres_that_rounding_cannot_tell_apart() -> None:
    vectors = crowds(9000, 256, 40)
    centres = np.stack([vectors[start::20].mean(axis=0) for start in range(20)])
    noise = np.random.default_rng(1).normal(scale=3e-8, size=centres.shape).astype(np.float32)
    twins = np.concatenate([centres, centres + noise])
    assert np.array_equal(steps_on(vectors).assign(twins), searched(vectors, twins))


def test_clusters_are_those_of_faiss_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = crowds(8500, 256, 60, decay=6.0)
    assert Steps.where_they_pay(vectors) is not None
    ours = _kmeans._run_faiss(vectors, 30, 3, 5, 1)
    monkeypatch.setattr(Steps, "where_they_pay", classmethod(lambda cls, vectors: None))
    assert np.array_equal(ours, _kmeans._run_faiss(vectors, 30, 3, 5, 1))


def test_most_of_a_step_needs_no_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = crowds(12_288, 256, 40)
    _, centres = _kmeans._faiss(vectors, 50, 0, 3)
    asked: list[int] = []
    monkeypatch.setattr(Steps, "_ask_faiss", lambda self, centres, start, out: asked.append(start))
    steps_on(vectors).assign(centres)
    assert len(asked) < 3
    monkeypatch.setattr(_lloyd, "CLOSE_CALL", 1.0)
    steps_on(vectors).assign(centres)
    assert len(asked) >= 3


def test_an_empty_cluster_is_left_to_faiss() -> None:
    vectors = crowds(8300, 256, 10)
    centres = np.concatenate([vectors[:5], -vectors[:1] * 50])
    steps = steps_on(vectors)
    assert steps.step(centres) is None
    _, expected = _kmeans._faiss(vectors, 6, 0, 3, centres)
    assert np.array_equal(_kmeans._lloyd(vectors, 6, 0, 3, centres, steps)[1], expected)


def test_small_sets_and_those_that_fill_all_directions_are_left_to_faiss() -> None:
    assert Steps.where_they_pay(crowds(300, 256, 5, decay=6.0)) is None
    assert Steps.where_they_pay(crowds(9000, 64, 5000)) is None
    assert Steps.where_they_pay(crowds(8192, 256, 5, decay=6.0)) is not None
