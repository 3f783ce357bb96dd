"""The bootstrap over identities against scikit-learn, plain metrics and simulation."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from fairfr.metrics.calibration import brier
from fairfr.metrics.catalogue import METRIC_BY_ID
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.bootstrap import (
    HIGHER_IS_BETTER,
    BootstrapDraws,
    draw_bootstrap,
    identities,
    interval_to_infinity,
    metrics_of_draws,
    percentile_interval,
    resampling_units,
    simultaneous_band,
    simultaneous_intervals,
    worst_group_interval,
)

ALPHA = 0.1
CELL = ("rfw", "facenet")


def some_pairs(seed: int, p: int = 400) -> tuple[Any, ...]:
    """Units, labels, tied values, groups and losses of random pairs."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(60, size=(2, p)).astype(np.int32)
    same = rng.random(p) < 0.4
    values = np.round(same + rng.normal(0, 0.8, p), 1)  # many ties
    group = rng.integers(-1, 3, size=p).astype(np.int16)
    losses = rng.random((2, p))
    return ends, same, values, group, losses


def pair_weights(multiplicity: Any, ends: Any) -> Any:
    """The rule in its plainest form."""
    return np.array([multiplicity[a] if a == b else int(multiplicity[a]) * multiplicity[b] for a, b in ends.T])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weighted_metrics_are_those_of_scikit_learn(seed: int) -> None:
    ends, same, values, group, losses = some_pairs(seed)
    draws = draw_bootstrap(ends, 4, seed)
    measured = metrics_of_draws(draws, same, values, group, losses, ALPHA)
    for draw, multiplicity in enumerate(draws.multiplicity):
        weight = pair_weights(multiplicity, ends)
        for slot in range(4):
            of = (group == slot - 1) if slot else np.ones(len(same), dtype=bool)
            area = roc_auc_score(same[of], values[of], sample_weight=weight[of])
            assert measured.drawn[draw, slot, 0] == pytest.approx(area, abs=1e-12)
            loss = np.average(losses[min(slot, 1)][of], weights=weight[of])
            assert measured.drawn[draw, slot, 2] == pytest.approx(loss, abs=1e-12)
        fpr, tpr, _ = roc_curve(same, values, sample_weight=weight, drop_intermediate=False)
        assert measured.drawn[draw, 0, 1] == pytest.approx(np.interp(ALPHA, fpr, tpr), abs=1e-12)


def test_a_group_is_held_to_the_threshold_of_all_pairs_in_every_draw() -> None:
    ends, same, values, group, losses = some_pairs(7)
    draws = draw_bootstrap(ends, 3)
    measured = metrics_of_draws(draws, same, values, group, losses, ALPHA)
    for draw, multiplicity in enumerate(draws.multiplicity):
        copies = np.repeat(np.arange(len(same)), pair_weights(multiplicity, ends))
        point = OperatingPoint.from_pairs(same[copies], values[copies], ALPHA)
        for level in range(3):
            of = copies[group[copies] == level]
            assert measured.drawn[draw, level + 1, 1] == pytest.approx(point.rates(same[of], values[of]).tpr, abs=1e-12)


def test_directions_are_those_of_the_catalogue() -> None:
    assert {metric: METRIC_BY_ID[metric].better == "higher" for metric in HIGHER_IS_BETTER} == HIGHER_IS_BETTER


def test_drawing_everyone_once_gives_the_plain_metrics() -> None:
    ends, same, values, group, _ = some_pairs(3)
    probability = np.clip(values, 0, 1)
    losses = np.stack([(probability - same) ** 2] * 2)
    once = BootstrapDraws(np.ones((1, 60), dtype=np.int16), ends)
    measured = metrics_of_draws(once, same, values, group, losses, ALPHA)
    point = OperatingPoint.from_pairs(same, values, ALPHA)
    for slot in range(4):
        of = (group == slot - 1) if slot else np.ones(len(same), dtype=bool)
        auroc = roc_auc_score(same[of], values[of])
        wanted = [auroc, point.rates(same[of], values[of]).tpr, brier(same[of], probability[of])]
        np.testing.assert_allclose(measured.plain[slot], wanted, atol=1e-12)
        np.testing.assert_array_equal(measured.drawn[0, slot], measured.plain[slot])


