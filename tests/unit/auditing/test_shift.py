"""Without labels: the share of genuine pairs that explains scores, by trying every share."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.auditing.shift import measure_shift
from fairfr.library.expected import Histogram


def mixed(n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    same = rng.random(n) < share
    return same, np.where(same, rng.beta(6, 2, n), rng.beta(1, 8, n))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_the_share_is_the_one_of_least_squared_distance(share: float) -> None:
    same, probability = mixed(4000, 0.5, 0)
    stored = Histogram.of(same, probability)
    _, new = mixed(3000, share, 1)
    found = measure_shift(None, "all", new, stored, 0.5)
    edges = np.array(stored.edges)
    three = (new, probability[same], probability[~same])
    below = [(values[:, None] < edges).mean(axis=0) for values in three]
    shares = np.linspace(0, 1, 10_001)
    left = [np.abs(below[0] - pi * below[1] - (1 - pi) * below[2]) for pi in shares]
    best = int(np.argmin([(distance**2).sum() for distance in left]))
    assert found.share == pytest.approx(shares[best], abs=1e-4)
    assert found.share == pytest.approx(share, abs=0.03)
    assert found.distance == pytest.approx(left[best].max(), abs=1e-4)
    assert found.accepted == int((new >= 0.5).sum())
    pi = found.share
    n0 = 1 / (pi**2 / same.sum() + (1 - pi) ** 2 / (~same).sum())
    assert found.limit == pytest.approx(2.36 * np.sqrt(1 / 3000 + 1 / n0))


def test_scores_that_no_share_explains() -> None:
    same, probability = mixed(4000, 0.5, 0)
    found = measure_shift("g", "a", mixed(3000, 0.5, 1)[1] ** 2, Histogram.of(same, probability), None)
    assert found.share is None
    assert found.distance > found.limit
    assert found.accepted is None


def test_a_histogram_counts_every_pair_once_and_keeps_ties_together() -> None:
    same = np.arange(1000) % 3 == 0
    probability = np.round(np.random.default_rng(2).random(1000), 1)
    stored = Histogram.of(same, probability)
    assert sum(stored.genuine) == same.sum()
    assert sum(stored.impostors) == (~same).sum()
    counts, _ = np.histogram(probability[same], [-1, *stored.edges, 2])
    assert list(stored.genuine) == counts.tolist()
    assert sum(map(bool, np.array(stored.genuine) + stored.impostors)) == len(np.unique(probability))


def test_the_same_population_is_explained() -> None:
    unexplained = 0
    for seed in range(60):
        stored = Histogram.of(*mixed(600, 0.5, 2 * seed))
        unexplained += measure_shift(None, "all", mixed(300, 0.3, 2 * seed + 1)[1], stored, None).share is None
    assert unexplained == 0
