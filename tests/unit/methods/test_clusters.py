"""k-means: as good as scikit-learn's, the same for everyone who asks, with or without a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import faiss
import numpy as np
import pytest
from sklearn.cluster import KMeans

from fairfr.core.calibrator import FitContext
from fairfr.core.types import VerificationSet
from fairfr.methods import _clusters
from fairfr.methods._clusters import ClusterEngine, Clusters, fit_clusters, nearest_centre
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]
ENGINES: tuple[ClusterEngine, ...] = ("faiss", "sklearn")
NEEDS = frozenset({"embeddings"})


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def crowds(n: int, d: int, places: int, seed: int = 0) -> np.ndarray:
    """Unit vectors around a few places, as faces crowd around identities and groups."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(places, d))
    return unit(centres[rng.integers(places, size=n)] + 0.8 * rng.normal(size=(n, d)))


def view_of(make_set: MakeSet, vectors: np.ndarray, seed: int = 0, pairs: int = 400) -> PairView:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(len(vectors), size=(2, pairs))
    return PairView(PairTable(make_set(vectors, left, right)), np.arange(pairs), NEEDS)


def context(cache: Path | None = None, seed: int = 0, threads: int = 1) -> FitContext:
    return FitContext(seed=seed, dataset="made", backbone="net", fold="0", threads=threads, cache=cache)


def inertia(vectors: np.ndarray, centres: np.ndarray) -> float:
    squared = ((vectors[:, None, :].astype(np.float64) - centres[None]) ** 2).sum(axis=2)
    return float(squared.min(axis=1).sum())


@pytest.mark.parametrize(("n", "d", "places", "K"), [(1500, 16, 40, 20), (2000, 24, 300, 60)])
def test_faiss_is_within_half_a_percent_of_scikit_learn(make_set: MakeSet, n: int, d: int, places: int, K: int) -> None:
    """Over seeds: a single one of either may be a percent better or worse than the next."""
    view = view_of(make_set, crowds(n, d, places), pairs=3 * n)
    vectors, seeds = view.images()[1], range(5)
    ours = [inertia(vectors, fit_clusters(view, K, 10, "faiss", context(seed=seed)).centres) for seed in seeds]
    theirs = [KMeans(K, n_init=10, random_state=seed).fit(vectors).inertia_ for seed in seeds]
    assert np.mean(ours) <= 1.005 * np.mean(theirs)


def test_faiss_uses_every_image_and_comes_to_rest(make_set: MakeSet) -> None:
    view = view_of(make_set, crowds(3000, 8, 6), pairs=9000)  # more than the 256 a centre that faiss would sample
    vectors = view.images()[1]
    centres = fit_clusters(view, 4, 3, "faiss", context()).centres
    nearest = nearest_centre(vectors, centres)
    means = np.stack([vectors[nearest == k].mean(axis=0) for k in range(4)])
    assert inertia(vectors, means) > (1 - 1e-3) * inertia(vectors, centres)


def test_the_centres_are_those_of_one_longer_run_of_faiss(make_set: MakeSet) -> None:
    """Steps in rounds are the steps of one run from the same k-means++ start, to the bit."""
    view = view_of(make_set, crowds(2000, 16, 50), pairs=4000)
    vectors = np.ascontiguousarray(view.images()[1])
    ours = fit_clusters(view, 30, 1, "faiss", context()).centres

    def plain(steps: int) -> np.ndarray:
        model = faiss.Kmeans(
            16,
            30,
            niter=steps,
            seed=context().seed_for("kmeans") % 2**31,
            max_points_per_centroid=len(vectors),
            min_points_per_centroid=1,
            init_method=faiss.ClusteringInitMethod_KMEANS_PLUS_PLUS,
        )
        model.train(vectors)
        centres: np.ndarray = model.centroids
        return centres

    assert any(np.array_equal(ours, plain(10 * rounds)) for rounds in range(2, 12))
    assert not np.array_equal(ours, plain(1))


