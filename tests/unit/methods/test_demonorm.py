"""DemoNorm against loops over pairs and cohort images, its laws, and every fall-back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError, UndeclaredInputError, UnmetNeedError
from fairfr.core.types import Grouping, Pairs, VerificationSet
from fairfr.methods._impostor_statistics import Cohort, draw_cohort
from fairfr.methods._labels import resolve_identities
from fairfr.methods.demonorm import PEOPLE_PER_GROUP, DemoNorm, DemoNormGroup
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]
Report = dict[str, object]
COHORT_VARIANTS = ["M1", "M1.1", "M1.2", "M2", "M2.1", "M2.2"]


def run(
    data: VerificationSet, method: DemoNorm | DemoNormGroup, train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, Report]:
    table = PairTable(data)
    ctx = FitContext(0, data.id, data.backbone, "0", grouping=data.grouping)
    method.fit(PairView(table, train, method.needs, "DemoNorm"), data.same[train], ctx)
    prediction = method.predict(PairView(table, test, method.needs, "DemoNorm"))
    assert prediction.probability is None
    return prediction.score, ctx.report


def halves(data: VerificationSet) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(data.n_pairs)
    return rows[data.fold != 0], rows[data.fold == 0]


@pytest.fixture(scope="module")
def people(make_set: MakeSet) -> VerificationSet:
    """300 people in three groups with three images each; 1,500 pairs, many across groups, in two folds."""
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1, 2], [120, 100, 80])
    own = rng.standard_normal((300, 24)) + rng.standard_normal((3, 24))[group] * [[0.4]] * (1 + group[:, None])
    identity = np.repeat(np.arange(300), 3)
    vectors = own[identity] + 0.8 * rng.standard_normal((900, 24))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left, right = rng.integers(0, 900, (2, 1500))
    genuine = rng.random(1500) < 0.4
    right[genuine] = left[genuine] // 3 * 3 + (left[genuine] + 1) % 3
    keep = left != right
    left, right = left[keep], right[keep]
    data = make_set(vectors, left, right, identity[left] == identity[right], np.arange(len(left)) % 2)
    codes = group[identity].astype(np.int16)
    return replace(
        data,
        identity=identity.astype(np.int32),
        groupings={"g": Grouping("g", ("a", "b", "c"), codes)},
        grouping="g",
    )


def with_groups(data: VerificationSet, codes: np.ndarray) -> VerificationSet:
    return replace(data, groupings={"g": Grouping("g", ("a", "b", "c"), codes.astype(np.int16))})


def plain_cohorts(data: VerificationSet, method: DemoNorm, train: np.ndarray) -> dict[int, list[int]]:
    """The images that the method drew, found by their vectors."""
    vectors = data.embeddings.vectors.astype(np.float64)
    used = set(data.pairs.left[train].tolist()) | set(data.pairs.right[train].tolist())
    images = {vectors[i].tobytes(): i for i in used}
    return {g: [images[row.tobytes()] for row in cohort.vectors] for g, cohort in enumerate(method.cohorts_)}


def plain_scores(
    data: VerificationSet, variant: str, cohorts: dict[int, list[int]], train: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """Each pair's own list of cohort cosines, one at a time."""
    vectors, codes = data.embeddings.vectors.astype(np.float64), data.groupings["g"].codes
    ends = (data.pairs.left, data.pairs.right) if variant.startswith("M1") else (data.pairs.right, data.pairs.left)

    def against(image: int, cohort: list[int]) -> list[float]:
        return [float(vectors[image] @ vectors[c]) for c in cohort if data.identity[c] != data.identity[image]]

    out = []
    pooled: dict[int, list[float]] = {}
    for row in test:
        image, other = int(ends[0][row]), int(ends[1][row])
        own = int(codes[image])
        if variant.endswith(".1"):
            scores = against(image, cohorts[int(codes[other])])
        elif variant.endswith(".2"):
            if own not in pooled:
                members = {int(i) for i in ends[0][train] if codes[i] == own}
                pooled[own] = [score for i in members for score in against(i, cohorts[own])]
            scores = pooled[own]
        else:
            scores = [score for cohort in cohorts.values() for score in against(image, cohort)]
        pair = float(vectors[image] @ vectors[other])
        out.append((pair - np.mean(scores)) / np.std(scores, ddof=1))
    return np.array(out)


