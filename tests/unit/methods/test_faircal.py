"""FairCal against a plain form, its laws, and what it does where a cluster cannot carry a map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import Pairs, VerificationSet
from fairfr.methods import faircal
from fairfr.methods._clusters import ClusterEngine, Clusters
from fairfr.methods.beta import Beta
from fairfr.methods.faircal import FairCal
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]
Fit = Callable[..., tuple[Any, PairView]]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[np.ndarray], None]:
    """Fixes the centres, so that a test decides who belongs where."""

    def use(centres: np.ndarray) -> None:
        clusters = Clusters(np.asarray(centres, dtype=np.float32))
        monkeypatch.setattr(faircal, "fit_clusters", lambda *_: clusters)

    return use


def plain_beta(cosine: np.ndarray, same: np.ndarray) -> Callable[[float], float]:
    """Beta calibration by scikit-learn alone: a negative weight is dropped, and if both are, the base rate is left."""

    def features(values: np.ndarray) -> np.ndarray:
        u = np.clip((values + 1) / 2, np.finfo(float).eps, 1 - np.finfo(float).eps)
        return np.column_stack([np.log(u), -np.log(1 - u)])

    columns = [0, 1]
    model = LogisticRegression(C=99999999999).fit(features(cosine)[:, columns], same)
    if model.coef_[0, 0] < 0:
        columns = [1]
    elif model.coef_[0, 1] < 0:
        columns = [0]
    if len(columns) == 1:
        model = LogisticRegression(C=99999999999).fit(features(cosine)[:, columns], same)
        if model.coef_[0, 0] < 0:
            return lambda _: float(same.mean())
    return lambda value: float(model.predict_proba(features(np.array([value]))[:, columns])[0, 1])


def plain_faircal(data: VerificationSet, centres: np.ndarray) -> np.ndarray:
    """One pair, one image, one cluster at a time."""
    assert data.embeddings is not None
    vectors = data.embeddings.vectors.astype(np.float64)
    cluster = [int(np.argmin([np.linalg.norm(z - centre) for centre in centres])) for z in vectors]
    ends = list(zip(data.pairs.left, data.pairs.right, strict=True))
    cosine = np.array([float(vectors[i] @ vectors[j]) for i, j in ends])
    train = [n for n in range(data.n_pairs) if data.fold[n] != 0]
    overall = plain_beta(cosine[train], data.same[train])
    sizes, maps = [], []
    for k in range(len(centres)):
        members = [n for n in train if k in (cluster[ends[n][0]], cluster[ends[n][1]])]
        usable = len(members) >= 10 and len(set(data.same[members].tolist())) == 2
        sizes.append(len(members))
        maps.append(plain_beta(cosine[members], data.same[members]) if usable else overall)
    out = []
    for n in np.flatnonzero(data.fold == 0):
        i, j = cluster[ends[n][0]], cluster[ends[n][1]]
        total = sizes[i] + sizes[j]
        mixed = sizes[i] * maps[i](cosine[n]) + sizes[j] * maps[j](cosine[n])
        out.append(mixed / total if total else overall(cosine[n]))
    return np.array(out)


@pytest.mark.parametrize("dataset", ["rfw", "bfw", "lfw"])
@pytest.mark.parametrize("engine", ["faiss", "sklearn"])
def test_equals_the_plain_form(
    context: Callable[..., FitContext],
    fit: Fit,
    synthetic_set: Callable[..., VerificationSet],
    dataset: str,
    engine: ClusterEngine,
) -> None:
    data = synthetic_set(dataset, scale={"rfw": 0.03, "bfw": 0.002, "lfw": 0.1}[dataset])
    ctx = context(data)
    method, test = fit(data, FairCal(K=12, n_init=2, engine=engine), ctx)
    score, probability = method.predict(test)
    np.testing.assert_allclose(probability, plain_faircal(data, method.clusters_.centres), atol=1e-9)
    assert np.array_equal(score, probability)


def test_clusters_that_cannot_carry_a_map_use_the_global_one_and_are_counted(
    context: Callable[..., FitContext], fit: Fit, make_set: MakeSet, given: Callable[[np.ndarray], None]
) -> None:
    data = five_places(make_set)
    given(np.eye(6)[:5])
    ctx = context(data)
    method, test = fit(data, FairCal(), ctx)
    assert method.sizes_.tolist() == [60, 60, 20, 6, 0]
    assert ctx.report == {
        "clusters": 5,
        "fallback_clusters": 3,
        "fallbacks": {"empty": 1, "one_class": 1, "few_pairs": 1},
    }
    probability = method.predict(test).probability
    np.testing.assert_allclose(probability, plain_faircal(data, np.eye(6)[:5]), atol=1e-9)
    overall = method.global_.probability(test.cosine)
    place = test.ends(np.arange(len(data.images)) % 5)[0]
    for k in (2, 3, 4):  # one class, six pairs, never met
        assert np.array_equal(probability[place == k], overall[place == k])
    for k in (0, 1):
        assert np.abs(probability - overall)[place == k].max() > 1e-3


def five_places(make_set: MakeSet) -> VerificationSet:
    """Images around five axes; training pairs inside one place: 60, 60, 20 of one class, 6, and none."""
    rng = np.random.default_rng(3)
    vectors = np.eye(6)[np.arange(200) % 5] + rng.normal(scale=[[0.25]], size=(200, 6))
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    keep = [np.flatnonzero(vectors[k::5].argmax(axis=1) == k) * 5 + k for k in range(5)]
    left, right, same, fold = [], [], [], []
    for k, count in enumerate([60, 60, 20, 6, 0]):
        for n in range(count + 15):
            i, j = rng.choice(keep[k], 2, replace=False)
            left.append(i)
            right.append(j)
            noise = rng.normal(scale=0.1)
            same.append(k == 2 or bool(vectors[i] @ vectors[j] + noise > 0.65 + 0.1 * k))
            fold.append(0 if n >= count else 1)
    return make_set(vectors, np.array(left), np.array(right), np.array(same), np.array(fold))


def test_a_pair_inside_one_cluster_counts_once(
    fit: Fit, make_set: MakeSet, given: Callable[[np.ndarray], None]
) -> None:
    data = make_set(np.eye(3), [0, 0, 1, 0], [0, 1, 1, 2], [1, 0, 1, 0], [1, 1, 1, 1])
    given(np.eye(3))
    method, _ = fit(data, FairCal())
    assert method.sizes_.tolist() == [3, 2, 1]


def test_larger_clusters_weigh_more(fit: Fit, make_set: MakeSet, given: Callable[[np.ndarray], None]) -> None:
    data = five_places(make_set)
    given(np.eye(6)[:5])
    method, _ = fit(data, FairCal())
    mixed = make_set(data.embeddings.vectors, [0, 1], [1, 0])  # type: ignore[union-attr]
    view = PairView(PairTable(mixed), np.arange(2), method.needs)
    method.sizes_ = np.array([30, 10, 0, 0, 0])
    one, two = (float(method.maps_[k].probability(view.cosine[:1])[0]) for k in (0, 1))
    np.testing.assert_allclose(method.predict(view).probability, 0.75 * one + 0.25 * two, rtol=1e-12)


def test_a_pair_of_two_clusters_never_met_in_training_uses_the_global_map(
    fit: Fit, make_set: MakeSet, given: Callable[[np.ndarray], None]
) -> None:
    data = five_places(make_set)
    given(np.eye(6))
    method, _ = fit(data, FairCal())
    assert method.sizes_[4:].tolist() == [0, 0]
    vectors = np.eye(6)[[0, 4, 5]] + 0.2
    view = PairView(PairTable(make_set(vectors, [1, 0], [2, 1])), np.arange(2), method.needs)
    probability = method.predict(view).probability
    assert probability[0] == method.global_.probability(view.cosine)[0]
    assert probability[1] == pytest.approx(method.maps_[0].probability(view.cosine)[1], rel=1e-12)


def test_one_cluster_is_beta_calibration_to_the_last_bit(
    context: Callable[..., FitContext], fit: Fit, synthetic_set: Callable[..., VerificationSet]
) -> None:
    data = synthetic_set("rfw", scale=0.02)
    method, test = fit(data, FairCal(K=1))
    train = np.flatnonzero(data.fold != 0)
    beta = Beta().fit(PairView(PairTable(data), train, Beta.needs), data.same[train], context(data))
    assert np.array_equal(method.predict(test).probability, beta.predict(test).probability)


def test_fewer_images_than_clusters(
    context: Callable[..., FitContext], fit: Fit, eight_images: VerificationSet
) -> None:
    ctx = context(eight_images)
    method, test = fit(eight_images, FairCal(), ctx)
    assert ctx.report["clusters"] == 8
    probability = method.predict(test).probability
    np.testing.assert_allclose(probability, plain_faircal(eight_images, method.clusters_.centres), atol=1e-9)


def test_training_pairs_of_one_class_give_the_base_rate(
    context: Callable[..., FitContext], fit: Fit, make_set: MakeSet
) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left, right = rng.integers(20, size=(2, 60))
    data = make_set(vectors, left, right, np.ones(60), np.arange(60) % 2)
    ctx = context(data)
    method, test = fit(data, FairCal(K=3), ctx)
    assert ctx.report["fallbacks"]["one_class"] == 3
    np.testing.assert_allclose(method.predict(test).probability, 1.0, atol=1e-12)


def test_swapping_left_and_right_changes_nothing(fit: Fit, synthetic_set: Callable[..., VerificationSet]) -> None:
    data = synthetic_set("bfw", scale=0.002)
    swapped = replace(data, pairs=Pairs(data.pairs.right, data.pairs.left))
    one, two = (method.predict(test).score for method, test in (fit(d, FairCal(K=9)) for d in (data, swapped)))
    assert np.array_equal(one, two)


def test_the_fit_does_not_see_the_test_fold(
    fit: Fit, synthetic_set: MakeSet, other_test_fold: Callable[[VerificationSet], VerificationSet]
) -> None:
    data = synthetic_set("rfw", scale=0.02)
    one, two = (fit(d, FairCal(K=9))[0] for d in (data, other_test_fold(data)))
    assert np.array_equal(one.clusters_.centres, two.clusters_.centres)
    assert one.maps_ == two.maps_
    assert one.sizes_.tolist() == two.sizes_.tolist()


def test_a_subset_predicts_as_in_the_whole(fit: Fit, synthetic_set: Callable[..., VerificationSet]) -> None:
    method, test = fit(synthetic_set("bfw", scale=0.002), FairCal(K=20))
    whole = method.predict(test).score
    for index in (np.array([3]), np.arange(0, test.n_pairs, 7)):
        assert np.array_equal(method.predict(test.subset(index)).score, whole[index])


def test_the_cache_changes_nothing(
    context: Callable[..., FitContext], fit: Fit, synthetic_set: Callable[..., VerificationSet], tmp_path: Path
) -> None:
    data = synthetic_set("rfw", scale=0.02)
    runs = [fit(data, FairCal(K=9), context(data, cache)) for cache in (None, tmp_path, tmp_path)]
    without, miss, hit = (method.predict(test).score for method, test in runs)
    assert np.array_equal(without, miss)
    assert np.array_equal(without, hit)


@pytest.mark.parametrize("wrong", [{"K": 0}, {"n_init": 0}])
def test_impossible_settings_are_config_errors(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        FairCal(**wrong)  # type: ignore[arg-type]
