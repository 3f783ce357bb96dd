"""AC-Cohort against a form that loops over images and pairs, and its cohorts, statistics and mixtures one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fairfr
from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import EmbeddingSet, VerificationSet
from fairfr.methods import ac_cohort
from fairfr.methods._image_statistics import reliability, top_of
from fairfr.methods._strangers import fit_mixture, meet_mixture
from fairfr.methods.ac_cohort import ACCohort
from fairfr.methods.ac_hinge import ACHinge
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

Fit = Callable[..., tuple[Any, PairView]]


@pytest.fixture(scope="module")
def data(make_set: Callable[..., VerificationSet]) -> VerificationSet:
    """Four folds without common people: 135 people with three images each, in 12 dimensions."""
    vectors, pairs, same = faces(135, folds=4)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    made = make_set(unit, *pairs.T, same, pairs[:, 0] // 3 % 4)
    return replace(made, identity=(np.arange(len(vectors)) // 3).astype(np.int32))


def faces(n_people: int = 150, seed: int = 0, folds: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of people with three images each, pairs and labels; a pair's people are of one fold, number modulo folds.

    People and images differ in how near they are to others: some lie towards the first axis.
    """
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), 3)
    centre = rng.normal(size=(n_people, 12)) + np.eye(12)[0] * rng.uniform(0, 3, size=(n_people, 1))
    vectors = centre[person] + 0.6 * rng.normal(size=(3 * n_people, 12))
    image = np.arange(3 * n_people)
    genuine = np.column_stack([image, image // 3 * 3 + (image + 1) % 3])
    steps = rng.integers(1, n_people // folds, size=len(image)) * folds
    stranger = (person + steps) % (n_people // folds * folds)
    impostor = np.column_stack([image, stranger * 3 + image % 3])
    apart = (person != stranger) & (person % folds == stranger % folds)
    pairs = np.concatenate([genuine, impostor[apart]])
    return vectors, pairs, person[pairs[:, 0]] == person[pairs[:, 1]]


def changed(data: VerificationSet, rows: np.ndarray, seed: int = 0) -> VerificationSet:
    """The same set with other vectors for some images."""
    assert data.embeddings is not None
    vectors = data.embeddings.vectors.copy()
    fresh = np.random.default_rng(seed).normal(size=(len(rows), vectors.shape[1]))
    vectors[rows] = fresh / np.linalg.norm(fresh, axis=1, keepdims=True)
    return replace(data, embeddings=EmbeddingSet("other", "0", data.images, vectors))


def images_of(data: VerificationSet, fold: int) -> np.ndarray:
    chosen = data.fold == fold
    return np.union1d(data.pairs.left[chosen], data.pairs.right[chosen])


def plain_logits(data: VerificationSet) -> np.ndarray:
    """The formulas of the card in loops; fitted without fold 0, for the pairs of fold 0."""
    assert data.embeddings is not None
    z = data.embeddings.vectors.astype(np.float64)
    train = data.fold != 0
    folds = np.unique(data.fold[train])
    members = {f: images_of(data, f) for f in folds}
    cohort = np.concatenate(list(members.values()))
    mu, log_sd, ks = np.zeros(len(z)), np.zeros(len(z)), []
    for f in (0, *folds):
        others = cohort if f == 0 else np.concatenate([members[g] for g in folds if g != f])
        for i in images_of(data, f):
            k = max(2, round(0.02 * len(others)))
            top = np.sort([z[i] @ z[j] for j in others])[-k:]
            mu[i], log_sd[i] = np.mean(top), np.log(np.std(top) + 1e-9)
            ks += [k] if f else []
    k, known_mu, known_sd = np.mean(ks), mu[cohort], log_sd[cohort]
    r_mu = max(0, 1 - 2.15 * np.exp(2 * known_sd).mean() / (k * known_mu.var()))
    r_sd = max(0, 1 - 1.22 / (k * known_sd.var()))
    mu, log_sd = known_mu.mean() + r_mu * (mu - known_mu.mean()), known_sd.mean() + r_sd * (log_sd - known_sd.mean())
    mu = np.maximum(mu, np.quantile(mu[cohort], 0.1))
    sd, left, right = np.exp(log_sd), data.pairs.left, data.pairs.right
    s = (z[left] * z[right]).sum(axis=1)
    t = ((s - mu[left]) / sd[left] + (s - mu[right]) / sd[right]) / 2
    level = mu[left] + mu[right]
    t, level = (t - t[train].mean()) / t[train].std(), (level - level[train].mean()) / level[train].std()
    x = (z - z[cohort].mean(axis=0)) / np.sqrt(((z[cohort] - z[cohort].mean(axis=0)) ** 2).sum(axis=1).mean())
    X = np.column_stack([t, np.maximum(t, 0) ** 2, level, (x[left] + x[right]) / 2, np.ones(len(t))])
    penalty = np.array([1e-3, 0.1, 1e-3, *np.ones(z.shape[1]), 0.0])
    theta = plain_newton(X[train], data.same[train], penalty)
    if theta[1] < 0:
        X, penalty = np.delete(X, 1, axis=1), np.delete(penalty, 1)
        theta = plain_newton(X[train], data.same[train], penalty)
    out: np.ndarray = X[~train] @ theta
    return out


def plain_newton(X: np.ndarray, same: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    theta = np.zeros(X.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-X @ theta))
        hessian = (X * (p * (1 - p))[:, None]).T @ X + np.diag(penalty)
        theta = theta - np.linalg.solve(hessian, X.T @ (p - same) + penalty * theta)
    return theta


@pytest.mark.parametrize("bends", [False, True])
def test_equals_the_plain_form(data: VerificationSet, fit: Fit, bends: bool) -> None:
    """Also where some of the least similar pairs are called genuine, so that the logit bends upwards."""
    lowest = np.argsort(PairTable(data).cosine)[:40]
    labelled = replace(data, same=data.same | (bends & np.isin(np.arange(data.n_pairs), lowest)))
    method, test = fit(labelled, ACCohort())
    assert (method.model_.bend > 0) == bends
    assert 0 < method.training_.reliability_mean < 1
    np.testing.assert_allclose(method.predict(test).score, plain_logits(labelled), atol=1e-6)


def statistics(method: ACCohort, data: VerificationSet, rows: np.ndarray) -> np.ndarray:
    """Mean and ln sd that a fitted method gives to some images, (2, n)."""
    assert data.embeddings is not None
    return np.stack(method._statistics(data.embeddings.vectors[rows]))


@pytest.mark.parametrize("most", [5000, 310])
def test_an_image_does_not_meet_its_own_fold(data: VerificationSet, fit: Fit, most: int) -> None:
    """Other vectors for half of a training fold change nothing for the rest of it, in the cohort or not."""
    own = images_of(data, 1)
    moved, kept = own[::2], own[1::2]
    found = [statistics(fit(some, ACCohort(most=most))[0], some, kept) for some in (data, changed(data, moved))]
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def test_test_images_mean_nothing_to_a_fit_nor_to_each_other(data: VerificationSet, fit: Fit) -> None:
    own = images_of(data, 0)
    moved, kept = own[::2], own[1::2]
    one, two = (fit(some, ACCohort())[0] for some in (data, changed(data, moved)))
    np.testing.assert_allclose(statistics(one, data, kept), statistics(two, data, kept), atol=1e-12)
    assert one.model_.context.tobytes() == two.model_.context.tobytes()


def test_training_pairs_are_scored_as_they_were_fitted(data: VerificationSet) -> None:
    """The gradient of the penalised log loss is 0 there, if every training image still meets the other folds only."""
    train = np.flatnonzero(data.fold != 0)
    table = PairTable(data)
    method = ACCohort().fit(PairView(table, train, ACCohort.needs), data.same[train], FitContext(0, "d", "b", "0"))
    probability = method.predict(PairView(table, train, ACCohort.needs)).probability
    assert probability is not None
    assert abs(np.mean(probability - data.same[train])) < 1e-8


def test_without_folds_people_are_dealt_out(data: VerificationSet, fit: Fit) -> None:
    one_fold = replace(data, fold=(data.fold != 0).astype(np.int16))
    ctx = FitContext(0, data.id, data.backbone, "0")
    method, _ = fit(one_fold, ACCohort(), ctx)
    assert ctx.report["cohort_groups"] == "5 groups of people"
    assert set(method.strangers_.group) == set(range(5))
    rows, _ = PairView(PairTable(one_fold), np.flatnonzero(one_fold.fold == 1), ACCohort.needs).images()
    person = data.identity[rows]
    for who in np.unique(person):
        assert len(set(method.strangers_.group[person == who])) == 1


def test_a_fold_with_nearly_all_images_does_not_count_as_one(data: VerificationSet, fit: Fit) -> None:
    few = np.isin(data.pairs.left, [3, 4, 5]) & data.same
    lopsided = replace(data, fold=np.where(data.fold == 0, 0, np.where(few, 2, 1)).astype(np.int16))
    ctx = FitContext(0, data.id, data.backbone, "0")
    fit(lopsided, ACCohort(), ctx)
    assert ctx.report["cohort_groups"] == "5 groups of people"


def test_images_in_several_folds_are_warned_of(
    data: VerificationSet, fit: Fit, caplog: pytest.LogCaptureFixture
) -> None:
    mixed = replace(data, fold=(np.arange(data.n_pairs) % 4).astype(np.int16))
    fit(mixed, ACCohort())
    assert "are in pairs of several folds" in caplog.text


def test_a_small_cohort_is_ac_hinge(data: VerificationSet, fit: Fit) -> None:
    ctx = FitContext(0, data.id, data.backbone, "0")
    method, test = fit(data, ACCohort(most=299), ctx)
    hinge, _ = fit(data, ACHinge())
    assert ctx.report["fallback"] == "AC-Hinge, as the cohort has fewer than 300 images"
    np.testing.assert_allclose(method.predict(test).score, hinge.predict(test).score, atol=1e-9)
    assert method.unlike_training() == (0, len(test.images()[0]))
    enough = FitContext(0, data.id, data.backbone, "0")
    fit(data, ACCohort(most=300), enough)
    assert "fallback" not in enough.report


def test_equal_statistics_are_ac_hinge(data: VerificationSet, fit: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ac_cohort, "meet", lambda images, *_: (np.full(len(images), 0.3), np.full(len(images), -2.0)))
    method, test = fit(data, ACCohort())
    hinge, _ = fit(data, ACHinge())
    np.testing.assert_allclose(method.predict(test).score, hinge.predict(test).score, atol=1e-6)


@pytest.mark.parametrize("answer", [False, True])
def test_pairs_of_one_kind_have_their_base_rate(data: VerificationSet, fit: Fit, answer: bool) -> None:
    method, test = fit(replace(data, same=np.full(data.n_pairs, answer)), ACCohort())
    probability = method.predict(test).probability
    np.testing.assert_allclose(probability, float(answer), atol=1e-9)


@pytest.mark.parametrize("keep", ["vectors", "mixture"])
def test_the_more_similar_the_likelier(data: VerificationSet, fit: Fit, keep: ac_cohort.Keep) -> None:
    """For the same two images."""
    method, _ = fit(data, ACCohort(keep=keep))
    assert method.model_.slope > 0
    assert method.model_.bend >= 0
    scores = []
    for cosine in (-0.5, 0.0, 0.5, 0.9):
        table = PairTable(replace(data, cosine=np.full(data.n_pairs, cosine)))
        scores.append(method.predict(PairView(table, np.flatnonzero(data.fold == 0), method.needs)).score)
    assert (np.diff(scores, axis=0) > 0).all()


def test_the_cohort_has_a_limit_and_a_seed(data: VerificationSet, fit: Fit) -> None:
    def drawn(seed: int) -> np.ndarray:
        method, _ = fit(data, ACCohort(most=301), FitContext(seed, "d", "b", "0"))
        cohort: np.ndarray = method.strangers_.vectors
        return cohort

    assert len(drawn(0)) == 301
    assert drawn(0).tobytes() == drawn(0).tobytes() != drawn(1).tobytes()


# -- statistics --------------------------------------------------------------------------------------------------------


def test_statistics_follow_the_scale_of_cosines() -> None:
    """s -> 2 s + 1 on all cosines: (s - mu) / sd stays as it is."""
    cosine = np.random.default_rng(0).normal(size=(5, 1000)) * 0.1
    mu, log_sd = top_of(cosine, 0.02)
    scaled_mu, scaled_log_sd = top_of(2 * cosine + 1, 0.02)
    np.testing.assert_allclose((0.3 - mu) / np.exp(log_sd), (1.6 - scaled_mu) / np.exp(scaled_log_sd), atol=1e-4)


def test_reliability_is_a_share_and_grows_with_the_number() -> None:
    rng = np.random.default_rng(0)
    mu, log_sd = rng.normal(0.5, 0.02, 500), rng.normal(-3, 0.3, 500)
    shares = np.array([reliability(mu, log_sd, k) for k in (1, 10, 100, 1e9)])
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (np.diff(shares, axis=0) >= 0).all()
    np.testing.assert_allclose(shares[-1], 1, atol=1e-6)
    assert reliability(np.full(9, 0.5), np.full(9, -3.0), 10) == (0.0, 0.0)


def test_reliability_is_that_of_two_halves() -> None:
    """Images whose true statistics differ: the correlation between halves of the cohort, taken to full length."""
    rng = np.random.default_rng(0)
    centre, spread = rng.normal(0, 0.3, 600), np.exp(rng.normal(0, 0.3, 600))
    cosine = centre[:, None] + spread[:, None] * rng.normal(size=(600, 4000))
    mu, log_sd = top_of(cosine, 0.02)
    halves = [top_of(cosine[:, part::2], 0.02) for part in (0, 1)]
    for at, found in enumerate(reliability(mu, log_sd, 80)):
        r = np.corrcoef(halves[0][at], halves[1][at])[0, 1]
        assert found == pytest.approx(2 * r / (1 + r), abs=0.05)


# -- mixtures ----------------------------------------------------------------------------------------------------------


def test_one_normal_distribution_has_the_tail_of_the_books() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6)) / 10
    mixture = {"weights": np.ones(1), "means": rng.normal(size=(1, 6)), "covariance": root @ root.T}
    z = rng.normal(size=(4, 6)).astype(np.float32)
    mu, log_sd = meet_mixture(z, mixture, 0.02)
    wide = z.astype(np.float64)
    r = np.sqrt(np.einsum("ij,jk,ik->i", wide, mixture["covariance"], wide))
    np.testing.assert_allclose(mu, wide @ mixture["means"][0] + 2.4209 * r, atol=1e-4)
    np.testing.assert_allclose(np.exp(log_sd), 0.3334 * r, rtol=1e-3)


def test_a_mixture_is_as_its_own_sample() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 8))
    sample = np.concatenate([c + 0.2 * rng.normal(size=(4000, 8)) for c in centres]).astype(np.float32)
    mixture = fit_mixture(sample, 0)
    z = rng.normal(size=(20, 8)).astype(np.float32)
    exact = top_of(z.astype(np.float64) @ sample.T.astype(np.float64), 0.02)
    found = meet_mixture(z, mixture, 0.02)
    np.testing.assert_allclose(found[0], exact[0], atol=0.1)
    np.testing.assert_allclose(found[1], exact[1], atol=0.35)