@pytest.mark.parametrize("engine", ENGINES)
def test_same_seed_same_centres_and_another_seed_others(make_set: MakeSet, engine: ClusterEngine) -> None:
    view = view_of(make_set, crowds(300, 8, 30))
    first = fit_clusters(view, 20, 2, engine, context()).centres
    assert np.array_equal(first, fit_clusters(view, 20, 2, engine, context()).centres)
    assert not np.array_equal(first, fit_clusters(view, 20, 2, engine, context(seed=1)).centres)


def test_the_number_of_threads_changes_nothing(make_set: MakeSet) -> None:
    view = view_of(make_set, crowds(2000, 16, 50), pairs=4000)
    one, two = (fit_clusters(view, 30, 4, "faiss", context(threads=threads)).centres for threads in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("engine", ENGINES)
def test_more_starts_never_end_much_worse(make_set: MakeSet, engine: ClusterEngine) -> None:
    view = view_of(make_set, crowds(600, 8, 25), pairs=2000)
    vectors = view.images()[1]
    one, ten = (inertia(vectors, fit_clusters(view, 25, n, engine, context()).centres) for n in (1, 10))
    assert ten <= 1.001 * one


@pytest.mark.parametrize("engine", ENGINES)
def test_no_more_clusters_than_images(make_set: MakeSet, engine: ClusterEngine) -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(5, 4)))
    view = PairView(PairTable(make_set(vectors, [0, 2, 0], [1, 3, 4])), np.arange(3), NEEDS)
    clusters = fit_clusters(view, 100, 10, engine, context())
    assert len(clusters) == 5
    assert sorted(nearest_centre(vectors, clusters.centres)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_images_that_look_alike_leave_clusters_empty_but_finite(make_set: MakeSet, engine: ClusterEngine) -> None:
    vectors = unit(np.repeat(np.eye(3, dtype=np.float32), 10, axis=0))
    view = view_of(make_set, vectors, pairs=100)
    clusters = fit_clusters(view, 12, 2, engine, context())
    assert np.isfinite(clusters.centres).all()
    ends = clusters.of_pairs(view)
    assert 3 <= len(np.unique(ends)) < 12


def test_only_the_images_of_the_pairs_are_clustered(make_set: MakeSet) -> None:
    vectors = crowds(200, 8, 10)
    left, right = np.random.default_rng(0).integers(100, size=(2, 300))
    changed = vectors.copy()
    changed[100:] = crowds(100, 8, 3, seed=9)
    one, two = (
        fit_clusters(PairView(PairTable(make_set(v, left, right)), np.arange(300), NEEDS), 10, 2, "faiss", context())
        for v in (vectors, changed)
    )
    assert np.array_equal(one.centres, two.centres)


def test_an_image_counts_once_however_many_pairs_use_it(make_set: MakeSet) -> None:
    vectors = crowds(60, 6, 5)
    once = make_set(vectors, np.arange(0, 60, 2), np.arange(1, 60, 2))
    often = make_set(vectors, np.r_[np.arange(0, 60, 2), np.zeros(500, int)], np.r_[np.arange(1, 60, 2), np.ones(500)])
    one, two = (
        fit_clusters(PairView(PairTable(data), np.arange(data.n_pairs), NEEDS), 5, 3, "faiss", context())
        for data in (once, often)
    )
    assert np.array_equal(one.centres, two.centres)


def test_nearest_centre_equals_the_dense_form(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, centres = crowds(500, 16, 9), crowds(40, 16, 9, seed=1) * np.float32(0.7)
    expected = ((vectors[:, None].astype(np.float64) - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    monkeypatch.setattr(_clusters, "BLOCK", 64)
    assert np.array_equal(nearest_centre(vectors, centres), expected)


def test_equally_near_centres_give_the_first() -> None:
    centres = np.array([[0, 1], [1, 0], [1, 0], [-1, 0]], dtype=np.float32)
    vectors = np.array([[1, 0], [np.sqrt(0.5), np.sqrt(0.5)]], dtype=np.float32)
    assert nearest_centre(vectors, centres).tolist() == [1, 0]


def test_near_ties_do_not_depend_on_who_else_is_asked_about() -> None:
    rng = np.random.default_rng(0)
    one = unit(rng.normal(size=(1, 512)))[0]
    centres = np.stack([one] * 8) + rng.normal(scale=1e-7, size=(8, 512)).astype(np.float32)
    vectors = unit(rng.normal(size=(50, 512)))
    together = nearest_centre(vectors, centres)
    alone = np.concatenate([nearest_centre(vectors[i : i + 1], centres) for i in range(50)])
    assert np.array_equal(together, alone)


def test_ends_are_the_clusters_of_left_and_right(make_set: MakeSet) -> None:
    vectors = np.eye(4, dtype=np.float32)
    view = PairView(PairTable(make_set(vectors, [3, 1, 1], [1, 2, 3])), np.array([0, 2]), NEEDS)
    left, right = Clusters(np.eye(4, dtype=np.float32)[::-1].copy()).of_pairs(view)
    assert left.tolist() == [0, 2]
    assert right.tolist() == [2, 0]


def test_no_pairs_have_no_ends(make_set: MakeSet) -> None:
    view = PairView(PairTable(make_set(np.eye(4), [0], [1])), np.array([], dtype=np.int64), NEEDS)
    left, right = Clusters(np.eye(4, dtype=np.float32)).of_pairs(view)
    assert len(left) == len(right) == 0


# -- cache -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def forbid(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def fail(*_: object) -> None:
        raise AssertionError("computed although it was stored")

    return lambda: monkeypatch.setattr(_clusters, "_run_faiss", fail)


def test_a_hit_equals_a_miss_and_computes_nothing(
    make_set: MakeSet, tmp_path: Path, forbid: Callable[[], None]
) -> None:
    view = view_of(make_set, crowds(200, 8, 10))
    without = fit_clusters(view, 10, 2, "faiss", context()).centres
    miss = fit_clusters(view, 10, 2, "faiss", context(tmp_path)).centres
    forbid()
    hit = fit_clusters(view, 10, 2, "faiss", context(tmp_path)).centres
    assert np.array_equal(without, miss)
    assert np.array_equal(without, hit)
    assert hit.dtype == without.dtype
    assert [path.suffix for path in (tmp_path / "kmeans").iterdir()] == [".npz"]


@pytest.mark.parametrize(
    "change", [{"K": 9}, {"n_init": 3}, {"engine": "sklearn"}, {"seed": 1}, {"threads": 2}, {"vectors": 1}]
)
def test_whatever_decides_the_centres_is_part_of_the_name(
    make_set: MakeSet, tmp_path: Path, change: dict[str, object]
) -> None:
    def run(K: int = 10, n_init: int = 2, engine: ClusterEngine = "faiss", vectors: int = 0, **ctx: int) -> None:
        view = view_of(make_set, crowds(200, 8, 10, seed=vectors))
        fit_clusters(view, K, n_init, engine, replace(context(tmp_path), **ctx))

    run()
    run(**change)  # type: ignore[arg-type]
    assert len(list((tmp_path / "kmeans").iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "shape"])
def test_a_damaged_file_is_computed_anew(make_set: MakeSet, tmp_path: Path, damage: str) -> None:
    view = view_of(make_set, crowds(200, 8, 10))
    good = fit_clusters(view, 10, 2, "faiss", context(tmp_path)).centres
    (stored,) = (tmp_path / "kmeans").iterdir()
    content = stored.read_bytes()
    middle = len(content) // 2
    if damage == "shape":
        np.savez(stored, centres=good[:3])
    else:
        flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        stored.write_bytes({"empty": b"", "cut": content[:middle], "flipped": flipped, "text": b"no"}[damage])
    assert np.array_equal(fit_clusters(view, 10, 2, "faiss", context(tmp_path)).centres, good)
    assert stored.read_bytes() == content
