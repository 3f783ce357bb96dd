"""Leave-one-fold-out: what reaches a method, and what is accepted from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import pytest

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.errors import MethodError, UndeclaredInputError, UnmetNeedError
from fairfr.core.types import FoldSplit, Need, Prediction, VerificationSet
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.methods.ac_density import ACDensity
from fairfr.methods.ac_linear import ACLinear
from fairfr.methods.baseline import Baseline
from fairfr.methods.platt import Platt
from fairfr.numerics.beta import fit_beta
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView
from fairfr.runner.held_out import HeldOutScores, check_needs, score_held_out


@pytest.fixture(scope="module")
def data(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("lfw", scale=0.1)


def context(fold: str) -> FitContext:
    return FitContext(seed=0, dataset="d", backbone="b", fold=fold)


def run(data: VerificationSet, make: Callable[[], Calibrator], splits: list[FoldSplit] | None = None) -> HeldOutScores:
    return score_held_out(PairTable(data), splits or list(LeaveOneFoldOut().split(data)), make, context)


def relabelled(data: VerificationSet, code: int) -> VerificationSet:
    """The labels of one fold turned round."""
    return replace(data, same=np.where(data.fold == code, ~data.same, data.same))


@dataclass
class Spy:
    """Scores by its cosine, shifted by the base rate it was fitted on, and keeps what it was shown."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = False
    seen: ClassVar[list[tuple[str, int, np.ndarray | None]]] = []

    def fit(self, view: PairView, same: np.ndarray, ctx: FitContext) -> Self:
        assert not hasattr(self, "rate_"), "a method is fitted once: each fold has its own"
        self.rate_ = same.mean()
        self.seen.append(("fit " + ctx.fold, view.n_pairs, same.copy()))
        ctx.report["pairs"] = view.n_pairs
        return self

    def predict(self, view: PairView) -> Prediction:
        self.seen.append(("predict", view.n_pairs, None))
        return Prediction(score=view.cosine / 2 + self.rate_ / 10)


def test_published_folds_cover_every_pair_once(data: VerificationSet) -> None:
    splits = list(LeaveOneFoldOut().split(data))
    assert [split.id for split in splits] == list(data.fold_labels)
    assert sorted(np.concatenate([split.test for split in splits]).tolist()) == list(range(data.n_pairs))
    for split in splits:
        assert not set(split.train_rows()) & set(split.test)
        assert len(split.train_rows()) + len(split.test) == data.n_pairs


def test_fit_sees_training_labels_and_predict_none(data: VerificationSet) -> None:
    Spy.seen.clear()
    held_out = run(data, Spy)
    fits = [seen for seen in Spy.seen if seen[0] != "predict"]
    assert [name for name, _, _ in fits] == [f"fit {label}" for label in data.fold_labels]
    for code, (_, n_pairs, same) in enumerate(fits):
        train = data.fold != code
        assert n_pairs == train.sum()
        assert same is not None
        assert np.array_equal(same, data.same[train])
        assert held_out.fit_report[data.fold_labels[code]]["pairs"] == n_pairs


def test_every_pair_is_scored_by_the_method_that_never_met_it(data: VerificationSet) -> None:
    held_out = run(data, Spy)
    cosine = PairTable(data).cosine
    for code in range(len(data.fold_labels)):
        test = data.fold == code
        expected = cosine[test] / 2 + data.same[~test].mean() / 10
        np.testing.assert_allclose(held_out.frame.score[test], expected, atol=1e-15)
    assert np.array_equal(held_out.frame.fold, data.fold)
    assert np.array_equal(held_out.frame.same, data.same)
    assert held_out.folds == data.fold_labels


@pytest.mark.parametrize("make", [Baseline, Platt, ACLinear, ACDensity])
def test_held_out_labels_change_nothing(data: VerificationSet, make: Callable[[], Calibrator]) -> None:
    """Scores and probabilities alike: the overlay too is fitted on training scores only."""
    test = data.fold == 4
    one, two = run(data, make).frame, run(relabelled(data, 4), make).frame
    assert one.score[test].tobytes() == two.score[test].tobytes()
    assert one.probability[test].tobytes() == two.probability[test].tobytes()
    assert one.probability[~test].tobytes() != two.probability[~test].tobytes()