def test_small_clusters_are_dissolved() -> None:
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(190, 3)) * 0.01, rng.normal(size=(10, 3)) * 0.01 + 5
    mixture = fit_mixture(np.concatenate([near, far]).astype(np.float32), 0)
    assert (mixture["weights"] * 200 >= 20).all()
    assert mixture["weights"].sum() == pytest.approx(1)


# -- other images ------------------------------------------------------------------------------------------------------


def test_an_external_cohort_is_what_is_met() -> None:
    vectors, pairs, same = faces()
    others, _, _ = faces(seed=1)
    model = fairfr.ACCohort(cohort="external").fit(vectors, pairs, same, cohort=np.concatenate([others, vectors[:50]]))
    assert model.report_["cohort"] == len(others), "images of the pairs are left out"
    assert model.holds_["face_vectors"] == len(others)
    both = fairfr.ACCohort(cohort="both").fit(vectors, pairs, same, cohort=others)
    assert both.report_["cohort"] == len(others) + len(vectors)


def test_a_mixture_has_no_face() -> None:
    model = fairfr.ACCohort(keep="mixture").fit(*faces())
    assert model.holds_["face_vectors"] == 0
    assert np.isfinite(model.probability(*faces(seed=2)[:2])).all()


def test_a_cohort_and_its_option_belong_together() -> None:
    vectors, pairs, same = faces()
    with pytest.raises(ConfigError, match="needs a cohort of other images"):
        fairfr.ACCohort(cohort="external").fit(vectors, pairs, same)
    with pytest.raises(ConfigError, match="takes the training images"):
        fairfr.ACCohort().fit(vectors, pairs, same, cohort=vectors)
    with pytest.raises(ConfigError, match="vectors of width 3"):
        fairfr.ACCohort(cohort="both").fit(vectors, pairs, same, cohort=vectors[:, :3])
    with pytest.raises(ConfigError, match="takes no cohort"):
        fairfr.ACHinge().fit(vectors, pairs, same, cohort=vectors)


