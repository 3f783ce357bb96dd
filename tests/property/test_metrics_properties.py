"""Laws of the metrics, on values with many ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as library_roc_curve

from fairfr.core.types import F64, I16, Bool, ScoreFrame
from fairfr.metrics.calibration import brier, ece, ks
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics
from fairfr.metrics.differentials import max_min_gap
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.roc import auroc_of, pauc_of, roc_curve

relaxed = settings(deadline=None, max_examples=100)

pair = st.tuples(st.booleans(), st.integers(0, 6), st.integers(-1, 2))
pair_lists = st.lists(pair, min_size=1, max_size=60)
alphas = st.one_of(st.sampled_from([0.0, 0.001, 0.01, 0.1, 0.2, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0))
conventions = st.sampled_from(["interp", "conservative", "nearest"])


def auroc(same: Bool, values: F64) -> float:
    return auroc_of(roc_curve(same, values))


def pauc(same: Bool, values: F64, max_fpr: float = 0.1) -> float:
    return pauc_of(roc_curve(same, values), max_fpr)


def arrays(pairs: list[tuple[bool, int, int]]) -> tuple[Bool, F64, I16]:
    same, values, group = zip(*pairs, strict=True)
    return np.array(same), np.array(values, dtype=np.float64), np.array(group, dtype=np.int16)


def both_classes(pairs: list[tuple[bool, int, int]]) -> tuple[Bool, F64, I16]:
    same, values, group = arrays(pairs)
    assume(same.any() and not same.all())
    return same, values, group


@relaxed
@given(pair_lists)
def test_auroc_is_the_share_of_comparisons_won(pairs) -> None:
    same, values, _ = both_classes(pairs)
    difference = values[same][:, None] - values[~same][None, :]
    assert auroc(same, values) == pytest.approx(np.mean((np.sign(difference) + 1) / 2), abs=1e-14)


@relaxed
@given(pair_lists, st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.9]))
def test_pauc_equals_the_library_value(pairs, max_fpr: float) -> None:
    same, values, _ = both_classes(pairs)
    assert pauc(same, values, max_fpr) == pytest.approx(roc_auc_score(same, values, max_fpr=max_fpr), abs=1e-12)


@relaxed
@given(pair_lists, alphas, conventions)
def test_rates_on_a_groups_curve_are_those_of_its_pairs(pairs, alpha: float, convention) -> None:
    same, values, group = arrays(pairs)
    point = OperatingPoint.from_pairs(same, values, alpha, convention)
    for code in (-1, 0, 1, 2):
        of_group = same[group == code], values[group == code]
        np.testing.assert_array_equal(point.rates_on(roc_curve(*of_group)), point.rates(*of_group))


@relaxed
@given(pair_lists)
def test_turning_values_and_labels_round_keeps_auroc(pairs) -> None:
    same, values, _ = both_classes(pairs)
    assert auroc(~same, -values) == auroc(same, values)
    assert auroc(same, -values) == pytest.approx(1 - auroc(same, values), abs=1e-14)


@relaxed
@given(pair_lists, alphas)
def test_global_tpr_is_np_interp_on_the_roc_curve(pairs, alpha: float) -> None:
    same, values, _ = both_classes(pairs)
    tpr = OperatingPoint.from_pairs(same, values, alpha).rates(same, values).tpr
    full = library_roc_curve(same, values, drop_intermediate=False)
    assert tpr == np.interp(alpha, full[0], full[1])
    corners = library_roc_curve(same, values, drop_intermediate=True)
    assert tpr == pytest.approx(np.interp(alpha, corners[0], corners[1]), abs=1e-13)


@relaxed
@given(pair_lists, alphas)
def test_conventions_keep_their_promise_about_fpr(pairs, alpha: float) -> None:
    same, values, _ = both_classes(pairs)
    fpr = {
        name: OperatingPoint.from_pairs(same, values, alpha, name).rates(same, values).fpr
        for name in ("interp", "conservative", "nearest")
    }
    attainable = library_roc_curve(same, values, drop_intermediate=False)[0]
    assert fpr["interp"] == pytest.approx(alpha, abs=1e-14)
    assert fpr["conservative"] == attainable[attainable <= alpha].max()
    assert abs(fpr["nearest"] - alpha) == np.abs(attainable - alpha).min()


@relaxed
@given(pair_lists, alphas, conventions)
def test_group_rates_weighted_by_group_size_give_the_global_rates(pairs, alpha: float, convention) -> None:
    same, values, group = both_classes(pairs)
    point = OperatingPoint.from_pairs(same, values, alpha, convention)
    whole = point.rates(same, values)
    tpr, fpr, acceptance = 0.0, 0.0, 0.0
    for code in np.unique(group):
        inside = group == code
        rates = point.rates(same[inside], values[inside])
        n_same, n_diff = int(same[inside].sum()), int((~same[inside]).sum())
        tpr += n_same * rates.tpr if n_same else 0.0
        fpr += n_diff * rates.fpr if n_diff else 0.0
        acceptance += (n_same + n_diff) * rates.acceptance
    assert (tpr / same.sum(), fpr / (~same).sum(), acceptance / len(same)) == pytest.approx(tuple(whole), abs=1e-12)


@relaxed
@given(pair_lists, alphas, conventions)
def test_a_strictly_increasing_map_changes_no_ranking_metric(pairs, alpha: float, convention) -> None:
    same, values, group = both_classes(pairs)
    mapped = np.exp(values) - 3
    assert auroc(same, mapped) == auroc(same, values)
    assert pauc(same, mapped) == pauc(same, values)
    before = OperatingPoint.from_pairs(same, values, alpha, convention)
    after = OperatingPoint.from_pairs(same, mapped, alpha, convention)
    inside = group == 0
    assert after.rates(same, mapped) == before.rates(same, values)
    assert np.array_equal(
        after.rates(same[inside], mapped[inside]), before.rates(same[inside], values[inside]), equal_nan=True
    )


@relaxed
@given(pair_lists)
def test_one_class_is_undefined_and_never_an_error(pairs) -> None:
    _, values, _ = arrays(pairs)
    for label in (True, False):
        same = np.full(len(values), label)
        assert np.isnan([auroc(same, values), pauc(same, values)]).all()
        assert np.isnan(OperatingPoint.from_pairs(same, values, 0.1).rates(same, values)).all()


@relaxed
@given(pair_lists, st.randoms(use_true_random=False), st.booleans())
def test_calibration_does_not_depend_on_the_order_of_pairs(pairs, random, equal_mass: bool) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)
    results = []
    for order in (pairs, shuffled):
        same, values, _ = arrays(order)
        probability = values / 6
        results.append((brier(same, probability), ece(same, probability, 4, equal_mass), ks(same, probability)))
    assert results[0] == pytest.approx(results[1], abs=1e-13)


@relaxed
@given(pair_lists)
def test_calibration_errors_lie_between_bias_and_one(pairs) -> None:
    same, values, _ = arrays(pairs)
    probability = values / 6
    bias = abs(float(np.mean(probability - same)))
    for error in (ece(same, probability), ece(same, probability, equal_mass=True), ks(same, probability)):
        assert bias - 1e-12 <= error <= 1 + 1e-12
    # By Jensen's inequality, bin by bin and then over bins.
    assert ece(same, probability) ** 2 <= brier(same, probability) + 1e-12


@relaxed
@given(pair_lists)
def test_ece_is_the_sum_over_bins_by_its_definition(pairs) -> None:
    same, values, _ = arrays(pairs)
    probability = values / 6
    edges = np.linspace(0, 1, 16)
    total = 0.0
    for k in range(15):
        inside = (probability >= edges[k]) & ((probability < edges[k + 1]) | (k == 14))
        if inside.any():
            total += inside.mean() * abs(probability[inside].mean() - same[inside].mean())
    assert ece(same, probability) == pytest.approx(total, abs=1e-12)


@relaxed
@given(pair_lists)
def test_ks_is_the_largest_gap_between_cumulated_probability_and_label(pairs) -> None:
    same, values, _ = arrays(pairs)
    probability = values / 6
    sums = [np.sum((probability - same)[probability <= limit]) for limit in np.unique(probability)]
    assert ks(same, probability) == pytest.approx(np.max(np.abs(sums)) / len(same), abs=1e-12)


@relaxed
@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), max_size=8))
def test_gap_is_nan_or_between_zero_and_a_hundred(rates: list[float]) -> None:
    value = max_min_gap(np.array(rates, dtype=np.float64))
    n_known = int(np.sum(~np.isnan(np.array(rates, dtype=np.float64))))
    assert np.isnan(value) if n_known < 2 else 0 <= value <= 100


@settings(deadline=None, max_examples=40)
@given(pair_lists, st.integers(0, 12))
def test_evaluate_is_nan_exactly_where_a_group_is_too_small(pairs, min_pairs: int) -> None:
    same, values, group = arrays(pairs)
    fold = (np.arange(len(same)) % 2).astype(np.int16)
    groups = PairGroups("g", "first", ("a", "b", "c"), group)
    rows = compute_metrics(ScoreFrame(fold, same, values, values / 6), ("x", "y"), [groups], min_pairs)
    for row in rows:
        if row.group in groups.levels:
            enough = row.n_same > 0 and row.n_diff > 0 and row.n_same + row.n_diff >= min_pairs
            is_rare_level = "1e-4" in row.metric  # which so few pairs never reach
            assert np.isfinite(row.value) == (enough and not is_rare_level)
    for metric, extremum in (("auroc", min), ("brier", max)):
        for label in ("x", "y", "pooled"):
            of_metric = {row.group: row.value for row in rows if (row.fold, row.metric) == (label, metric)}
            known = [of_metric[level] for level in groups.levels if not np.isnan(of_metric[level])]
            expected = extremum(known) if known else float("nan")
            assert of_metric["worst"] == pytest.approx(expected, nan_ok=True)