def test_the_overlay_is_beta_on_the_training_scores(data: VerificationSet) -> None:
    held_out = run(data, Baseline)
    cosine, test = PairTable(data).cosine, data.fold == 0
    expected = fit_beta(cosine[~test], data.same[~test])
    np.testing.assert_array_equal(held_out.frame.probability[test], expected.probability(cosine[test]))
    assert held_out.fit_report[data.fold_labels[0]]["overlay"] == {"a": expected.a, "b": expected.b, "c": expected.c}


@pytest.mark.parametrize("declared", [(-3.0, 7.0), None])
def test_the_overlay_uses_the_range_the_method_declares(
    data: VerificationSet, declared: tuple[float, float] | None
) -> None:
    @dataclass
    class Shifted(Baseline):
        score_range: ClassVar[tuple[float, float] | None] = declared

        def predict(self, view: PairView) -> Prediction:
            return Prediction(score=2 + 3 * view.cosine)

    frame = run(data, Shifted).frame
    score, test = 2 + 3 * PairTable(data).cosine, data.fold == 0
    bounds = declared or (score[~test].min(), score[~test].max())
    expected = fit_beta(score[~test], data.same[~test], bounds).probability(score[test])
    np.testing.assert_array_equal(frame.probability[test], expected)


def test_a_probability_of_its_own_gets_no_overlay(data: VerificationSet) -> None:
    held_out = run(data, Platt)
    assert all("overlay" not in report for report in held_out.fit_report.values())
    np.testing.assert_array_equal(held_out.frame.score, held_out.frame.probability)


def test_pairs_in_no_split_are_no_part_of_the_result(data: VerificationSet) -> None:
    first, *_ = LeaveOneFoldOut().split(data)
    held_out = run(data, Baseline, [first])
    assert held_out.rows is not None and held_out.rows.tolist() == first.test.tolist()
    assert held_out.folds == (first.id,) and len(held_out.frame.score) == len(first.test)
    scored = data.take(held_out.rows)
    assert scored.same.tolist() == held_out.frame.same.tolist()
    assert scored.row is not None and scored.row.tolist() == first.test.tolist()


def test_splits_of_one_fold_are_measured_together(data: VerificationSet) -> None:
    one, two, *_ = LeaveOneFoldOut().split(data)
    half = len(one.test) // 2
    splits = [
        FoldSplit("a", one.train_rows(), one.test[:half], fold="x"),
        FoldSplit("b", one.train_rows(), one.test[half:], fold="x"),
        FoldSplit("c", two.train_rows(), two.test, fold="y"),
    ]
    held_out = run(data, Baseline, splits)
    assert held_out.folds == ("x", "y") and list(held_out.fit_report) == ["a", "b", "c"]
    assert np.bincount(held_out.frame.fold).tolist() == [len(one.test), len(two.test)]


def test_splits_that_share_a_fit_are_scored_by_one_method(data: VerificationSet) -> None:
    one, *_ = LeaveOneFoldOut().split(data)
    half = len(one.test) // 2
    shared = [
        FoldSplit(id, one.train_rows(), rows, fit_id="all")
        for id, rows in (("a", one.test[:half]), ("b", one.test[half:]))
    ]
    apart = run(data, Spy, [one])
    Spy.seen.clear()
    together = run(data, Spy, shared)
    assert [what for what, *_ in Spy.seen if what.startswith("fit")] == ["fit all"]
    assert together.frame.score.tolist() == apart.frame.score.tolist() and list(together.fit_report) == ["all"]


def test_the_training_rows_may_belong_to_another_set(
    data: VerificationSet, synthetic_set: Callable[..., VerificationSet]
) -> None:
    other = synthetic_set("rfw", scale=0.02)
    splits = [FoldSplit("all", np.arange(other.n_pairs), np.arange(data.n_pairs))]
    found = score_held_out(PairTable(data), splits, Platt, context, training=PairTable(other))
    view = PairView(PairTable(other), np.arange(other.n_pairs), frozenset())
    alone = Platt().fit(view, other.same, context("all"))
    tested = PairView(PairTable(data), np.arange(data.n_pairs), frozenset())
    assert found.frame.score.tolist() == alone.predict(tested).score.tolist()


def test_splits_that_score_a_pair_twice_are_refused(data: VerificationSet) -> None:
    first, *rest = LeaveOneFoldOut().split(data)
    with pytest.raises(AssertionError, match="do not overlap"):
        run(data, Baseline, [first, first, *rest])