def test_a_draw_without_both_classes_has_no_value() -> None:
    ends = np.array([[0, 1], [0, 1]], dtype=np.int32)
    draws = BootstrapDraws(np.array([[2, 0], [1, 1]], dtype=np.int16), ends)
    none = np.full(2, -1, dtype=np.int16)
    measured = metrics_of_draws(draws, np.array([True, False]), np.array([0.9, 0.1]), none, np.zeros((2, 2)), ALPHA)
    assert np.isnan(measured.drawn[0, 0]).all() and measured.drawn[1, 0, 0] == 1.0
    value, drawn = measured.worst("auroc")
    assert np.isnan(value) and np.isnan(drawn).all() and np.isnan(percentile_interval(drawn)).all()


def test_the_worst_group_is_found_anew_in_each_draw() -> None:
    ends, same, values, group, losses = some_pairs(4)
    measured = metrics_of_draws(draw_bootstrap(ends, 50), same, values, group, losses, ALPHA)
    np.testing.assert_array_equal(measured.worst("auroc")[1], np.nanmin(measured.drawn[:, 1:, 0], axis=1))
    np.testing.assert_array_equal(measured.worst("brier")[1], np.nanmax(measured.drawn[:, 1:, 2], axis=1))
    assert len(set(np.nanargmin(measured.drawn[:, 1:, 0], axis=1))) > 1


def test_images_linked_by_genuine_pairs_are_one_identity() -> None:
    # 0-1-2 is a chain; 3-4 a pair; 5 and 6 have impostor pairs only
    left, right = np.array([0, 1, 3, 2, 5, 6, 5]), np.array([1, 2, 4, 3, 0, 5, 6])
    same = np.array([True, True, True, False, False, False, False])
    person = identities(left, right, same)
    assert person[0] == person[1] == person[2] and person[3] == person[4]
    assert len({person[0], person[3], person[5], person[6]}) == 4


def test_known_identities_hold_images_together_that_no_genuine_pair_links() -> None:
    # 0-1 and 2-3 are genuine pairs of one person (code 7), who meets image 4 (code 2) and image 5 (unknown)
    left, right = np.array([0, 2, 0, 5, 5]), np.array([1, 3, 4, 2, 6])
    same = np.array([True, True, False, False, True])
    codes = np.array([7, 7, 7, -1, -1], dtype=np.int32), np.array([7, 7, 2, 7, -1], dtype=np.int32)
    person = identities(left, right, same, codes)
    assert len({person[0], person[1], person[2], person[3]}) == 1
    assert person[5] == person[6]  # unknown: the genuine pair tells
    assert len({person[0], person[4], person[5]}) == 3
    by_pairs = identities(left, right, same)
    assert by_pairs[0] == by_pairs[1] != by_pairs[2] == by_pairs[3]


def test_a_wrong_label_does_not_make_one_person_of_two_known_ones() -> None:
    left, right, same = np.array([0, 0]), np.array([1, 2]), np.array([True, True])
    codes = np.array([1, 1], dtype=np.int32), np.array([2, 1], dtype=np.int32)
    person = identities(left, right, same, codes)
    assert person[0] != person[1] and person[0] == person[2]


def test_an_identity_met_once_joins_its_partner_and_others_stay_apart() -> None:
    # persons {0,1} and {2,3} meet each other and have genuine pairs; 4 meets only {0,1}; 5 and 6 only each other
    left, right = np.array([0, 2, 0, 4, 5]), np.array([1, 3, 2, 1, 6])
    same = np.array([True, True, False, False, False])
    ends = resampling_units(left, right, same)
    assert ends[0, 2] != ends[1, 2]
    assert ends[0, 3] == ends[1, 3] == ends[0, 0]
    assert ends[0, 4] == ends[1, 4]
    assert ends.max() + 1 == 3


def test_draws_have_as_many_identities_as_there_are_and_follow_the_seed() -> None:
    ends = some_pairs(0)[0]
    drawn = draw_bootstrap(ends, 20, seed=3).multiplicity
    assert drawn.shape == (20, 60) and (drawn.sum(axis=1) == 60).all()
    np.testing.assert_array_equal(drawn, draw_bootstrap(ends, 20, seed=3).multiplicity)
    assert not np.array_equal(drawn, draw_bootstrap(ends, 20, seed=4).multiplicity)