@pytest.mark.parametrize("options", [{"share": 0.0}, {"share": 1.5}, {"floor": -0.1}, {"floor": 2.0}, {"most": 0}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"method\.estimator\."):
        ACCohort(**options)


# -- images unlike those of training -----------------------------------------------------------------------------------


def test_images_unlike_those_of_training_are_counted_and_warned_of() -> None:
    vectors, pairs, same = faces()
    model = fairfr.ACCohort().fit(vectors, pairs, same)
    model.probability(vectors, pairs)
    assert model.unlike_training_ is not None
    assert model.unlike_training_.images == len(vectors)
    assert 0 < model.unlike_training_.unlike <= 4 * np.ceil(0.005 * len(vectors)), "at both ends of two statistics"
    apart, new_pairs, _ = faces(seed=3)
    with pytest.warns(UserWarning, match="unlabelled images of these people in the cohort"):
        model.probability(0.3 * apart + vectors[:1], new_pairs)
    assert model.unlike_training_.share > 0.05


def test_few_images_are_not_warned_of() -> None:
    vectors, pairs, same = faces()
    model = fairfr.ACCohort().fit(vectors, pairs, same)
    few, few_pairs, _ = faces(n_people=5, seed=3)
    model.probability(0.1 * few + vectors[:1], few_pairs)
    assert model.unlike_training_.share > 0.05


def test_people_are_asked_for_in_training_only() -> None:
    vectors, pairs, same = faces()
    model = fairfr.ACCohort().fit(vectors, pairs, same, identities=np.arange(len(vectors)) // 3)
    assert not model.asks_for_people
    assert fairfr.DemoNorm().asks_for_people
    assert fairfr.ACHinge().fit(vectors, pairs, same).unlike_training_ is None