# -- methods that break their promise ----------------------------------------------------------------------------------


def broken(change: Callable[[np.ndarray], Prediction]) -> Callable[[], Calibrator]:
    @dataclass
    class Broken(Baseline):
        def predict(self, view: PairView) -> Prediction:
            return change(view.cosine)

    return Broken


def poked(values: np.ndarray, value: float) -> np.ndarray:
    out = values.copy()
    out[3] = value
    return out


BROKEN: dict[str, tuple[Callable[[np.ndarray], object], str]] = {
    "short score": (lambda s: Prediction(s[1:], np.full(len(s), 0.5)), r"score values of shape \(\d+,\) for \d+ pairs"),
    "long probability": (lambda s: Prediction(s, np.full(len(s) + 1, 0.5)), r"probability values of shape"),
    "column": (
        lambda s: Prediction(s[:, None], s * 0),
        r"shape \(\d+, 1\) .*one for each pair of the view, in its order",
    ),
    "nan score": (
        lambda s: Prediction(poked(s, np.nan), np.full(len(s), 0.5)),
        r"1 non-finite score values \(pair 3: nan",
    ),
    "infinite score": (lambda s: Prediction(poked(s, np.inf), np.full(len(s), 0.5)), "1 non-finite score values"),
    "nan probability": (lambda s: Prediction(s, poked(s * 0, np.nan)), "1 non-finite probability values"),
    "below 0": (lambda s: Prediction(s, poked(s * 0, -1e-9)), r"1 probabilities outside \[0, 1\] \(pair 3: -1e-09\)"),
    "above 1": (
        lambda s: Prediction(s, poked(s * 0, 99.9)),
        r"outside \[0, 1\] \(pair 3: 99\.9\).*Prediction\(score=\.\.\.\)",
    ),
    "list": (
        lambda s: Prediction(s.tolist()),
        r"returned a list as score\. .*np\.asarray\(values, dtype=np\.float64\)",
    ),
    "objects": (lambda s: Prediction(s.astype(object)), "returned an array of objects as score"),
    "bare array": (lambda s: s, r"returned an array of float64\. Return a Prediction: .*fairfr\.core\.types"),
    "pair of arrays": (lambda s: (s, s * 0), r"returned a tuple\. Return a Prediction"),
    "nothing": (lambda s: None, r"returned nothing \(None\)"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_prediction_is_refused_with_its_fold(data: VerificationSet, how: str) -> None:
    change, message = BROKEN[how]
    with pytest.raises(MethodError, match=r"^Broken\.predict.*" + message) as refused:
        run(data, broken(change))
    assert refused.value.__notes__ == [f"(fold {data.fold_labels[0]})"]


def test_a_probability_that_was_promised_must_be_there(data: VerificationSet) -> None:
    @dataclass
    class Promising(Baseline):
        native_probability: ClassVar[bool] = True

    with pytest.raises(MethodError, match=r"Promising\.predict returned no probability, although .* or declare False"):
        run(data, Promising)


def test_single_precision_and_whole_numbers_will_do(data: VerificationSet) -> None:
    frame = run(data, broken(lambda s: Prediction((100 * s).astype(np.int64), s.clip(0, 1).astype(np.float32)))).frame
    assert frame.score.dtype == frame.probability.dtype == np.float64
    np.testing.assert_array_equal(frame.score, (100 * PairTable(data).cosine).astype(np.int64))


@pytest.mark.parametrize("label", ["same", "labels"])
def test_labels_that_predict_looks_for_are_not_there(data: VerificationSet, label: str) -> None:
    @dataclass
    class Peeking(Baseline):
        def predict(self, view: PairView) -> Prediction:
            return Prediction(getattr(view, label))

    with pytest.raises(UndeclaredInputError, match=rf"Peeking asked for view\.{label}, .* predict sees no labels"):
        run(data, Peeking)


# -- what is noticed of a method ---------------------------------------------------------------------------------------


def codes(held_out: HeldOutScores) -> list[str]:
    return [finding.code for finding in held_out.findings]


@dataclass
class LabelsByPosition:
    """Finds the labels of the pairs to predict in the file that they came from."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = False
    labels: ClassVar[np.ndarray]
    next_fold: ClassVar[int]

    def fit(self, view: PairView, same: np.ndarray, ctx: FitContext) -> Self:
        return self

    def predict(self, view: PairView) -> Prediction:
        if view.n_pairs == len(self.labels[self.next_fold]):
            return Prediction(self.labels[self.next_fold].astype(np.float64))
        return Prediction(view.cosine)


def test_labels_taken_by_position_are_noticed(data: VerificationSet) -> None:
    first, *_ = LeaveOneFoldOut().split(data)
    LabelsByPosition.labels, LabelsByPosition.next_fold = data.same[None, first.test], 0
    held_out = run(data, LabelsByPosition, [first])
    order, perfect = held_out.findings
    assert (order.code, order.severity, perfect.code, perfect.severity) == (
        *("order-of-pairs", "serious"),
        *("perfect-ranking", "note"),
    )
    assert "LabelsByPosition depends on the order of pairs" in order.text
    assert order.counts["pairs"] == len(first.test) and order.counts["changed"] > len(first.test) / 4
    assert "has not seen labels" in perfect.text


def test_what_depends_on_a_pair_alone_is_not_suspected(data: VerificationSet) -> None:
    @dataclass
    class Own(ACDensity):
        """A user's: fairfr.methods are not tested again in each run."""

    assert codes(run(data, Own)) == []


def test_unseeded_randomness_and_failures_are_noticed_and_cost_no_run(data: VerificationSet) -> None:
    @dataclass
    class Random(Baseline):
        def predict(self, view: PairView) -> Prediction:
            return Prediction(view.cosine + 0.01 * np.random.default_rng().normal(size=view.n_pairs))

    @dataclass
    class OnceOnly(Baseline):
        """Gives no second answer."""

        def fit(self, view: PairView, same: np.ndarray, ctx: FitContext) -> Self:
            self.left_ = 1
            return self

        def predict(self, view: PairView) -> Prediction:
            self.left_ -= 1
            return Prediction(view.cosine[: None if self.left_ >= 0 else -1], np.full(view.n_pairs, 0.5))

    (found,) = run(data, OnceOnly).findings
    assert found.code == "order-of-pairs" and "predict ended in an error (MethodError: " in found.text
    assert codes(run(data, Random)) == ["order-of-pairs"]


def test_impostors_above_genuine_pairs_are_noticed(data: VerificationSet) -> None:
    @dataclass
    class Reversed(Baseline):
        def predict(self, view: PairView) -> Prediction:
            return Prediction(-view.cosine)

    (found,) = run(data, Reversed).findings
    assert (found.code, found.severity) == ("reversed-ranking", "serious")
    assert "is its sign wrong" in found.text


def test_pairs_that_any_cosine_separates_are_called_easy(data: VerificationSet) -> None:
    easy = replace(data, embeddings=None, cosine=np.where(data.same, 0.9, 0.1), backbone="scores")
    (found,) = run(easy, Platt).findings
    assert found.code == "perfect-ranking" and "too easy" in found.text


def test_what_is_not_declared_is_not_shown(data: VerificationSet) -> None:
    @dataclass
    class Curious(Baseline):
        def fit(self, view: PairView, same: np.ndarray, ctx: FitContext) -> Self:
            view.groups("ethnicity")
            return self

    with pytest.raises(UndeclaredInputError, match=r"Curious asked for groups\('ethnicity'\) but declares needs=\{\}"):
        run(data, Curious)


# -- needs -------------------------------------------------------------------------------------------------------------


def test_a_scores_only_set_lacks_embeddings(data: VerificationSet) -> None:
    scores_only = replace(data, embeddings=None, cosine=PairTable(data).cosine, backbone="scores")
    with pytest.raises(UnmetNeedError, match="ac_linear needs embeddings, but backbone 'scores' of 'lfw' has scores"):
        check_needs(ACLinear(), "ac_linear", scores_only)
    for method in (Baseline, Platt):
        check_needs(method(), "it", scores_only)
        np.testing.assert_array_equal(run(scores_only, method).frame.probability, run(data, method).frame.probability)


def test_a_set_without_groups_lacks_groups(data: VerificationSet) -> None:
    @dataclass
    class GroupAware(Baseline):
        needs: ClassVar[frozenset[Need]] = frozenset({"groups"})

    check_needs(GroupAware(), "gst", data)
    with pytest.raises(UnmetNeedError, match=r"gst needs groups, but 'lfw' .*dataset\.grouping="):
        check_needs(GroupAware(), "gst", replace(data, grouping=None))
