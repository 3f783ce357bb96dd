from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.types import F64, Bool, Grouping, MetricRow, Pairs, ScoreFrame
from fairfr.metrics.calibration import brier, brier_raw, ece, ks
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics, few_impostors_findings, summarise
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.roc import auroc_of, pauc_of, roc_curve

FOLDS = ("1", "2")
Key = tuple[str, str, str, str, str]

NAN = float("nan")


def a_frame(n: int = 2000, seed: int = 0) -> ScoreFrame:
    rng = np.random.default_rng(seed)
    same = rng.random(n) < 0.4
    score = np.round(rng.normal(same * 1.5, 1.0), 2)
    probability = np.clip(0.5 + 0.3 * score, 0.0, 1.0)
    return ScoreFrame((np.arange(n) % 2).astype(np.int16), same, score, probability)


def auroc(same: Bool, values: F64) -> float:
    return auroc_of(roc_curve(same, values))


def pauc(same: Bool, values: F64, max_fpr: float = 0.1) -> float:
    return pauc_of(roc_curve(same, values), max_fpr)


def some_groups(n: int = 2000, seed: int = 1) -> PairGroups:
    codes = np.random.default_rng(seed).integers(-1, 3, n).astype(np.int16)
    return PairGroups("ethnicity", "both", ("a", "b", "c"), codes)


def table(rows: list[MetricRow]) -> dict[Key, MetricRow]:
    found = {(row.fold, row.grouping, row.rule, row.group, row.metric): row for row in rows}
    assert len(found) == len(rows)
    return found


def of_group(rows: list[MetricRow], group: str, metric: str, fold: str = "pooled") -> MetricRow:
    return next(row for row in rows if (row.fold, row.group, row.metric) == (fold, group, metric))


@pytest.mark.parametrize("fold", ["1", "2", "pooled"])
@pytest.mark.parametrize("group", ["all", "a", "b", "c"])
def test_each_value_is_the_pure_function_of_its_pairs(fold: str, group: str) -> None:
    frame, groups = a_frame(), some_groups()
    in_fold = np.ones(2000, dtype=bool) if fold == "pooled" else frame.fold == FOLDS.index(fold)
    chosen = in_fold if group == "all" else in_fold & (groups.codes == groups.levels.index(group))
    same, score, probability = frame.same[chosen], frame.score[chosen], frame.probability[chosen]
    rows = compute_metrics(frame, FOLDS, [groups], 20)
    expected = {
        "auroc": auroc(same, score),
        "pauc": pauc(same, score),
        "auroc_on_probability": auroc(same, probability),
        "pauc_on_probability": pauc(same, probability),
        "brier": brier(same, probability),
        "brier_raw": brier_raw(same, score),
        "ece_15": ece(same, probability),
        "ks": ks(same, probability),
    }
    for metric, value in expected.items():
        row = of_group(rows, group, metric, fold)
        assert row.value == pytest.approx(value, abs=1e-13)
        assert (row.n_same, row.n_diff) == (same.sum(), (~same).sum())


@pytest.mark.parametrize("fold", ["1", "2", "pooled"])
def test_each_group_has_the_librarys_numbers(fold: str) -> None:
    frame, groups = a_frame(), some_groups()
    rows = compute_metrics(frame, FOLDS, [groups], 20)
    for level, code in zip(groups.levels, range(3), strict=True):
        chosen = (groups.codes == code) & ((frame.fold == FOLDS.index(fold)) if fold in FOLDS else True)
        same, score, probability = frame.same[chosen], frame.score[chosen], frame.probability[chosen]
        expected = {
            "auroc": roc_auc_score(same, score),
            "pauc": roc_auc_score(same, score, max_fpr=0.1),
            "auroc_on_probability": roc_auc_score(same, probability),
            "brier": brier_score_loss(same, probability),
        }
        for metric, value in expected.items():
            assert of_group(rows, level, metric, fold).value == pytest.approx(value, abs=1e-13)


