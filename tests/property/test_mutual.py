"""Neighbours within one set against distances between built midpoints in float64."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.core.types import Pairs
from fairfr.pairs import mutual, neighbours
from fairfr.pairs.neighbours import Midpoints, nearest


def some_midpoints(n: int, p: int, decay: float, seed: int = 0, d: int = 48) -> Midpoints:
    """Midpoints of random pairs; the spectrum of the vectors is exp(-decay j)."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, d)) * np.exp(-decay * np.arange(d))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Midpoints(vectors.astype(np.float32), Pairs(*rng.integers(n, size=(2, p)).astype(np.int32)))


def all_distances(midpoints: Midpoints) -> np.ndarray:
    wide, pairs = midpoints.vectors.astype(np.float64), midpoints.pairs
    m = (wide[pairs.left] + wide[pairs.right]) / 2
    return np.stack([np.sqrt(((m - row) ** 2).sum(axis=1)) for row in m])


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets are treated as large ones: several tiles, and never faiss."""
    monkeypatch.setattr(neighbours, "MUTUAL_FROM", 0)
    monkeypatch.setattr(neighbours, "_search_faiss", lambda *_: pytest.fail("each was compared with all others"))
    monkeypatch.setattr(mutual, "TILE", 64)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("decay", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("head", [None, 1, 12, 48])
@pytest.mark.parametrize("k", [1, 20])
def test_the_nearest_of_every_midpoint_are_found(
    monkeypatch: pytest.MonkeyPatch, decay: float, head: int | None, k: int
) -> None:
    if head is not None:
        monkeypatch.setattr(mutual, "_head_length", lambda *_: head)
    midpoints = some_midpoints(300, 500, decay)
    found = nearest(midpoints, midpoints, k, "auto", 2)
    expected = all_distances(midpoints)
    assert all(len(set(row)) == k for row in found.position.tolist())
    np.testing.assert_allclose(found.distance, np.take_along_axis(expected, found.position, axis=1), atol=1e-12)
    np.testing.assert_allclose(found.distance.mean(axis=1), np.sort(expected, axis=1)[:, :k].mean(axis=1), atol=1e-7)
    assert (found.distance[:, 0] == 0).all()  # itself


@pytest.mark.usefixtures("many")
def test_threads_and_equal_distances_change_nothing() -> None:
    midpoints = some_midpoints(12, 300, 0.1)  # far more pairs than there are different ones
    one, three = (nearest(midpoints, midpoints, 9, "auto", threads) for threads in (1, 3))
    assert one.position.tobytes() == three.position.tobytes()
    assert one.distance.tobytes() == three.distance.tobytes()


def test_a_steep_spectrum_has_a_short_head_and_a_flat_one_has_most_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutual, "LOOK", 100)
    steep, flat = (mutual._rotate(some_midpoints(2000, 1500, decay), 5) for decay in (0.3, 0.0))
    assert steep.h < 48 / 2
    assert flat.h >= 48 * 3 / 4


def test_where_images_repeat_often_the_scan_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MUTUAL_FROM", 0)
    monkeypatch.setattr(neighbours, "mutual_neighbours", lambda *_: pytest.fail("the slower way was taken"))
    midpoints = some_midpoints(20, 100, 0.1)
    nearest(midpoints, midpoints, 3)