def simulate(rng: np.random.Generator, n_persons: int) -> tuple[Any, ...]:
    """Every person's genuine pair and every fifth pair of persons: cosines carry effects of both persons."""
    effect = rng.normal(0, 0.6, n_persons)
    a, b = np.triu_indices(n_persons, 1)
    met = rng.random(len(a)) < 0.2
    a, b = a[met], b[met]
    person = np.arange(n_persons)
    left = np.concatenate([2 * person, 2 * a])
    right = np.concatenate([2 * person + 1, 2 * b + 1])
    same = np.arange(len(left)) < n_persons
    values = np.concatenate(
        [1.5 + effect + rng.normal(0, 0.5, n_persons), effect[a] + effect[b] + rng.normal(0, 0.5, len(a))]
    )
    return left, right, same, values


def auroc_interval(left: Any, right: Any, same: Any, values: Any, ends: Any) -> tuple[float, float]:
    none = np.full(len(same), -1, dtype=np.int16)
    measured = metrics_of_draws(draw_bootstrap(ends, 200), same, values, none, np.zeros((2, len(same))), ALPHA)
    return percentile_interval(measured.all_pairs("auroc")[1])


def test_the_interval_covers_where_drawing_pairs_would_not() -> None:
    rng = np.random.default_rng(0)
    truth = np.mean([roc_auc_score(*simulate(rng, 60)[2:]) for _ in range(300)])
    covered = covered_by_pairs = 0
    for _ in range(100):
        left, right, same, values = simulate(rng, 60)
        low, high = auroc_interval(left, right, same, values, resampling_units(left, right, same))
        covered += low <= truth <= high
        alone = np.tile(np.arange(len(same), dtype=np.int32), (2, 1))
        low, high = auroc_interval(left, right, same, values, alone)
        covered_by_pairs += low <= truth <= high
    assert covered >= 89  # a true 95 % falls below it in less than one case of a hundred
    assert covered_by_pairs < covered