def test_tpr_at_fpr_uses_the_global_threshold() -> None:
    frame, groups = a_frame(), some_groups()
    rows = compute_metrics(frame, FOLDS, [groups], 20)
    for fold, label in enumerate(FOLDS):
        inside = frame.fold == fold
        point = OperatingPoint.from_pairs(frame.same[inside], frame.score[inside], 1e-2)
        for code, level in enumerate(groups.levels):
            chosen = inside & (groups.codes == code)
            rates = point.rates(frame.same[chosen], frame.score[chosen])
            for rate, value in rates._asdict().items():
                assert of_group(rows, level, f"{rate}_at_fpr_1e-2", label).value == value


def test_clipped_probabilities_rank_by_themselves_only_under_the_suffix() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [], 20)
    assert of_group(rows, "all", "auroc").value != of_group(rows, "all", "auroc_on_probability").value


def test_worst_is_the_extremum_inside_the_fold_with_that_groups_counts() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [some_groups()], 20)
    for fold in (*FOLDS, "pooled"):
        for metric, extremum in (("auroc", min), ("tpr_at_fpr_1e-3", min), ("brier", max), ("ks", max)):
            worst = of_group(rows, "worst", metric, fold)
            levels = [of_group(rows, level, metric, fold) for level in ("a", "b", "c")]
            assert worst == extremum(levels, key=lambda row: row.value)._replace(group="worst")


def test_rates_without_direction_have_no_worst_group() -> None:
    metrics = {row.metric for row in compute_metrics(a_frame(), FOLDS, [some_groups()], 20) if row.group == "worst"}
    assert not [metric for metric in metrics if metric.startswith("acceptance_at") or "gap" in metric]
    assert {"tpr_at_fpr_1e-3_on_probability", "fpr_at_fpr_1e-3", "tpr_at_own_fpr_1e-3"} <= metrics


def test_the_worst_false_positive_rate_is_the_highest() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [some_groups()], 20)
    rates = [of_group(rows, level, "fpr_at_fpr_1e-2").value for level in ("a", "b", "c")]
    assert of_group(rows, "worst", "fpr_at_fpr_1e-2").value == max(rates)


def tpr_at(same: Bool, values: F64, alpha: float) -> float:
    """By counting at every threshold, then interpolating as numpy does."""
    impostors = np.sort(values[~same])
    genuine = np.sort(values[same])
    thresholds = np.unique(values)[::-1]
    fpr = [0.0, *(np.mean(impostors >= threshold) for threshold in thresholds)]
    tpr = [0.0, *(np.mean(genuine >= threshold) for threshold in thresholds)]
    return float(np.interp(alpha, fpr, tpr))


@pytest.mark.parametrize("fold", ["1", "pooled"])
@pytest.mark.parametrize("level", ["a", "b", "c"])
@pytest.mark.parametrize(("text", "alpha"), [("1e-2", 1e-2), ("1e-3", 1e-3)])
def test_tpr_at_own_fpr_is_read_off_the_groups_own_curve(fold: str, level: str, text: str, alpha: float) -> None:
    frame, groups = a_frame(), some_groups()
    rows = compute_metrics(frame, FOLDS, [groups], 20)
    inside = groups.codes == groups.levels.index(level)
    if fold != "pooled":
        inside &= frame.fold == FOLDS.index(fold)
    for suffix, values in (("", frame.score), ("_on_probability", frame.probability)):
        expected = tpr_at(frame.same[inside], values[inside], alpha)
        assert of_group(rows, level, f"tpr_at_own_fpr_{text}{suffix}", fold).value == pytest.approx(expected)


def test_at_own_thresholds_a_shift_of_a_group_changes_nothing() -> None:
    """One threshold sees the shift: that is the difference between the two."""
    frame, groups = a_frame(), some_groups()
    shifted = replace(frame, score=frame.score + (groups.codes == 1))
    before = compute_metrics(frame, FOLDS, [groups], 20)
    after = compute_metrics(shifted, FOLDS, [groups], 20)
    for fold in (*FOLDS, "pooled"):
        for metric in ("tpr_at_own_fpr_1e-2", "own_eo_gap_at_fpr_1e-2"):
            group = "gap" if "gap" in metric else "b"
            assert of_group(after, group, metric, fold).value == pytest.approx(
                of_group(before, group, metric, fold).value
            )
        metric = "fpr_at_fpr_1e-2"
        assert of_group(after, "b", metric, fold).value > of_group(before, "b", metric, fold).value


