"""Distances that pass for similarities are noticed; chance never is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.metrics import roc_auc_score

from fairfr.numerics.direction import Z_99, reversed_auroc, upper_limit

MANY = 10**9  # images: no pair shares one


def test_the_limit_is_wilsons_99_percent() -> None:
    assert pytest.approx(norm.ppf(0.995)) == Z_99
    for hits, n in ((0, 5), (3, 40), (250, 1000)):
        assert upper_limit(hits / n, n) == pytest.approx(binomtest(hits, n).proportion_ci(0.99, "wilson").high)


@pytest.mark.parametrize("n", [8, 20, 1000])
def test_distances_are_noticed(n: int) -> None:
    rng = np.random.default_rng(n)
    same = np.arange(2 * n) % 2 == 0
    distance = np.round(rng.normal(np.where(same, 0.3, 0.8), 0.1), 2)  # with ties
    area = reversed_auroc(distance, same, MANY)
    assert area == pytest.approx(roc_auc_score(same, distance))
    assert reversed_auroc(1 - distance, same, MANY) is None


def test_a_few_pairs_say_nothing_and_neither_do_many_of_a_few_images() -> None:
    same = np.array([True] * 6 + [False] * 6)
    assert reversed_auroc(np.where(same, 0.1, 0.9), same, MANY) is None
    many = np.arange(400) % 2 == 0
    assert reversed_auroc(np.where(many, 0.1, 0.9), many, 800) == 0
    assert reversed_auroc(np.where(many, 0.1, 0.9), many, 12) is None


@pytest.mark.parametrize(("n_same", "n_different"), [(1, 1), (3, 5), (8, 8), (8, 200), (30, 30), (200, 12), (300, 300)])
def test_chance_does_not_look_like_a_distance(n_same: int, n_different: int) -> None:
    """One in 200 may be below the interval; 2,000 sets of random values, with ties and without."""
    rng = np.random.default_rng([n_same, n_different])
    same = np.arange(n_same + n_different) < n_same
    tripped = 0
    for draw in range(2000):
        values = rng.random(len(same))
        values = np.round(values, 1) if draw % 2 else values
        tripped += reversed_auroc(values, same, MANY) is not None
    assert tripped <= 2000 / 200


@pytest.mark.parametrize("n_images", [20, 40, 100])
def test_chance_in_crowded_vectors_does_not_either(n_images: int) -> None:
    """Vectors with a common direction: all pairs of one image go up and down together."""
    rng = np.random.default_rng(n_images)
    tripped = 0
    for _ in range(400):
        vectors = rng.normal(size=(n_images, 8)) + 2 * rng.random((n_images, 1))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        person = np.arange(n_images) // 4  # which the vectors know nothing about
        left, right = np.triu_indices(n_images, 1)
        same = person[left] == person[right]
        cosine = (vectors[left] * vectors[right]).sum(axis=1)
        tripped += reversed_auroc(cosine, same, n_images) is not None
    assert tripped <= 400 / 100