def split_people(rng: np.random.Generator, n_persons: int, parts: int) -> tuple[Any, ...]:
    """People whose genuine pairs hang together in no way: ``parts`` pairs of two images each, all with one effect."""
    effect = rng.normal(0, 1.0, n_persons)
    person = np.repeat(np.arange(n_persons), parts)
    n = len(person)
    first = 2 * np.arange(n)
    partner = rng.permutation(n)
    partner = np.where(person[partner] == person, np.roll(partner, parts), partner)
    met = person != person[partner]
    left = np.concatenate([first, first[met]])
    right = np.concatenate([first + 1, first[partner[met]] + 1])
    same = np.arange(len(left)) < n
    codes = person[left // 2].astype(np.int32), person[right // 2].astype(np.int32)
    values = np.concatenate([1.5 + effect[person] + rng.normal(0, 0.5, n), rng.normal(0, 1.0, int(met.sum()))])
    return left, right, same, values, codes


def test_drawing_people_covers_where_drawing_their_parts_does_not() -> None:
    """Genuine scores are N(1.5, 1 + 1/4), impostors' N(0, 1): the true AUROC is Phi(1.5 / sqrt(2.25))."""
    rng = np.random.default_rng(1)
    truth = NormalDist().cdf(1.5 / np.sqrt(2.25))
    covered, width = np.zeros(2), np.zeros(2)
    for _ in range(100):
        left, right, same, values, codes = split_people(rng, 40, 8)
        for way, known in enumerate((codes, None)):
            low, high = auroc_interval(left, right, same, values, resampling_units(left, right, same, known))
            covered[way] += low <= truth <= high
            width[way] += high - low
    assert covered[0] >= 89  # a true 95 % falls below it in less than one case of a hundred
    assert covered[1] < 85 and width[1] < 0.7 * width[0]


def test_simultaneous_intervals_hold_together_in_their_share_of_the_draws() -> None:
    rng = np.random.default_rng(2)
    together = rng.normal(size=(2000, 1)) + 0.3 * rng.normal(size=(2000, 3))
    apart = np.exp(rng.normal(size=(2000, 5)))  # skewed
    drawn = np.concatenate([together, apart], axis=1)
    bounds = simultaneous_intervals(drawn)
    inside = ((drawn >= bounds[0]) & (drawn <= bounds[1])).all(axis=1).mean()
    assert 0.95 <= inside <= 0.96
    alone = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert (bounds[0] <= alone[0]).all() and (bounds[1] >= alone[1]).all()
    bonferroni = np.quantile(drawn, [0.025 / 8, 1 - 0.025 / 8], axis=0)
    assert (bounds[1] - bounds[0] < bonferroni[1] - bonferroni[0]).all()  # three groups move together
    cut = [np.searchsorted(np.sort(column), low) for column, low in zip(drawn.T, bounds[0], strict=True)]
    assert len(set(cut)) == 1  # the same share of each tail


def test_one_group_has_its_own_interval_and_ties_and_gaps_do_no_harm() -> None:
    drawn = np.arange(1000.0).reshape(-1, 1)
    np.testing.assert_allclose(simultaneous_intervals(drawn).T[0], percentile_interval(drawn[:, 0]), atol=1)
    tied = np.concatenate([np.ones((1000, 1)), np.full((1000, 1), np.nan), drawn], axis=1)
    bounds = simultaneous_intervals(tied)
    assert bounds[:, 0].tolist() == [1.0, 1.0] and np.isnan(bounds[:, 1]).all()
    np.testing.assert_allclose(bounds[:, 2], percentile_interval(drawn[:, 0]), atol=1)
    assert worst_group_interval(bounds, True) == (1.0, 1.0) and worst_group_interval(bounds, False) == tuple(
        bounds[:, 2]
    )
    assert np.isnan(worst_group_interval(np.full((2, 3), np.nan), True)).all()


def test_the_found_worst_value_is_not_the_true_one_and_simultaneous_intervals_are() -> None:
    """Eight groups with the same true AUROC, Phi(1.5 / sqrt(2)): the worst of them looks worse by chance alone."""
    rng = np.random.default_rng(3)
    truth = NormalDist().cdf(1.5 / np.sqrt(2))
    by_worst = by_all = every_group = 0
    for _ in range(100):
        same = np.tile([True, False], 8 * 60)
        group = np.repeat(np.arange(8), 120).astype(np.int16)
        values = 1.5 * same + rng.normal(size=len(same))
        ends = np.tile(np.arange(len(same), dtype=np.int32), (2, 1))
        measured = metrics_of_draws(draw_bootstrap(ends, 300), same, values, group, np.zeros((2, len(same))), ALPHA)
        low, high = percentile_interval(measured.worst("auroc")[1])
        by_worst += low <= truth <= high
        bounds = simultaneous_intervals(measured.groups("auroc")[1])
        every_group += bool(((bounds[0] <= truth) & (truth <= bounds[1])).all())
        low, high = worst_group_interval(bounds, True)
        by_all += low <= truth <= high
    assert by_worst < 30
    assert every_group >= 86 and by_all >= every_group


def test_an_interval_counts_infinite_draws_at_their_end_and_unknown_ones_at_both() -> None:
    drawn = np.arange(1.0, 101.0)
    assert interval_to_infinity(drawn) == percentile_interval(drawn)
    drawn[-1] = np.inf
    assert interval_to_infinity(drawn) == (3.0, 98.0)
    drawn[-5:] = np.inf
    assert interval_to_infinity(drawn) == (3.0, np.inf)
    drawn[-5:] = np.nan
    assert interval_to_infinity(drawn) == (-np.inf, np.inf)


def test_a_simultaneous_band_is_as_wide_as_the_largest_distance_needs() -> None:
    rng = np.random.default_rng(0)
    points = np.array([1.0, -2.0, 0.0, np.nan])
    drawn = points + np.array([0.1, 3.0, 0.0, 1.0]) * rng.normal(size=(4000, 4))
    band = simultaneous_band(points, drawn)
    inside = ((drawn >= band[0]) & (drawn <= band[1]))[:, :3].all(axis=1)
    assert inside.mean() == pytest.approx(0.95, abs=1e-3)
    widths = (band[1] - band[0]) / 2
    # two independent normal variables: both within 2.236 standard deviations in 95 % of cases
    assert widths[:2] == pytest.approx(2.236 * np.array([0.1, 3.0]), rel=0.05)
    assert widths[2] == 0 and np.isnan(band[:, 3]).all()
