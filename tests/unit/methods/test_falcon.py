"""FALCON against scikit-learn's KernelRidge and a plain loop over images."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import EmbeddingSet, Pairs, VerificationSet
from fairfr.methods import _kernel_ridge
from fairfr.methods._kernel_ridge import fit_kernel_ridge
from fairfr.methods._labels import resolve_identities
from fairfr.methods.baseline import Baseline
from fairfr.methods.falcon import Falcon, impostor_rank, local_thresholds
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView


def make_set(vectors, identity, left, right, same=None):
    identity = np.asarray(identity, np.int32)
    left, right = np.asarray(left, np.int32), np.asarray(right, np.int32)
    return VerificationSet(
        id="toy",
        source="synthetic",
        backbone="net",
        digest="0",
        images=np.arange(len(vectors)).astype(str),
        identity=identity,
        pairs=Pairs(left, right),
        same=identity[left] == identity[right] if same is None else np.asarray(same, bool),
        fold=np.zeros(len(left), np.int16),
        fold_labels=("1",),
        groupings={},
        grouping=None,
        embeddings=EmbeddingSet("net", "0", np.arange(len(vectors)).astype(str), vectors),
    )


def view_of(data, method=Falcon, rows=None):
    rows = np.arange(data.n_pairs) if rows is None else rows
    return PairView(PairTable(data), rows, method.needs, method.__name__)


def context(backbone="net"):
    return FitContext(seed=0, dataset="toy", backbone=backbone, fold="1")


def unit_rows(rng, n, d=16):
    vectors = rng.standard_normal((n, d)) + 0.5
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def faces():
    """60 images of 20 people, 200 pairs, some of them genuine."""
    rng = np.random.default_rng(3)
    vectors = unit_rows(rng, 60)
    identity = np.repeat(np.arange(20), 3)
    left, right = rng.integers(0, 60, (2, 200))
    right[:80] = left[:80] // 3 * 3 + (left[:80] + 1) % 3
    keep = left != right
    return make_set(vectors, identity, left[keep], right[keep])


def thresholds_by_loop(vectors, identity, fmr):
    vectors = vectors.astype(np.float64)
    out = []
    for i in range(len(vectors)):
        strangers = sorted(
            (float(vectors[i] @ z) for z, who in zip(vectors, identity, strict=True) if who != identity[i])
        )[::-1]
        distance = [abs(k / len(strangers) - fmr) for k in range(1, len(strangers) + 1)]
        out.append(strangers[int(np.argmin(distance))])
    return np.array(out)


@pytest.mark.parametrize("fmr", [1e-3, 0.08, 0.3, 1.0])
def test_local_thresholds_equal_a_loop_over_images(faces, fmr):
    vectors = faces.embeddings.vectors
    found, _ = local_thresholds(vectors, faces.identity, np.arange(60), fmr)
    np.testing.assert_allclose(found, thresholds_by_loop(vectors, faces.identity, fmr), atol=1e-6)


def test_thresholds_are_exact_where_float32_is_and_count_tied_cosines_one_by_one(monkeypatch):
    # entries of +-1/4 in 16 dimensions: unit rows whose cosines are multiples of 1/8, so ties abound
    rng = np.random.default_rng(0)
    vectors = (rng.choice([-0.25, 0.25], (90, 16))).astype(np.float32)
    identity = rng.integers(0, 25, 90).astype(np.int32)
    monkeypatch.setattr("fairfr.methods.falcon.ROW_BLOCK", 7)
    chosen = np.array([3, 4, 50, 60, 61, 62, 63, 64, 65, 89])
    found, _ = local_thresholds(vectors, identity, chosen, 0.1)
    np.testing.assert_array_equal(found, thresholds_by_loop(vectors, identity, 0.1)[chosen])


def test_rank_is_the_nearest_whole_number_the_smaller_of_two_and_at_least_one():
    strangers = np.array([0, 1, 499, 500, 501, 1499, 1500, 1501, 2500, 4500, 7500, 36_400])
    expected = [0, 1, 1, 1, 1, 1, 1, 2, 2, 4, 7, 36]
    assert impostor_rank(1e-3, strangers).tolist() == expected
    # 0.07 * 50 is 3.5000000000000004 in floating point, and a tie all the same
    assert impostor_rank(0.07, np.array([50])).tolist() == [3]


KERNELS = {
    "linear": {"kernel": "linear"},
    "poly2": {"kernel": "poly", "degree": 2},
    "poly3": {"kernel": "poly", "degree": 3},
    "rbf": {"kernel": "rbf"},
}


@pytest.mark.parametrize("gamma", [None, 1.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_ridge_equals_scikit_learn(kernel, gamma, monkeypatch):
    monkeypatch.setattr(_kernel_ridge, "BLOCK", 33)
    rng = np.random.default_rng(1)
    train, test = unit_rows(rng, 150, 24), unit_rows(rng, 70, 24)
    target = 0.3 + 0.1 * np.tanh(3 * train[:, 0] + train[:, 1]) + 0.01 * rng.standard_normal(150)
    oracle = KernelRidge(alpha=1e-4, gamma=gamma, coef0=1, **KERNELS[kernel]).fit(train.astype(float), target)
    model, fitted = fit_kernel_ridge(train, target, kernel, 1e-4, 1 / 24 if gamma is None else gamma)
    np.testing.assert_allclose(model.value(test), oracle.predict(test.astype(float)), atol=1e-8)
    np.testing.assert_allclose(fitted, oracle.predict(train.astype(float)), atol=1e-8)


@pytest.mark.parametrize("fmr", [1e-3, 0.08, 0.9])
def test_thresholds_are_of_float64_also_where_float32_cannot_tell_strangers_apart(fmr):
    rng = np.random.default_rng(6)
    vectors = unit_rows(rng, 1, 32) + (1e-7 * rng.standard_normal((300, 32))).astype(np.float32)
    identity = rng.integers(0, 40, 300).astype(np.int32)
    found, _ = local_thresholds(vectors, identity, np.arange(300), fmr)
    np.testing.assert_allclose(found, thresholds_by_loop(vectors, identity, fmr), rtol=0, atol=1e-14)


def test_cubic_term_is_in_float32_only_where_that_cannot_be_seen():
    rng = np.random.default_rng(2)
    vectors = unit_rows(rng, 80, 64)
    target = rng.standard_normal(80)
    single, _ = fit_kernel_ridge(vectors, 1e-3 * target, "poly3", 1e-1, 1 / 64)
    double, _ = fit_kernel_ridge(vectors, target, "poly3", 1e-4, 1.0)
    assert single.cubic.dtype == np.float32
    assert double.cubic.dtype == np.float64


def test_scores_equal_the_formula_on_plain_thresholds(faces):
    ctx = context()
    method = Falcon(fmr=0.08).fit(view_of(faces), faces.same, ctx)
    used = np.unique(np.concatenate([faces.pairs.left, faces.pairs.right]))
    vectors = faces.embeddings.vectors[used]
    target = thresholds_by_loop(vectors, faces.identity[used], 0.08)
    oracle = KernelRidge(kernel="poly", degree=3, coef0=1, alpha=1e-4).fit(vectors.astype(float), target)
    t = oracle.predict(faces.embeddings.vectors.astype(float))
    left, right = faces.pairs.left, faces.pairs.right
    cosine = view_of(faces).cosine
    prediction = method.predict(view_of(faces))
    assert prediction.probability is None
    np.testing.assert_allclose(prediction.score, 0.75 * cosine + 0.25 * (1 - t[left] - t[right]), atol=1e-5)
    legacy = Falcon(fmr=0.08, form="legacy").fit(view_of(faces), faces.same, context()).predict(view_of(faces))
    np.testing.assert_allclose(legacy.score, cosine - (t[left] + t[right]) / 2, atol=1e-5)
    assert ctx.report["images"] == len(used)
    assert ctx.report["identities_derived"] == 0


def test_omega_one_is_the_baseline(faces):
    method = Falcon(omega=1.0).fit(view_of(faces), faces.same, context())
    np.testing.assert_array_equal(method.predict(view_of(faces)).score, Baseline().predict(view_of(faces)).score)


def test_omega_two_thirds_ranks_pairs_as_the_legacy_form_does(faces):
    scores = [
        Falcon(omega=2 / 3, form=form).fit(view_of(faces), faces.same, context()).predict(view_of(faces)).score
        for form in ("weighted", "legacy")
    ]
    np.testing.assert_allclose(1.5 * scores[0] - 0.5, scores[1], atol=1e-12)


def test_fit_draws_at_most_max_images_and_the_same_ones_each_time(faces):
    def score(**changed):
        method = Falcon(max_images=25).fit(view_of(faces), faces.same, changed.pop("ctx", context()))
        return method.predict(view_of(faces)).score

    ctx = context()
    first = score(ctx=ctx)
    assert ctx.report["images"] == 25
    np.testing.assert_array_equal(first, score())
    other = FitContext(seed=1, dataset="toy", backbone="net", fold="1")
    assert np.abs(first - score(ctx=other)).max() > 0


def test_thresholds_look_at_all_training_images_though_few_are_drawn(faces):
    ctx, whole = context(), context()
    Falcon(max_images=10, fmr=0.08).fit(view_of(faces), faces.same, ctx)
    Falcon(fmr=0.08).fit(view_of(faces), faces.same, whole)
    assert ctx.report["rank"] == whole.report["rank"]


def test_a_subset_predicts_as_in_the_whole_and_swapping_changes_nothing(faces):
    method = Falcon().fit(view_of(faces), faces.same, context())
    whole = method.predict(view_of(faces)).score
    rows = np.array([5, 17, 40])
    np.testing.assert_allclose(method.predict(view_of(faces, rows=rows)).score, whole[rows], atol=1e-12)
    swapped = make_set(faces.embeddings.vectors, faces.identity, faces.pairs.right, faces.pairs.left)
    np.testing.assert_array_equal(method.predict(view_of(swapped)).score, whole)


def test_two_people_give_ranks_of_one():
    vectors = unit_rows(np.random.default_rng(5), 4)
    data = make_set(vectors, [0, 0, 1, 1], [0, 2, 0], [1, 3, 2])
    ctx = context()
    score = Falcon().fit(view_of(data), data.same, ctx).predict(view_of(data)).score
    assert np.isfinite(score).all()
    assert ctx.report["rank"] == [1, 1]


def test_one_person_alone_leaves_the_ranking_of_the_baseline():
    vectors = unit_rows(np.random.default_rng(6), 4)
    data = make_set(vectors, [7, 7, 7, 7], [0, 1, 2], [1, 2, 3])
    ctx = context()
    score = Falcon().fit(view_of(data), data.same, ctx).predict(view_of(data)).score
    np.testing.assert_allclose(score, 0.75 * view_of(data).cosine + 0.25, atol=1e-15)
    assert ctx.report["without_strangers"] == 4
    assert ctx.report["images"] == 0


def test_unknown_identities_come_from_genuine_training_pairs():
    # genuine: 0-1, 1-2 (one person), 3-4 (4 is known as 9); 5 and 6 only in impostor pairs; 7 in no pair
    left, right, same = [0, 1, 3, 0, 5], [1, 2, 4, 5, 6], [1, 1, 1, 0, 0]
    known = [-1, -1, -1, -1, 9, -1, 3, -1]
    data = make_set(unit_rows(np.random.default_rng(7), 8), known, left, right, same)
    ctx = context()
    found = resolve_identities(view_of(data), data.same, ctx)
    assert found[0] == found[1] == found[2]
    assert found[3] == found[4]
    assert len({found[0], found[3], found[5], found[6], found[7]}) == 5
    assert found.min() >= 0
    assert ctx.report["identities_derived"] == 5


def test_identities_derived_from_all_genuine_pairs_score_as_the_true_ones(faces):
    everyone = faces.identity
    left, right = np.triu_indices(60, 1)
    true = make_set(faces.embeddings.vectors, everyone, left, right)
    blank = make_set(faces.embeddings.vectors, np.full(60, -1), left, right, true.same)
    ctx = context()
    scores = [Falcon(fmr=0.05).fit(view_of(d), d.same, ctx).predict(view_of(d)).score for d in (true, blank)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert ctx.report["identities_derived"] == 60


def test_source_preset_follows_the_backbone(faces):
    def score(backbone, **options):
        return Falcon(**options).fit(view_of(faces), faces.same, context(backbone)).predict(view_of(faces)).score

    np.testing.assert_array_equal(score("facenet", preset="source"), score("facenet", kernel="linear", ridge=0.1))
    np.testing.assert_array_equal(score("arcface_r100", preset="source"), score("arcface_r100", ridge=1e-6))
    with pytest.raises(ConfigError, match="not 'adaface'"):
        score("adaface", preset="source")


@pytest.mark.parametrize("options", [{"fmr": 0.0}, {"fmr": 1.5}, {"omega": 1.1}, {"ridge": 0.0}, {"gamma": -1.0}])
def test_impossible_settings_are_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        Falcon(**options)
