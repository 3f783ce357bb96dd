"""GST against a plain form, its laws, and what it does where a group has no threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError, UnmetNeedError
from fairfr.core.types import Grouping, Pairs, Prediction, VerificationSet
from fairfr.methods.gst import GST
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]


def run(data: VerificationSet, method: GST, train: np.ndarray, test: np.ndarray) -> tuple[Prediction, FitContext]:
    table = PairTable(data)
    ctx = FitContext(seed=0, dataset=data.id, backbone=data.backbone, fold="0", grouping=data.grouping)
    method.fit(PairView(table, train, method.needs, "GST"), data.same[train], ctx)
    return method.predict(PairView(table, test, method.needs, "GST")), ctx


def halves(data: VerificationSet) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(data.n_pairs)
    return rows[data.fold != 0], rows[data.fold == 0]


def scores_set(cosine: list[float], same: list[int], left: list[int], right: list[int]) -> VerificationSet:
    """A scores-only set: each pair two images of its own, with these groups of the levels a, b, c."""
    p = len(cosine)
    images = np.array([f"image-{i}" for i in range(2 * p)])
    codes = np.array([code for ends in zip(left, right, strict=True) for code in ends], dtype=np.int16)
    return VerificationSet(
        id="made",
        source="files",
        backbone="scores",
        digest="0",
        images=images,
        identity=np.full(2 * p, -1, dtype=np.int32),
        pairs=Pairs(np.arange(0, 2 * p, 2, dtype=np.int32), np.arange(1, 2 * p, 2, dtype=np.int32)),
        same=np.array(same, dtype=bool),
        fold=np.zeros(p, dtype=np.int16),
        fold_labels=("0",),
        groupings={"g": Grouping("g", ("a", "b", "c"), codes)},
        grouping="g",
        embeddings=None,
        cosine=np.array(cosine, dtype=np.float64),
    )


def plain_threshold(score: np.ndarray, same: np.ndarray, fpr: float, corners: str = "source") -> float:
    rates, _, thresholds = roc_curve(same, score, drop_intermediate=corners == "source")
    rates, thresholds = rates[np.isfinite(thresholds)], thresholds[np.isfinite(thresholds)]
    distance = np.abs(rates - fpr)
    return float(thresholds[distance == distance.min()].min())


def plain_beta(score: np.ndarray, same: np.ndarray, low: float, high: float, test: np.ndarray) -> np.ndarray:
    def features(values: np.ndarray) -> np.ndarray:
        u = np.clip((values - low) / (high - low), np.finfo(float).eps, 1 - np.finfo(float).eps)
        return np.column_stack([np.log(u), -np.log(1 - u)])

    columns = [0, 1]
    model = LogisticRegression(C=99999999999).fit(features(score), same)
    if model.coef_[0, 0] < 0:
        columns = [1]
    elif model.coef_[0, 1] < 0:
        columns = [0]
    if len(columns) == 1:
        model = LogisticRegression(C=99999999999).fit(features(score)[:, columns], same)
    return model.predict_proba(features(test)[:, columns])[:, 1]


def plain_gst(
    data: VerificationSet, train: np.ndarray, test: np.ndarray, rule: str, fpr: float, corners: str = "source"
) -> tuple[np.ndarray, np.ndarray]:
    cosine, codes = PairTable(data).cosine, data.groupings[data.grouping].codes

    def group_of(row: int) -> int | None:
        left, right = codes[data.pairs.left[row]], codes[data.pairs.right[row]]
        if rule == "first":
            return int(left)
        return int(left) if left == right else None

    overall = plain_threshold(cosine[train], data.same[train], fpr, corners)
    delta: dict[int | None, float] = {}
    for group in {group_of(row) for row in train}:
        rows = np.array([row for row in train if group_of(row) == group])
        delta[group] = 0.0 if group is None else plain_threshold(cosine[rows], data.same[rows], fpr, corners) - overall
    fitted = np.array([cosine[row] - delta[group_of(row)] for row in train])
    wanted = np.array([cosine[row] - delta[group_of(row)] for row in test])
    low, high = -1 - max(delta.values()), 1 - min(delta.values())
    return wanted, plain_beta(fitted, data.same[train], low, high, wanted)


@pytest.mark.parametrize("corners", ["source", "all"])
@pytest.mark.parametrize("rule", ["both", "first"])
@pytest.mark.parametrize("dataset", ["rfw", "bfw"])
def test_agrees_with_a_plain_implementation(synthetic_set: MakeSet, dataset: str, rule: str, corners: str) -> None:
    data = synthetic_set(dataset, scale=0.08 if dataset == "rfw" else 0.02)
    train, test = halves(data)
    prediction, ctx = run(data, GST(fpr=0.05, rule=rule, corners=corners), train, test)
    score, probability = plain_gst(data, train, test, rule, 0.05, corners)
    assert ctx.report["group_thresholds"]["defined"] == len(ctx.report["delta"])
    assert ctx.report["groups_without_threshold"] == 0
    assert any(abs(delta) > 0.01 for delta in ctx.report["delta"].values())
    np.testing.assert_allclose(prediction.score, score, rtol=0, atol=1e-12)
    np.testing.assert_allclose(prediction.probability, probability, rtol=0, atol=1e-9)


def test_every_group_meets_the_wanted_fpr_at_the_global_threshold(synthetic_set: MakeSet) -> None:
    data = synthetic_set("rfw", scale=0.08)
    everything = np.arange(data.n_pairs)
    prediction, ctx = run(data, GST(fpr=0.05), everything, everything)
    cosine = PairTable(data).cosine
    codes = data.groupings[data.grouping].of(data.pairs, "both")
    for g in range(4):
        inside = codes == g
        strangers = inside & ~data.same
        # t_G on the shifted score is t_g on the cosine, up to the rounding of two subtractions
        accepted = np.mean(prediction.score[strangers] >= ctx.report["threshold"] - 1e-12)
        reachable = roc_curve(data.same[inside], cosine[inside])[0][1:]
        assert abs(accepted - 0.05) == pytest.approx(np.abs(reachable - 0.05).min(), abs=1e-12)
    before = [np.mean(cosine[(codes == g) & ~data.same] >= ctx.report["threshold"]) for g in range(4)]
    assert max(before) - min(before) > 0.01


def test_ranks_inside_a_group_stay(synthetic_set: MakeSet) -> None:
    data = synthetic_set("bfw", scale=0.02)
    train, test = halves(data)
    prediction, _ = run(data, GST(), train, test)
    cosine = PairTable(data).cosine[test]
    codes = data.groupings[data.grouping].of(data.pairs, "both")[test]
    for g in range(8):
        inside, same = codes == g, data.same[test]
        baseline = roc_auc_score(same[inside], cosine[inside])
        assert roc_auc_score(same[inside], prediction.score[inside]) == pytest.approx(baseline, abs=1e-12)
    np.testing.assert_array_equal(prediction.score[codes == -1], cosine[codes == -1])


def test_the_rules_coincide_where_no_pair_is_mixed(synthetic_set: MakeSet) -> None:
    data = synthetic_set("rfw", scale=0.08)
    both, first = (run(data, GST(rule=rule), *halves(data))[0] for rule in ("both", "first"))
    np.testing.assert_array_equal(both.score, first.score)
    np.testing.assert_array_equal(both.probability, first.probability)


def test_only_the_first_rule_sees_which_image_is_left(synthetic_set: MakeSet) -> None:
    data = synthetic_set("bfw", scale=0.02)
    swapped = replace(data, pairs=Pairs(data.pairs.right, data.pairs.left))
    for rule, differs in (("both", False), ("first", True)):
        one, other = (run(d, GST(rule=rule), *halves(d))[0] for d in (data, swapped))
        assert np.array_equal(one.score, other.score) is not differs
    assert GST(rule="both").symmetric
    assert not GST(rule="first").symmetric


A = [0.9, 0.8, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
A_SAME = [1, 1, 0, 1, 0, 0, 0, 0]


def test_hand_worked_shift() -> None:
    # Group a has impostors at .5 .3 .2 .1 .0 and a genuine pair at .4: the corner .4 has FPR .2, nearest to .15.
    # Group b is a, lowered by .15. Of all ten impostors one reaches .4 (FPR .1) and the next corner has three.
    data = scores_set([*A, *(np.array(A) - 0.15)], A_SAME * 2, [0] * 8 + [1] * 8, [0] * 8 + [1] * 8)
    everything = np.arange(16)
    prediction, ctx = run(data, GST(fpr=0.15), everything, everything)
    assert ctx.report["threshold"] == 0.4
    assert ctx.report["delta"] == {"a": 0.0, "b": pytest.approx(-0.15), "c": 0.0}
    np.testing.assert_allclose(prediction.score, A * 2, atol=1e-15)


def test_group_absent_from_training_is_not_shifted_and_counted() -> None:
    data = scores_set(
        [*A, *A, 0.7, -0.2], [*A_SAME, *A_SAME, 1, 0], [0] * 8 + [1] * 8 + [2] * 2, [0] * 8 + [1] * 8 + [2] * 2
    )
    prediction, ctx = run(data, GST(), np.arange(16), np.arange(18))
    np.testing.assert_array_equal(prediction.score[16:], [0.7, -0.2])
    assert ctx.report["groups_without_threshold"] == 1
    assert ctx.report["groups_without_threshold_names"] == ["c"]


@pytest.mark.parametrize("label", [0, 1])
def test_group_of_one_class_is_not_shifted_and_counted(label: int) -> None:
    data = scores_set([*A, 0.7, 0.6, 0.65], [*A_SAME, label, label, label], [0] * 8 + [1] * 3, [0] * 8 + [1] * 3)
    prediction, ctx = run(data, GST(), np.arange(11), np.arange(11))
    np.testing.assert_array_equal(prediction.score[8:], [0.7, 0.6, 0.65])
    assert ctx.report["groups_without_threshold_names"] == ["b", "c"]
    assert ctx.report["delta"]["b"] == 0.0


def test_training_pairs_of_one_class_give_the_base_rate_and_no_shift() -> None:
    data = scores_set(A, [0] * 8, [0] * 8, [0] * 8)
    prediction, ctx = run(data, GST(), np.arange(8), np.arange(8))
    np.testing.assert_array_equal(prediction.score, A)
    assert prediction.probability.max() < 1e-12
    assert ctx.report["threshold"] is None
    assert ctx.report["groups_without_threshold"] == 3


def test_threshold_is_finite_where_only_infinity_meets_the_fpr() -> None:
    # the highest score of group b is an impostor's: FPR 0 is met by accepting nothing only
    data = scores_set([*A, 0.95, 0.6, 0.1], [*A_SAME, 0, 1, 0], [0] * 8 + [1] * 3, [0] * 8 + [1] * 3)
    prediction, ctx = run(data, GST(fpr=0.01), np.arange(11), np.arange(11))
    assert ctx.report["threshold"] + ctx.report["delta"]["b"] == pytest.approx(0.6)
    assert np.isfinite(prediction.score).all()


def test_mixed_and_unknown_pairs_stay_under_both_and_follow_the_left_image_under_first() -> None:
    left, right = [0] * 8 + [1] * 8 + [0, 1, -1, 0, -1], [0] * 8 + [1] * 8 + [1, 0, 0, -1, -1]
    cosine = [*A, *(np.array(A) / 2), 0.3, 0.3, 0.3, 0.3, 0.3]
    data = scores_set(cosine, [*A_SAME * 2, 0, 0, 0, 0, 0], left, right)
    everything = np.arange(21)
    both, ctx = run(data, GST(fpr=0.2), everything, everything)
    assert ctx.report["train_pairs_unshifted"] == 5
    np.testing.assert_array_equal(both.score[16:], np.full(5, 0.3))
    first, ctx = run(data, GST(fpr=0.2, rule="first"), everything, everything)
    a, b = (0.3 - ctx.report["delta"][name] for name in "ab")
    assert a != b
    np.testing.assert_array_equal(first.score[16:], [a, b, 0.3, a, 0.3])
    assert ctx.report["train_pairs_unshifted"] == 2


def test_range_of_the_beta_map_holds_unshifted_cosines_too() -> None:
    # 30 impostors of two groups at -.5 pull t_G down to 0 and leave each group's own threshold at .4
    own, low = [0] * 8 + [1] * 8 + [2] * 8, [-0.5] * 30
    data = scores_set([*A * 3, *low], A_SAME * 3 + [0] * 30, own + [0] * 30, own + [1] * 30)
    method = GST(fpr=0.3)
    run(data, method, np.arange(54), np.arange(54))
    np.testing.assert_allclose(method.delta_, 0.4)
    # shifted cosines end at .6, but those of mixed pairs may reach 1
    assert (method.map_.low, method.map_.high) == (pytest.approx(-1.4), 1.0)


def test_says_what_is_wrong() -> None:
    data = replace(scores_set(A, A_SAME, [0] * 8, [0] * 8), grouping=None)
    with pytest.raises(UnmetNeedError, match=r"GST needs groups.*dataset\.grouping"):
        run(data, GST(), np.arange(8), np.arange(8))
    for fpr in (0.0, 1.0):
        with pytest.raises(ConfigError, match="fpr"):
            GST(fpr=fpr)