def test_of_all_pairs_own_and_global_threshold_are_the_same() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [], 20)
    for fold in (*FOLDS, "pooled"):
        own = of_group(rows, "all", "tpr_at_own_fpr_1e-3", fold)
        assert own.value == of_group(rows, "all", "tpr_at_fpr_1e-3", fold).value


def test_false_matches_of_groups_are_compared_by_their_rates() -> None:
    """Counted by hand: at FPR 1e-2 the threshold lies below the 4 highest of 400 impostors, 3 of a and 1 of b."""
    score = np.concatenate([np.full(3, 0.9), np.zeros(197), [0.9], np.zeros(199), np.ones(100)])
    score += np.linspace(1e-6, 1e-5, len(score))  # no ties
    same = np.arange(500) >= 400
    codes = np.where(same, np.arange(500) % 2, np.arange(500) >= 200).astype(np.int16)
    frame = ScoreFrame(np.zeros(500, dtype=np.int16), same, score, np.minimum(score, 1.0))
    rows = compute_metrics(frame, ("1",), [PairGroups("g", "both", ("a", "b"), codes)], 20)
    at = "at_fpr_1e-2"
    assert of_group(rows, "a", f"fpr_{at}").value == pytest.approx(3 / 200)
    assert of_group(rows, "b", f"fpr_{at}").value == pytest.approx(1 / 200)
    expected = {"fpr_ratio": 3, "fpr_spread": 3**0.5, "fpr_mean": 1.0, "fpr_aad": 0.5, "fpr_mad": 0.5, "fpr_std": 0.5}
    for name, value in expected.items():
        assert of_group(rows, "gap", f"{name}_{at}").value == pytest.approx(value)
    # the single highest impostor is one of b: a has no false match, and no ratio can be made
    assert of_group(rows, "a", "fpr_at_fpr_1e-3").value == 0
    for name in ("fpr_ratio", "fpr_spread"):
        assert np.isnan(of_group(rows, "gap", f"{name}_at_fpr_1e-3").value)


def test_ks_over_groups_is_made_of_the_groups_ks() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [some_groups()], 20)
    of_groups = np.array([of_group(rows, level, "ks").value for level in ("a", "b", "c")])
    assert of_group(rows, "gap", "ks_mean").value == pytest.approx(100 * of_groups.mean())
    distances = np.abs(of_groups - of_groups.mean())
    assert of_group(rows, "gap", "ks_aad").value == pytest.approx(100 * distances.mean())
    assert of_group(rows, "gap", "ks_mad").value == pytest.approx(100 * distances.max())


@pytest.mark.parametrize("impostors", [99_999, 100_000])
def test_a_rare_level_is_measured_where_all_pairs_together_expect_ten_false_matches(impostors: int) -> None:
    rng = np.random.default_rng(0)
    same = np.concatenate([np.ones(400, dtype=bool), np.zeros(impostors, dtype=bool)])
    score = rng.normal(2.0 * same)
    frame = ScoreFrame((np.arange(len(same)) % 2).astype(np.int16), same, score, 1 / (1 + np.exp(-score)))
    codes = (np.arange(len(same)) // 2 % 2).astype(np.int16)
    rows = compute_metrics(frame, FOLDS, [PairGroups("g", "both", ("a", "b"), codes)], 20)
    at_level = [row for row in rows if "1e-4" in row.metric]
    assert {row.group for row in at_level} == {"all", "a", "b", "worst", "gap"}
    if impostors == 100_000:
        assert of_group(rows, "all", "tpr_at_fpr_1e-4").value == pytest.approx(tpr_at(same, score, 1e-4))
        assert np.isfinite([row.value for row in at_level if row.fold == "pooled" and row.group in "ab"]).all()
    else:
        assert all(np.isnan(row.value) for row in at_level)


def test_gaps_are_between_the_groups_of_the_fold() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [some_groups()], 20)
    for gap, rate in (("eo", "tpr"), ("pe", "fpr"), ("dp", "acceptance")):
        levels = [of_group(rows, level, f"{rate}_at_fpr_1e-2", "2") for level in ("a", "b", "c")]
        values = [row.value for row in levels]
        row = of_group(rows, "gap", f"{gap}_gap_at_fpr_1e-2", "2")
        assert row.value == pytest.approx(100 * (max(values) - min(values)))
        assert row.n_same == sum(level.n_same for level in levels)


