"""FSN against a plain form, its laws, and what it does where a cluster has no threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import Pairs, VerificationSet
from fairfr.methods import _clusters, fsn
from fairfr.methods._clusters import ClusterEngine, Clusters
from fairfr.methods.faircal import FairCal
from fairfr.methods.fsn import FSN
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]
Fit = Callable[..., tuple[Any, PairView]]


def plain_threshold(cosine: np.ndarray, same: np.ndarray, fpr: float, corners: str = "source") -> float | None:
    if len(set(same.tolist())) < 2:
        return None
    rates, _, thresholds = roc_curve(same, cosine, drop_intermediate=corners == "source")
    best = None
    for rate, threshold in zip(rates, thresholds, strict=True):  # thresholds fall: a later tie is the smaller one
        if np.isfinite(threshold) and (best is None or abs(rate - fpr) <= abs(best[0] - fpr)):
            best = (rate, threshold)
    return None if best is None else float(best[1])


def plain_beta(score: np.ndarray, same: np.ndarray, low: float, high: float, test: np.ndarray) -> np.ndarray:
    def features(values: np.ndarray) -> np.ndarray:
        u = np.clip((values - low) / (high - low), np.finfo(float).eps, 1 - np.finfo(float).eps)
        return np.column_stack([np.log(u), -np.log(1 - u)])

    columns = [0, 1]
    model = LogisticRegression(C=99999999999).fit(features(score), same)
    if min(model.coef_[0]) < 0:
        columns = [1] if model.coef_[0, 0] < 0 else [0]
        model = LogisticRegression(C=99999999999).fit(features(score)[:, columns], same)
        assert model.coef_[0, 0] >= 0
    return np.asarray(model.predict_proba(features(test)[:, columns])[:, 1])


def plain_fsn(
    data: VerificationSet, centres: np.ndarray, fpr: float, corners: str = "source"
) -> tuple[np.ndarray, np.ndarray]:
    """One pair, one image, one cluster at a time: the held-out scores and probabilities."""
    assert data.embeddings is not None
    vectors = data.embeddings.vectors.astype(np.float64)
    cluster = [int(np.argmin([np.linalg.norm(z - centre) for centre in centres])) for z in vectors]
    ends = list(zip(data.pairs.left, data.pairs.right, strict=True))
    cosine = np.array([float(vectors[i] @ vectors[j]) for i, j in ends])
    train = [n for n in range(data.n_pairs) if data.fold[n] != 0]
    overall = plain_threshold(cosine[train], data.same[train], fpr, corners)
    assert overall is not None
    delta = []
    for k in range(len(centres)):
        members = [n for n in train if k in (cluster[ends[n][0]], cluster[ends[n][1]])]
        own = plain_threshold(cosine[members], data.same[members], fpr, corners)
        delta.append(0.0 if own is None else own - overall)
    score = np.array([cosine[n] - 0.5 * (delta[cluster[i]] + delta[cluster[j]]) for n, (i, j) in enumerate(ends)])
    test = data.fold == 0
    low, high = -1 - max(delta), 1 - min(delta)
    return score[test], plain_beta(score[train], data.same[train], low, high, score[test])


@pytest.mark.parametrize("dataset", ["rfw", "bfw", "lfw"])
@pytest.mark.parametrize(("engine", "fpr"), [("faiss", 0.05), ("faiss", 0.3), ("sklearn", 0.05)])
def test_equals_the_plain_form(
    fit: Fit, synthetic_set: Callable[..., VerificationSet], dataset: str, engine: ClusterEngine, fpr: float
) -> None:
    data = synthetic_set(dataset, scale={"rfw": 0.03, "bfw": 0.002, "lfw": 0.1}[dataset])
    method, test = fit(data, FSN(K=12, n_init=2, engine=engine, fpr=fpr))
    assert np.abs(method.shift_).max() > 0.01
    score, probability = plain_fsn(data, method.clusters_.centres, fpr)
    prediction = method.predict(test)
    np.testing.assert_allclose(prediction.score, score, atol=1e-9)
    np.testing.assert_allclose(prediction.probability, probability, atol=1e-9)


def test_all_points_of_the_curve_give_other_thresholds(
    context: Callable[..., FitContext], fit: Fit, synthetic_set: Callable[..., VerificationSet]
) -> None:
    data = synthetic_set("lfw", scale=0.1)
    ctx = context(data)
    method, test = fit(data, FSN(K=12, n_init=2, corners="all"), ctx)
    score, probability = plain_fsn(data, method.clusters_.centres, 0.05, "all")
    np.testing.assert_allclose(method.predict(test).score, score, atol=1e-9)
    np.testing.assert_allclose(method.predict(test).probability, probability, atol=1e-9)
    assert ctx.report["cluster_thresholds"]["moved_by_corners"] == 0
    other = context(data)
    fit(data, FSN(K=12, n_init=2), other)
    assert other.report["cluster_thresholds"]["moved_by_corners"] > 0


def plain_reaching(cosine: np.ndarray, same: np.ndarray, fpr: float, corners: str = "source") -> float | None:
    if len(set(same.tolist())) < 2:
        return None
    rates, _, thresholds = roc_curve(same, cosine, drop_intermediate=corners == "source")
    return next(float(threshold) for rate, threshold in zip(rates, thresholds, strict=True) if rate >= fpr)


def test_picking_the_corner_that_reaches_the_rate(
    fit: Fit, synthetic_set: Callable[..., VerificationSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = synthetic_set("lfw", scale=0.1)
    nearest, test = fit(data, FSN(K=12, n_init=2))
    method, test = fit(data, FSN(K=12, n_init=2, pick="reaching"))
    monkeypatch.setitem(globals(), "plain_threshold", plain_reaching)
    score, probability = plain_fsn(data, method.clusters_.centres, 0.05)
    np.testing.assert_allclose(method.predict(test).score, score, atol=1e-9)
    np.testing.assert_allclose(method.predict(test).probability, probability, atol=1e-9)
    assert not np.allclose(method.shift_, nearest.shift_)  # the choice matters in clusters of this size


def four_places(make_set: MakeSet) -> VerificationSet:
    """Training pairs inside four places: both classes in the first, then only same, only different, and none."""
    rng = np.random.default_rng(5)
    place = np.arange(160) % 4
    vectors = np.eye(5)[place] + rng.uniform(-0.3, 0.3, size=(160, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left, right, same, fold = [], [], [], []
    for k, labels in enumerate([(0, 1), (1,), (0,), ()]):
        members = np.flatnonzero(place == k)
        for n in range(40):
            i, j = rng.choice(members, 2, replace=False)
            left.append(i)
            right.append(j)
            # most alike are the same, as far as the place allows it
            likely = int(vectors[i] @ vectors[j] + rng.normal(scale=0.05) > 0.85)
            same.append(likely if len(labels) != 1 else labels[0])
            fold.append(0 if not labels or n < 10 else 1)
    return make_set(vectors, left, right, same, fold)


def test_a_cluster_without_a_threshold_shifts_nothing_and_is_counted(
    context: Callable[..., FitContext], fit: Fit, make_set: MakeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, centres = four_places(make_set), np.eye(5, dtype=np.float32)[:4]
    monkeypatch.setattr(fsn, "fit_clusters", lambda *_: Clusters(centres))
    ctx = context(data)
    method, test = fit(data, FSN(), ctx)
    assert method.shift_[0] != 0
    assert method.shift_[1:].tolist() == [0, 0, 0]
    assert ctx.report["clusters"] == 4
    assert ctx.report["fallback_clusters"] == 3
    assert ctx.report["fallbacks"] == {"empty": 1, "one_class": 2}
    assert ctx.report["cluster_thresholds"]["defined"] == 1
    score, probability = plain_fsn(data, centres, 0.05)
    np.testing.assert_allclose(method.predict(test).score, score, atol=1e-9)
    np.testing.assert_allclose(method.predict(test).probability, probability, atol=1e-9)


def test_training_pairs_of_one_class_shift_nothing(
    context: Callable[..., FitContext], fit: Fit, make_set: MakeSet
) -> None:
    data = four_places(make_set)
    ctx = context(data)
    method, test = fit(replace(data, same=np.ones(data.n_pairs, dtype=bool)), FSN(K=3), ctx)
    assert ctx.report["fallbacks"]["one_class"] == 3
    prediction = method.predict(test)
    assert np.array_equal(prediction.score, test.cosine)
    np.testing.assert_allclose(prediction.probability, 1.0, atol=1e-12)


def test_one_cluster_shifts_nothing(fit: Fit, synthetic_set: Callable[..., VerificationSet]) -> None:
    method, test = fit(synthetic_set("rfw", scale=0.02), FSN(K=1))
    assert np.array_equal(method.predict(test).score, test.cosine)
    assert (method.map_.low, method.map_.high) == (-1, 1)


def test_fewer_images_than_clusters(
    context: Callable[..., FitContext], fit: Fit, eight_images: VerificationSet
) -> None:
    ctx = context(eight_images)
    method, test = fit(eight_images, FSN(), ctx)
    assert ctx.report["clusters"] == 8
    expected = plain_fsn(eight_images, method.clusters_.centres, 0.05)[0]
    np.testing.assert_allclose(method.predict(test).score, expected, atol=1e-9)


def test_the_range_holds_every_score_there_can_be(fit: Fit, synthetic_set: Callable[..., VerificationSet]) -> None:
    method, _ = fit(synthetic_set("lfw", scale=0.1), FSN(K=30))
    extremes = [s - (a + b) / 2 for s in (-1, 1) for a in method.shift_ for b in method.shift_]
    assert method.map_.low == pytest.approx(min(extremes), abs=1e-12)
    assert method.map_.high == pytest.approx(max(extremes), abs=1e-12)


def test_inside_one_cluster_the_common_threshold_does_what_its_own_did(
    fit: Fit, synthetic_set: Callable[..., VerificationSet]
) -> None:
    data = synthetic_set("rfw", scale=0.05)
    method, _ = fit(data, FSN(K=5))
    view = PairView(PairTable(data), np.flatnonzero(data.fold != 0), method.needs)
    left, right = method.clusters_.of_pairs(view)
    assert method.threshold_ is not None
    score = method.predict(view).score
    for k in range(5):
        inside = (left == k) & (right == k)
        own = view.cosine[inside] >= method.threshold_ + method.shift_[k] - 1e-12
        assert np.array_equal(score[inside] >= method.threshold_ - 1e-12, own)


def test_clusters_are_those_of_faircal(
    context: Callable[..., FitContext], fit: Fit, synthetic_set: Callable[..., VerificationSet]
) -> None:
    data = synthetic_set("rfw", scale=0.02)
    train = np.flatnonzero(data.fold != 0)
    view = PairView(PairTable(data), train, FairCal.needs)
    other = FairCal(K=7).fit(view, data.same[train], context(data)).clusters_
    assert np.array_equal(fit(data, FSN(K=7))[0].clusters_.centres, other.centres)


def test_faircal_leaves_its_clusters_to_fsn(
    context: Callable[..., FitContext],
    fit: Fit,
    synthetic_set: Callable[..., VerificationSet],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = synthetic_set("rfw", scale=0.02)
    train = np.flatnonzero(data.fold != 0)
    without = fit(data, FSN(K=7))
    FairCal(K=7).fit(PairView(PairTable(data), train, FairCal.needs), data.same[train], context(data, tmp_path))
    monkeypatch.setattr(_clusters, "_run_faiss", None)  # nobody may cluster again
    with_cache = fit(data, FSN(K=7), context(data, tmp_path))
    assert np.array_equal(*(method.predict(test).score for method, test in (without, with_cache)))


def test_swapping_left_and_right_changes_nothing(fit: Fit, synthetic_set: Callable[..., VerificationSet]) -> None:
    data = synthetic_set("bfw", scale=0.002)
    swapped = replace(data, pairs=Pairs(data.pairs.right, data.pairs.left))
    one, two = (method.predict(test) for method, test in (fit(d, FSN(K=9)) for d in (data, swapped)))
    assert np.array_equal(one.score, two.score)
    assert np.array_equal(one.probability, two.probability)


def test_the_fit_does_not_see_the_test_fold(
    fit: Fit, synthetic_set: MakeSet, other_test_fold: Callable[[VerificationSet], VerificationSet]
) -> None:
    data = synthetic_set("rfw", scale=0.02)
    one, two = (fit(d, FSN(K=9))[0] for d in (data, other_test_fold(data)))
    assert np.array_equal(one.shift_, two.shift_)
    assert one.map_ == two.map_


def test_a_subset_predicts_as_in_the_whole(fit: Fit, synthetic_set: Callable[..., VerificationSet]) -> None:
    method, test = fit(synthetic_set("bfw", scale=0.002), FSN(K=20))
    whole = method.predict(test).score
    for index in (np.array([3]), np.arange(0, test.n_pairs, 7)):
        assert np.array_equal(method.predict(test.subset(index)).score, whole[index])


@pytest.mark.parametrize("wrong", [{"K": 0}, {"n_init": 0}, {"fpr": 0.0}, {"fpr": 1.0}])
def test_impossible_settings_are_config_errors(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        FSN(**wrong)  # type: ignore[arg-type]
