"""Rates of groups at thresholds: counted in loops, by hand, and by simulation with people who share pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairfr.auditing.group_rates import differentials, largest_ratio, measure_rates, needed_times
from fairfr.auditing.sample import Coded, Grouping, Sample
from fairfr.numerics.rate_bounds import at_least_times


def grouped(codes: np.ndarray, *levels: str) -> Grouping:
    return Grouping.of("g", Coded(codes.astype(np.int32), levels))


def small() -> Sample:
    """Two groups, ties, and rates that can be counted by hand."""
    score = np.array([0.9, 0.5, 0.5, 0.1, 0.8, 0.6, 0.5, 0.3])
    same = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=bool)
    return Sample(score, same, groupings=(grouped(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "a", "b"),))


def test_rates_at_a_threshold_by_hand() -> None:
    found = measure_rates(small(), 0.5, ())
    counts = {
        row.group: (row.fmr.errors.errors, row.fmr.errors.pairs, row.fnmr.errors.errors, row.fnmr.errors.pairs)
        for row in found.rows
    }
    assert counts == {"all": (3, 4, 1, 4), "a": (2, 2, 0, 2), "b": (1, 2, 1, 2)}
    assert found.rows[0].fmr.interval == pytest.approx(tuple(stats.binomtest(3, 4).proportion_ci(0.95)))


@pytest.mark.parametrize(("level", "expected"), [(0.25, 0.6), (0.3, 0.6), (0.75, 0.3), (0.2, None)])
def test_the_threshold_of_a_level_is_the_lowest_score_that_keeps_it(level: float, expected: float | None) -> None:
    """Two impostors share .5: no threshold accepts only one of them. The highest score is an impostor's."""
    found = measure_rates(small(), None, (level,))
    assert found.rows[0].threshold == expected
    if expected is None:
        assert found.rows[0].fmr.errors.errors == 0
        assert found.rows[0].fnmr.errors.errors == 4, "nothing is accepted"


def test_impostor_like_is_one_where_genuine_pairs_are_impostors() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=4000)
    rows = measure_rates(Sample(score, np.arange(4000) < 2000), 0.0, ()).rows
    assert rows[0].impostor_like == pytest.approx(1, abs=0.1)


def test_too_few_impostors_for_a_level_are_told() -> None:
    """29,956 impostor pairs without a false match show 1e-4 with 95 % confidence."""
    rng = np.random.default_rng(2)
    same = np.arange(4000) < 1000
    found = measure_rates(Sample(rng.normal(size=4000) + 3 * same, same), None, (1e-1, 1e-4))
    assert [row.needed for row in found.rows] == [None, 29_956]


def test_the_largest_ratio_compares_all_ordered_pairs_of_groups() -> None:
    rng = np.random.default_rng(3)
    codes = np.arange(9000) % 3
    score = rng.normal(size=9000) + 0.5 * (codes == 2)
    sample = Sample(score, rng.random(9000) < 0.2, groupings=(grouped(codes, "a", "b", "c"),))
    groups = measure_rates(sample, 1.5, ()).at("current", "g")
    found = largest_ratio(groups, "fmr", people_known=False)
    assert found is not None
    errors = {row.group: row.fmr.errors for row in groups}
    every = {(a, b): at_least_times(errors[a], errors[b], 6) for a in "abc" for b in "abc" if a != b}
    assert (found.higher.group, found.lower.group) == max(every, key=every.__getitem__)
    assert found.times == max(every.values()) > 1
    assert found.if_people_vary is not None
    assert found.phi_at_one is not None
    assert found.if_people_vary < found.times


def test_people_who_share_pairs_widen_intervals() -> None:
    """Thirty people; the pairs of three of them are the false matches."""
    left, right = (side.astype(np.int64) for side in np.triu_indices(30, 1))
    lambs = (left < 3) | (right < 3)
    score = np.where(lambs, 0.9, 0.1) + np.linspace(0, 0.01, len(left))
    same = np.zeros(len(left), dtype=bool)
    (known,) = measure_rates(Sample(score, same, people=(left, right)), 0.5, ()).rows
    (unknown,) = measure_rates(Sample(score, same), 0.5, ()).rows
    assert known.fmr.errors.errors == unknown.fmr.errors.errors == np.count_nonzero(lambs)
    assert known.fmr.interval[1] > 1.3 * unknown.fmr.interval[1]
    assert known.fmr.interval[0] < 0.7 * unknown.fmr.interval[0]


def test_intervals_cover_the_true_rate_where_people_share_pairs() -> None:
    """People differ in how often they are falsely matched: with and without knowing who they are."""
    covered = {True: 0, False: 0}
    draws = 120
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        effect = rng.normal(scale=0.7, size=60)
        left, right = (side.astype(np.int64) for side in np.triu_indices(60, 1))
        score = effect[left] + effect[right] + rng.normal(size=len(left))
        truth = stats.norm.sf(2.5, scale=np.sqrt(1 + 2 * 0.49))
        for known in covered:
            people = (left, right) if known else None
            (row,) = measure_rates(Sample(score, np.zeros(len(left), dtype=bool), people=people), 2.5, ()).rows
            low, high = row.fmr.interval
            covered[known] += low <= truth <= high
    assert covered[True] >= 0.93 * draws
    assert covered[False] < 0.8 * draws, "as if independent, they are too narrow"


def test_differentials_by_hand() -> None:
    rng = np.random.default_rng(4)
    codes = np.repeat([0, 1], 2000)
    same = np.arange(4000) % 2 == 0
    score = np.where(same, 1.0, 0.0)
    wrong = np.concatenate([np.flatnonzero(~same & (codes == 0))[:100], np.flatnonzero(~same & (codes == 1))[:25]])
    score[wrong] = 1.0
    missed = np.concatenate([np.flatnonzero(same & (codes == 0))[:50], np.flatnonzero(same & (codes == 1))[:200]])
    score[missed] = 0.0
    order = rng.permutation(4000)
    sample = Sample(score[order], same[order], groupings=(grouped(codes[order], "a", "b"),))
    found = differentials(measure_rates(sample, 0.5, ()).at("current", "g"))
    assert found.fmr_max_min == pytest.approx(4)
    assert found.fnmr_max_min == pytest.approx(4)
    assert found.fmr_max_geomean == pytest.approx(0.1 / np.sqrt(0.1 * 0.025))
    assert found.inequity_rate == pytest.approx(4)
    assert found.fdr == pytest.approx(1 - (0.075 + 0.15) / 2)
    # two groups: n / (n - 1) * 2 |x - y| / (2 n^2 mean) = |x - y| / (2 mean)
    assert found.garbe == pytest.approx((0.075 / 0.125 + 0.15 / 0.25) / 2)
    assert found.reason is None


def test_without_errors_in_a_group_ratios_have_no_value() -> None:
    found = differentials(measure_rates(small(), 0.95, ()).at("current", "g"))
    assert found.fmr_max_min is None
    assert found.inequity_rate is None
    assert found.reason is not None
    assert found.garbe == pytest.approx(0)


def test_so_many_times_as_many_pairs_are_needed() -> None:
    groups = measure_rates(small(), 0.5, ()).at("current", "g")
    found = largest_ratio(groups, "fmr", people_known=True)
    assert found is not None
    assert found.times <= 1
    assert (needed_times(found, "fmr") or 0) > 1