def test_metrics_of_several_groups_appear_only_as_gaps() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [some_groups()], 20)
    kinds = ("_gap_", "_ratio_", "_spread_", "_mean", "_aad", "_mad", "_std")
    assert all((row.group == "gap") == any(kind in row.metric for kind in kinds) for row in rows)


def test_a_small_group_is_nan_with_its_counts_and_never_the_worst() -> None:
    frame, groups = a_frame(), some_groups()
    codes = np.where(groups.codes == 2, -1, groups.codes).astype(np.int16)
    few = np.flatnonzero(codes == -1)[:19]
    codes[few] = 2
    rows = compute_metrics(frame, FOLDS, [PairGroups("ethnicity", "both", groups.levels, codes)], 20)
    small = [row for row in rows if row.group == "c" and row.fold == "pooled"]
    assert small
    assert all(np.isnan(row.value) for row in small)
    assert {(row.n_same, row.n_diff) for row in small} == {(frame.same[few].sum(), (~frame.same[few]).sum())}
    for metric, extremum in (("auroc", min), ("ece_15", max)):
        others = [of_group(rows, level, metric).value for level in ("a", "b")]
        assert of_group(rows, "worst", metric).value == extremum(others)
    enough = compute_metrics(frame, FOLDS, [PairGroups("ethnicity", "both", groups.levels, codes)], 19)
    assert np.isfinite(of_group(enough, "c", "auroc").value)


def test_a_group_with_one_label_is_nan_for_every_metric() -> None:
    frame = a_frame()
    codes = frame.same.astype(np.int16)
    rows = compute_metrics(frame, FOLDS, [PairGroups("ethnicity", "both", ("x", "y"), codes)], 20)
    of_groups = [row for row in rows if row.grouping == "ethnicity"]
    assert all(np.isnan(row.value) for row in of_groups)
    assert of_group(rows, "x", "brier").n_diff == (~frame.same).sum()
    worst = of_group(rows, "worst", "brier")
    assert (worst.n_same, worst.n_diff) == (0, 0)


def test_a_gap_needs_two_groups_with_values() -> None:
    frame = a_frame()
    rows = compute_metrics(frame, FOLDS, [PairGroups("g", "both", ("x", "y"), np.zeros(2000, dtype=np.int16))], 20)
    assert np.isnan(of_group(rows, "gap", "eo_gap_at_fpr_1e-2").value)
    assert np.isfinite(of_group(rows, "worst", "auroc").value)
    empty = of_group(rows, "y", "auroc")
    assert np.isnan(empty.value)
    assert (empty.n_same, empty.n_diff) == (0, 0)


def test_a_fold_with_one_class_keeps_its_calibration_but_has_no_ranking() -> None:
    frame = a_frame()
    frame = ScoreFrame(np.where(frame.same, 0, frame.fold).astype(np.int16), frame.same, frame.score, frame.probability)
    rows = compute_metrics(frame, FOLDS, [some_groups()], 20)
    for metric in ("auroc", "pauc", "tpr_at_fpr_1e-2", "fpr_at_fpr_1e-2", "acceptance_at_fpr_1e-3_on_probability"):
        assert np.isnan(of_group(rows, "all", metric, "2").value)
    for metric in ("brier", "brier_raw", "ece_15", "ks"):
        assert np.isfinite(of_group(rows, "all", metric, "2").value)


def test_threads_change_no_row() -> None:
    one, two = (compute_metrics(a_frame(), FOLDS, [some_groups()], 20, threads) for threads in (1, 2))
    assert [row[:5] for row in one] == [row[:5] for row in two]
    np.testing.assert_array_equal([row.value for row in one], [row.value for row in two])


def test_an_empty_fold_is_all_nan() -> None:
    rows = compute_metrics(a_frame(), ("1", "2", "3"), [some_groups()], 20)
    empty = [row for row in rows if row.fold == "3"]
    assert len(empty) == len([row for row in rows if row.fold == "1"])
    assert all(np.isnan(row.value) and row.n_same == row.n_diff == 0 for row in empty)


