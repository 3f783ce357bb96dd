"""Neighbours within one set against distances between built midpoints in float64."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.core.types import Pairs
from fairfr.pairs import _mutual, mutual, neighbours
from fairfr.pairs.neighbours import Midpoints, nearest, nearest_and_others


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
@pytest.mark.parametrize("step", [1, 7, 12, 48, 100])
@pytest.mark.parametrize("head", [None, 0, 1])
@pytest.mark.parametrize("k", [1, 20])
def test_the_nearest_of_every_midpoint_are_found(
    monkeypatch: pytest.MonkeyPatch, decay: float, step: int, head: int | None, k: int
) -> None:
    monkeypatch.setattr(mutual, "STEP", step)
    if head is not None:  # of some steps, or of all axes where these are more
        monkeypatch.setattr(_mutual, "head_length", lambda *_: min(48, (1 + 2 * head) * step))
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


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize(("k", "k_others"), [(1, 1), (20, 7), (3, 20)])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_nearest_with_another_label_are_found_on_the_way(
    monkeypatch: pytest.MonkeyPatch, decay: float, k: int, k_others: int, threads: int
) -> None:
    monkeypatch.setattr(mutual, "STEP", 8)
    midpoints = some_midpoints(300, 500, decay)
    label = np.random.default_rng(1).integers(3, size=500)
    everyone, others = nearest_and_others(midpoints, k, label, k_others, threads)
    assert everyone.distance.tobytes() == nearest(midpoints, midpoints, k, "auto").distance.tobytes()
    expected = np.where(label[:, None] == label, np.inf, all_distances(midpoints))
    assert all(len(set(row)) == k_others for row in others.position.tolist())
    np.testing.assert_allclose(others.distance, np.take_along_axis(expected, others.position, axis=1), atol=1e-12)
    np.testing.assert_allclose(others.distance, np.sort(expected, axis=1)[:, :k_others], atol=1e-6)


def test_a_steep_spectrum_has_a_short_head_and_a_flat_one_has_most_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutual, "STEP", 4)
    lengths = []
    for decay in (0.3, 0.0):
        _, rotated = mutual._arrange(some_midpoints(2000, 1500, decay), None)
        found = mutual._Nearest.none(1500, 5)
        mutual._compare(rotated, found, found, 1)
        lengths.append(_mutual.head_length(0, 700, 700, 800, 4, 8, *rotated.columns, found.bar, found.bar))
    assert lengths[0] < 48 / 2
    assert lengths[1] >= 48 * 3 / 4


def test_where_images_repeat_often_the_scan_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MUTUAL_FROM", 0)
    monkeypatch.setattr(neighbours, "mutual_neighbours", lambda *_: pytest.fail("the slower way was taken"))
    midpoints = some_midpoints(20, 100, 0.1)
    nearest(midpoints, midpoints, 3)