@pytest.mark.parametrize("people_per_group", [None, 30])
@pytest.mark.parametrize("variant", COHORT_VARIANTS)
def test_agrees_with_loops_over_the_cohort(people: VerificationSet, variant: str, people_per_group: int | None) -> None:
    train, test = halves(people)
    method = DemoNorm(variant=variant, people=people_per_group)
    score, report = run(people, method, train, test)
    cohorts = plain_cohorts(people, method, train)
    np.testing.assert_allclose(score, plain_scores(people, variant, cohorts, train, test), rtol=0, atol=1e-9)
    assert report["train_pairs_by_group_statistics"] == 0
    assert report["identities"] == "metadata"


def test_training_pairs_score_the_same_when_they_are_asked_for_again(people: VerificationSet) -> None:
    train, _ = halves(people)
    method = DemoNorm()
    score, _ = run(people, method, train, train)
    expected = plain_scores(people, "M1.1", plain_cohorts(people, method, train), train, train)
    np.testing.assert_allclose(score, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", COHORT_VARIANTS)
def test_cohort_is_drawn_from_training_images_one_for_each_person(people: VerificationSet, variant: str) -> None:
    train, test = halves(people)
    method = DemoNorm(variant=variant)
    _, report = run(people, method, train, test)
    cohorts = plain_cohorts(people, method, train)  # a KeyError would be an image from outside
    used = np.unique(np.concatenate([people.pairs.left[train], people.pairs.right[train]]))
    for g, cohort in cohorts.items():
        assert (people.groupings["g"].codes[cohort] == g).all()
        identities = people.identity[cohort]
        present = len(np.unique(people.identity[used[people.groupings["g"].codes[used] == g]]))
        assert len(np.unique(identities)) == len(identities) == min(present, PEOPLE_PER_GROUP[variant])
        assert report["cohort"]["abc"[g]] == len(cohort)


def test_every_person_and_image_is_equally_likely_to_be_drawn() -> None:
    identity = np.array([7, 7, 7, 7, 1, 2], dtype=np.int32)  # who has more images must not come more often
    vectors = np.eye(6, dtype=np.float32)
    rng = np.random.default_rng(0)
    drawn = np.zeros(6)
    for _ in range(3000):
        drawn += draw_cohort(vectors, identity, 1, rng).vectors[0]
    np.testing.assert_allclose(drawn / 3000, [1 / 12] * 4 + [1 / 3] * 2, atol=0.03)


def test_moments_do_not_depend_on_the_cohort_being_wider_than_the_vectors() -> None:
    rng = np.random.default_rng(1)
    images = rng.standard_normal((5000, 4)).astype(np.float32)  # more than one block
    for k in (1, 2, 4, 9):
        cohort = rng.standard_normal((k, 4)).astype(np.float32)
        moments = Cohort.of(np.arange(k, dtype=np.int32), cohort).moments(images, np.full(5000, -7, dtype=np.int32))
        dense = images.astype(np.float64) @ cohort.astype(np.float64).T
        np.testing.assert_allclose(moments.mean, dense.mean(axis=1), atol=1e-12)
        expected = dense.std(axis=1, ddof=1) if k > 1 else np.zeros(5000)
        np.testing.assert_allclose(moments.sd, expected, atol=1e-7 if k == 1 else 1e-12)


def test_two_runs_with_one_seed_are_equal_and_other_folds_draw_others(people: VerificationSet) -> None:
    train, test = halves(people)
    method, again = DemoNorm(people=30), DemoNorm(people=30)
    np.testing.assert_array_equal(run(people, method, train, test)[0], run(people, again, train, test)[0])
    ctx = FitContext(0, people.id, people.backbone, "1", grouping="g")
    other = DemoNorm(people=30).fit(PairView(PairTable(people), train, method.needs), people.same[train], ctx)
    assert not np.array_equal(other.cohorts_[0].vectors, method.cohorts_[0].vectors)


def test_m11_ranks_anew_inside_a_group_and_group_does_not(synthetic_set: MakeSet) -> None:
    data = synthetic_set("rfw", scale=0.08)
    train, test = halves(data)
    cohort, _ = run(data, DemoNorm(), train, test)
    cosine, same = PairTable(data).cosine[test], data.same[test]
    codes = data.groupings[data.grouping].of(data.pairs, "both")[test]
    moved = 0.0
    for g in range(4):
        inside = codes == g
        baseline = roc_auc_score(same[inside], cosine[inside])
        for variant in ("group", "M4", "M5"):
            score, _ = run(data, DemoNormGroup(variant=variant), train, test)
            assert roc_auc_score(same[inside], score[inside]) == pytest.approx(baseline, abs=1e-12)
        moved = max(moved, abs(roc_auc_score(same[inside], cohort[inside]) - baseline))
    assert moved > 1e-4


def plain_group(data: VerificationSet, variant: str, train: np.ndarray, test: np.ndarray, rule: str) -> np.ndarray:
    cosine, codes = PairTable(data).cosine, data.groupings[data.grouping].codes

    def group_of(row: int) -> int | None:
        left, right = codes[data.pairs.left[row]], codes[data.pairs.right[row]]
        return int(left) if rule == "first" or left == right else None

    out = []
    for row in test:
        group = group_of(row)
        inside = [r for r in train if group is None or group_of(r) == group]
        genuine = cosine[[r for r in inside if data.same[r]]]
        impostor = cosine[[r for r in inside if not data.same[r]]]
        below = norm.cdf(cosine[row], impostor.mean(), impostor.std(ddof=1))
        if variant == "group":
            out.append((cosine[row] - impostor.mean()) / impostor.std(ddof=1))
        elif variant == "M5":
            out.append(norm.cdf(cosine[row], genuine.mean(), genuine.std(ddof=1)) - 1 + below)
        else:
            model = LogisticRegression(class_weight="balanced").fit(cosine[inside][:, None], data.same[inside])
            out.append(model.predict_proba([[cosine[row]]])[0, 1])
    return np.array(out)


@pytest.mark.parametrize("rule", ["first", "both"])
@pytest.mark.parametrize("variant", ["group", "M4", "M5"])
def test_group_variants_agree_with_plain_implementations(people: VerificationSet, variant: str, rule: str) -> None:
    train, test = halves(people)
    test = test[:150]  # pairs across groups among them
    score, report = run(people, DemoNormGroup(variant=variant, rule=rule), train, test)
    np.testing.assert_allclose(score, plain_group(people, variant, train, test, rule), rtol=0, atol=1e-9)
    assert report["groups_by_global_statistics"] == 0


@pytest.mark.parametrize("variant", COHORT_VARIANTS)
def test_small_cohort_falls_back_to_group_statistics(people: VerificationSet, variant: str) -> None:
    train, test = halves(people)
    end = people.pairs.left if variant.startswith("M1") else people.pairs.right
    size = 6 if variant in ("M1", "M2") else 19  # three cohorts of six are 18 scores
    score, report = run(people, DemoNorm(variant=variant, people=size), train, test)
    if variant.endswith(".2"):  # pooled over many images, 19 people give scores enough
        assert report["train_pairs_by_group_statistics"] == 0
        return
    turned = replace(people, pairs=Pairs(end, people.pairs.right if variant.startswith("M1") else people.pairs.left))
    expected, _ = run(turned, DemoNormGroup(), train, test)
    np.testing.assert_allclose(score, expected, rtol=0, atol=1e-9)
    assert report["train_pairs_by_group_statistics"] == len(train)


def test_twenty_strangers_are_enough(people: VerificationSet) -> None:
    train, test = halves(people)
    method = DemoNorm(people=20)
    _, report = run(people, method, train, test)
    cohorts = plain_cohorts(people, method, train)
    codes = people.groupings["g"].codes
    own = sum(
        people.identity[people.pairs.left[row]] in people.identity[cohorts[int(codes[people.pairs.right[row]])]]
        for row in train
    )
    # only references who are in the cohort themselves are left with 19
    assert 0 < report["train_pairs_by_group_statistics"] == own < len(train)


def test_cohort_without_variance_falls_back_to_group_statistics(people: VerificationSet) -> None:
    train, test = halves(people)
    vectors = people.embeddings.vectors.copy()
    crowd = people.groupings["g"].codes == 1
    vectors[crowd] = vectors[0]  # all of group b look alike: sigma is 0 for whoever meets them
    data = replace(people, embeddings=replace(people.embeddings, vectors=vectors))
    score, report = run(data, DemoNorm(), train, test)
    probe = crowd[data.pairs.right[test]]
    expected, _ = run(data, DemoNormGroup(), train, test)
    np.testing.assert_allclose(score[probe], expected[probe], rtol=0, atol=1e-9)
    assert report["train_pairs_by_group_statistics"] == np.count_nonzero(crowd[data.pairs.right[train]])


def test_group_without_variance_falls_back_to_the_statistics_of_all_pairs(people: VerificationSet) -> None:
    train, test = halves(people)
    vectors = people.embeddings.vectors.copy()
    crowd = people.groupings["g"].codes == 1
    vectors[crowd] = vectors[0]
    data = replace(people, embeddings=replace(people.embeddings, vectors=vectors))
    score, report = run(data, DemoNormGroup(rule="both"), train, test)
    # inside group b every impostor pair has cosine 1
    assert report["groups_by_global_statistics_names"] == ["b"]
    impostor = PairTable(data).cosine[train[~data.same[train]]]
    inside = crowd[data.pairs.left[test]] & crowd[data.pairs.right[test]]
    np.testing.assert_allclose(score[inside], (1 - impostor.mean()) / impostor.std(ddof=1), atol=1e-5)


def test_unknown_group_of_the_probe_falls_back_to_the_reference_group(people: VerificationSet) -> None:
    codes = people.groupings["g"].codes.copy()
    codes[::7] = -1
    data = with_groups(people, codes)
    train, test = halves(data)
    score, report = run(data, DemoNorm(), train, test)
    expected, _ = run(data, DemoNormGroup(), train, test)
    unknown = codes[data.pairs.right[test]] == -1
    np.testing.assert_allclose(score[unknown], expected[unknown], rtol=0, atol=1e-9)
    assert not np.allclose(score[~unknown], expected[~unknown])
    assert report["train_pairs_by_group_statistics"] == np.count_nonzero(codes[data.pairs.right[train]] == -1)


@pytest.mark.parametrize("variant", ["M1.2", "M2.2"])
def test_pooled_variants_have_nothing_for_an_unknown_group(people: VerificationSet, variant: str) -> None:
    data = with_groups(people, np.where(np.arange(900) % 7 == 0, -1, people.groupings["g"].codes))
    train, test = halves(data)
    end = data.pairs.left if variant == "M1.2" else data.pairs.right
    unknown = end[test] % 7 == 0
    score, _ = run(data, DemoNorm(variant=variant), train, test)
    cosine = PairTable(data).cosine
    impostor = cosine[train[~data.same[train]]]
    np.testing.assert_allclose(score[unknown], (cosine[test][unknown] - impostor.mean()) / impostor.std(ddof=1))


@pytest.mark.parametrize("variant", ["group", "M4", "M5"])
def test_unknown_and_absent_groups_use_the_statistics_of_all_pairs(people: VerificationSet, variant: str) -> None:
    codes = people.groupings["g"].codes.copy()
    train, test = halves(people)
    codes[::7] = -1
    train = train[(codes[people.pairs.left[train]] != 2) & (codes[people.pairs.right[train]] != 2)]
    score, report = run(with_groups(people, codes), DemoNormGroup(variant=variant), train, test)
    nobody = with_groups(people, np.full(900, -1))
    everyone, _ = run(nobody, DemoNormGroup(variant=variant), train, test)
    fallen = np.isin(codes[people.pairs.left[test]], [-1, 2])
    np.testing.assert_array_equal(score[fallen], everyone[fallen])
    assert not np.allclose(score[~fallen], everyone[~fallen])
    assert report["groups_by_global_statistics_names"] == ["c"]
    assert report["global_statistics_defined"]


@pytest.mark.parametrize("variant", ["group", "M4", "M5"])
def test_group_without_impostors_uses_the_statistics_of_all_pairs(people: VerificationSet, variant: str) -> None:
    codes = people.groupings["g"].codes
    train, test = halves(people)
    train = train[(codes[people.pairs.left[train]] != 1) | people.same[train]]
    _, report = run(people, DemoNormGroup(variant=variant), train, test)
    assert report["groups_by_global_statistics"] == 1
    assert report["groups_by_global_statistics_names"] == ["b"]


@pytest.mark.parametrize("method", [DemoNormGroup(), DemoNormGroup("M4"), DemoNormGroup("M5"), DemoNorm(people=1)])
def test_nothing_to_learn_from_leaves_the_cosine(people: VerificationSet, method: DemoNorm | DemoNormGroup) -> None:
    train = halves(people)[0]
    train = train[people.same[train]]  # no impostor anywhere
    test = np.arange(50)
    score, report = run(people, method, train, test)
    np.testing.assert_array_equal(score, PairTable(people).cosine[test])
    assert report["groups_by_global_statistics"] == 3
    assert report["global_statistics_defined"] is False


def test_identities_come_from_genuine_training_pairs_where_there_are_none(people: VerificationSet) -> None:
    train, test = halves(people)
    data = replace(people, identity=np.full(900, -1, dtype=np.int32))
    method = DemoNorm()
    score, report = run(data, method, train, test)
    assert report["identities"] == "genuine training pairs where unknown"
    assert report["identities_derived"] == len(np.unique([people.pairs.left[train], people.pairs.right[train]]))
    view = PairView(PairTable(data), train, DemoNorm.needs)
    named = replace(people, identity=resolve_identities(view, data.same[train], FitContext(0, "made", "net", "0")))
    expected = plain_scores(named, "M1.1", plain_cohorts(named, method, train), train, test)
    np.testing.assert_allclose(score, expected, rtol=0, atol=1e-9)


def test_group_variant_runs_on_scores_alone(people: VerificationSet) -> None:
    train, test = halves(people)
    score, _ = run(people, DemoNormGroup(), train, test)
    scores_only = replace(
        people, embeddings=None, cosine=PairTable(people).cosine, identity=np.full(900, -1, dtype=np.int32)
    )
    np.testing.assert_array_equal(run(scores_only, DemoNormGroup(), train, test)[0], score)


def test_needs_are_true(people: VerificationSet) -> None:
    assert DemoNormGroup.needs == {"groups"}
    assert not DemoNorm.symmetric
    assert not DemoNormGroup(rule="first").symmetric
    assert DemoNormGroup(rule="both").symmetric
    train, _ = halves(people)
    ctx = FitContext(0, "made", "net", "0", grouping="g")
    for missing in DemoNorm.needs:
        view = PairView(PairTable(people), train, DemoNorm.needs - {missing}, "DemoNorm")
        with pytest.raises(UndeclaredInputError):
            DemoNorm().fit(view, people.same[train], ctx)


def test_says_what_is_wrong(people: VerificationSet) -> None:
    ungrouped = replace(people, grouping=None)
    for method in (DemoNorm(), DemoNormGroup()):
        with pytest.raises(UnmetNeedError, match=rf"{type(method).__name__} needs groups.*dataset\.grouping"):
            run(ungrouped, method, *halves(people))
    with pytest.raises(ConfigError, match="people"):
        DemoNorm(people=0)