def test_both_rules_stand_side_by_side() -> None:
    frame = a_frame(4)
    frame = ScoreFrame(
        np.zeros(4, dtype=np.int16), np.array([True, False, False, True]), frame.score, frame.probability
    )
    images = Grouping("gender", ("f", "m"), np.array([0, 0, 1, 1], dtype=np.int16))
    pairs = Pairs(np.array([0, 0, 1, 2], dtype=np.int32), np.array([1, 2, 3, 3], dtype=np.int32))
    groups = [PairGroups.of(images, pairs, rule) for rule in ("both", "first")]
    found = table(compute_metrics(frame, ("1",), groups, 1))
    both, first = (found["1", "gender", rule, "f", "auroc"] for rule in ("both", "first"))
    assert (both.n_same, both.n_diff) == (1, 0)
    assert (first.n_same, first.n_diff) == (1, 2)
    assert np.isnan(both.value)
    assert np.isfinite(first.value)


def test_groupings_that_divide_the_pairs_alike_keep_their_own_names() -> None:
    frame, groups = a_frame(), some_groups()
    renamed = PairGroups("gender", "first", ("x", "y", "z"), groups.codes.copy())
    wider = PairGroups("age", "both", ("p", "q", "r", "s"), groups.codes.copy())
    together = table(compute_metrics(frame, FOLDS, [groups, renamed, wider], 20))
    alone = table(
        [
            row
            for one in (groups, renamed, wider)
            for row in compute_metrics(frame, FOLDS, [one], 20)
            if row.grouping != "all"
        ]
    )
    for key, row in alone.items():
        np.testing.assert_equal(together[key], row)
    assert ("1", "age", "both", "s", "auroc") in together and ("1", "gender", "first", "z", "auroc") in together


@pytest.mark.parametrize("group", ["all", "b"])
def test_a_probability_that_is_the_score_has_the_scores_numbers(group: str) -> None:
    frame, groups = a_frame(), some_groups()
    chosen = frame.fold == 1 if group == "all" else (frame.fold == 1) & (groups.codes == 1)
    rows = compute_metrics(replace(frame, score=frame.probability), FOLDS, [groups], 20)
    same, probability = frame.same[chosen], frame.probability[chosen]
    point = OperatingPoint.from_pairs(frame.same[frame.fold == 1], frame.probability[frame.fold == 1], 0.01)
    expected = {"auroc": auroc(same, probability), "tpr_at_fpr_1e-2": point.rates(same, probability).tpr}
    for metric, value in expected.items():
        assert of_group(rows, group, metric, "2").value == pytest.approx(value, rel=1e-12)
        assert of_group(rows, group, f"{metric}_on_probability", "2").value == pytest.approx(value, rel=1e-12)
    assert of_group(rows, group, "brier_raw", "2").value == pytest.approx(brier(same, probability), rel=1e-12)


def test_pairs_of_no_group_count_globally_but_in_no_group() -> None:
    frame, groups = a_frame(), some_groups()
    rows = compute_metrics(frame, FOLDS, [groups], 20)
    total = of_group(rows, "all", "auroc")
    in_groups = sum(of_group(rows, level, "auroc").n_diff for level in groups.levels)
    assert total.n_same + total.n_diff == 2000
    assert in_groups == np.sum(~frame.same & (groups.codes >= 0)) < total.n_diff


def test_every_row_is_unique_and_plain() -> None:
    rows = compute_metrics(a_frame(), FOLDS, [some_groups()], 20)
    table(rows)
    assert {type(row.value) for row in rows} == {float}
    assert {type(row.n_same) for row in rows} == {int}


def test_the_order_of_pairs_changes_no_ranking_and_only_rounds_the_rest() -> None:
    frame, groups = a_frame(), some_groups()
    order = np.random.default_rng(5).permutation(2000)
    shuffled = ScoreFrame(frame.fold[order], frame.same[order], frame.score[order], frame.probability[order])
    regrouped = PairGroups(groups.grouping, groups.rule, groups.levels, groups.codes[order])
    before, after = (
        table(compute_metrics(frame, FOLDS, [groups], 20)),
        table(compute_metrics(shuffled, FOLDS, [regrouped], 20)),
    )
    assert list(before) == list(after)
    for key, row in before.items():
        assert row.value == pytest.approx(after[key].value, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("name", ["worst", "gap"])
def test_reserved_group_names_are_refused(name: str) -> None:
    with pytest.raises(DataError, match=f"'{name}'"):
        compute_metrics(a_frame(), FOLDS, [PairGroups("g", "both", ("x", name), np.zeros(2000, dtype=np.int16))], 20)


def test_a_fold_called_pooled_is_refused() -> None:
    with pytest.raises(DataError, match="'pooled'"):
        compute_metrics(a_frame(), ("1", "pooled"), [], 20)


def rows_of(*values: float, group: str = "a", pooled: float = 0.9) -> list[MetricRow]:
    folds = [MetricRow(str(i), "g", "both", group, "auroc", value, 10 + i, 20) for i, value in enumerate(values)]
    return [*folds, MetricRow("pooled", "g", "both", group, "auroc", pooled, 99, 99)]


def test_mean_and_population_std_are_over_folds_and_not_the_pooled_value() -> None:
    (summary,) = summarise(rows_of(0.5, 0.7))
    assert summary == {
        "grouping": "g",
        "rule": "both",
        "group": "a",
        "metric": "auroc",
        "mean": pytest.approx(0.6),
        "std": pytest.approx(0.1),
        "folds": 2,
        "folds_total": 2,
        "pooled": 0.9,
        "n_same": 21,
        "n_diff": 40,
    }


def test_folds_without_a_value_are_skipped_but_counted() -> None:
    (summary,) = summarise(rows_of(0.5, NAN, 0.7))
    assert (summary["folds"], summary["folds_total"]) == (2, 3)
    assert summary["mean"] == pytest.approx(0.6)
    assert (summary["n_same"], summary["n_diff"]) == (33, 60)


def test_without_any_value_the_mean_is_nan() -> None:
    (summary,) = summarise(rows_of(NAN, NAN))
    assert np.isnan(summary["mean"])
    assert np.isnan(summary["std"])
    assert summary["folds"] == 0
    assert summary["pooled"] == 0.9


def test_groups_are_kept_apart_in_order_of_appearance() -> None:
    summaries = summarise([*rows_of(0.5, group="b"), *rows_of(0.6, group="a")])
    assert [(summary["group"], summary["mean"]) for summary in summaries] == [("b", 0.5), ("a", 0.6)]


def global_rows(*n_diff: int) -> list[MetricRow]:
    folds = [MetricRow(str(i), "all", "all", "all", "auroc", 0.9, 50, n) for i, n in enumerate(n_diff)]
    return [*folds, MetricRow("pooled", "all", "all", "all", "auroc", 0.9, 50, sum(n_diff))]


def warnings_of(rows: list[MetricRow]) -> list[Finding]:
    return [finding for finding in few_impostors_findings(rows) if finding.severity == "warning"]


def test_few_negatives_are_warned_of_by_the_smallest_fold() -> None:
    (warning,) = warnings_of(global_rows(20000, 1200))
    assert (warning.code, warning.severity, warning.counts) == ("few-false-matches", "warning", {"different": 1200})
    assert "1e-3" in warning.text
    assert "1,200" in warning.text
    assert "about 1.2 of 1,200 impostor pairs" in warning.text


def test_very_few_negatives_are_warned_of_at_both_rates() -> None:
    assert len(warnings_of(global_rows(300, 300))) == 2


def test_enough_negatives_give_no_warning() -> None:
    assert few_impostors_findings(global_rows(100_000, 100_000)) == []
    assert few_impostors_findings([]) == []


def test_why_a_rare_level_has_no_numbers_is_noted() -> None:
    (note,) = few_impostors_findings(global_rows(10_000, 20_000))
    assert (note.code, note.severity, note.counts) == ("level-not-measured", "note", {"different": 30_000})
    assert "1e-4" in note.text
    assert "30,000 impostor pairs together expect 3.0 false matches" in note.text


def test_a_rare_level_that_is_measured_is_warned_of_by_fold() -> None:
    (warning,) = few_impostors_findings(global_rows(60_000, 60_000))
    assert warning.code == "few-false-matches"
    assert "about 6.0 of 60,000 impostor pairs decide TPR at FPR=1e-4" in warning.text
