"""Intervals of rates and bounds on their ratios: against scipy's distributions, loops over people, and simulation."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.rate_bounds import (
    IF_PEOPLE_VARY,
    Errors,
    at_least_times,
    dyadic_variance,
    people_spread,
    rate_interval,
    spread_at_one,
    times_more_needed,
)


@pytest.mark.parametrize(("errors", "pairs"), [(0, 100), (1, 3), (7, 1000), (999, 1000), (1000, 1000)])
def test_without_spread_the_interval_is_clopper_and_pearsons(errors: int, pairs: int) -> None:
    expected = stats.binomtest(errors, pairs).proportion_ci(0.95, method="exact")
    assert rate_interval(Errors(errors, pairs)) == pytest.approx(tuple(expected), abs=1e-12)


def test_no_pairs_have_no_interval() -> None:
    assert np.isnan(rate_interval(Errors(0, 0))).all()


@pytest.mark.parametrize("errors", [3, 40])
@pytest.mark.parametrize("spread", [0.02, 0.4])
def test_with_spread_the_ends_leave_a_fortieth_of_a_negative_binomial_beyond(errors: int, spread: float) -> None:
    pairs = 5000
    over = spread - 1 / pairs
    low, high = rate_interval(Errors(errors, pairs, spread))
    for rate, tail in ((low, lambda law: law.sf(errors - 1)), (high, lambda law: law.cdf(errors))):
        mean = rate * pairs
        law = stats.nbinom(1 / over, 1 / (1 + over * mean))
        assert tail(law) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize(("errors", "pairs"), [(0, 1), (0, 300), (2, 300)])
def test_where_hardly_anything_is_known_the_interval_reaches_one(errors: int, pairs: int) -> None:
    low, high = rate_interval(Errors(errors, pairs, spread=1e4))
    assert high == 1
    assert 0 <= low <= errors / pairs


def test_more_spread_never_narrows() -> None:
    ends = np.array([rate_interval(Errors(12, 4000, spread)) for spread in (0, 1e-4, 2e-4, 1e-3, 0.05, 0.3)])
    assert (np.diff(ends[:, 0]) <= 1e-12).all()
    assert (np.diff(ends[:, 1]) >= -1e-12).all()


@pytest.mark.parametrize(
    ("higher", "lower", "expected", "if_people_vary"),
    [(12, 0, 1.698, 1.28), (18, 0, 2.76, None), (153, 10, 6.67, None), (1266, 276, 3.79, None)],
)
def test_at_least_times_of_published_counts(higher: int, lower: int, expected: float, if_people_vary: float) -> None:
    """The false matches of four groups: twelve ordered pairs of groups are compared."""
    a, b = Errors(higher, 82_965), Errors(lower, 81_571)
    assert at_least_times(a, b, 12) == pytest.approx(expected, rel=2e-3)
    if if_people_vary is not None:
        vary = at_least_times(Errors(higher, 82_965, IF_PEOPLE_VARY), Errors(lower, 81_571, IF_PEOPLE_VARY), 12)
        assert vary == pytest.approx(if_people_vary, abs=0.005)


def test_at_least_times_is_the_exact_binomial_comparison() -> None:
    """Given the sum of two Poisson numbers, one of them is binomial."""
    a, b = Errors(30, 2000), Errors(9, 1500)
    x = at_least_times(a, b, comparisons=6)
    share = x * a.pairs / (x * a.pairs + b.pairs)
    assert stats.binom.sf(a.errors - 1, a.errors + b.errors, share) == pytest.approx(0.05 / 6)
    assert at_least_times(Errors(0, 10), b, 6) == 0


def test_of_two_equal_rates_few_are_called_higher() -> None:
    """Where people vary by 30 %, and the spread is known: at most one of twenty is wrong, as promised."""
    rng = np.random.default_rng(0)
    n, spread = 20_000, 0.09
    wrong = 0
    for _ in range(400):
        rate = 1e-3 * rng.gamma(1 / spread, spread, 2)
        a, b = (Errors(int(k), n, spread) for k in rng.poisson(rate * n))
        wrong += max(at_least_times(a, b, 2), at_least_times(b, a, 2)) > 1
    assert wrong <= 0.05 * 400


def test_the_spread_up_to_which_a_difference_holds() -> None:
    a, b = Errors(12, 82_965), Errors(0, 81_571)
    phi = spread_at_one(a, b, 12)
    assert phi is not None
    for factor, holds in ((0.99, True), (1.01, False)):
        spread = (factor * phi) ** 2
        assert (at_least_times(Errors(12, 82_965, spread), Errors(0, 81_571, spread), 12) > 1) == holds
    assert spread_at_one(Errors(3, 1000), Errors(2, 1000), 12) is None


def test_so_many_times_as_many_pairs_establish_a_difference() -> None:
    a, b = Errors(8, 1000, 0.01), Errors(3, 1000, 0.01)
    times = times_more_needed(a, b, 2)
    assert times is not None
    for m, enough in ((times - 1, False), (times, True)):
        assert (at_least_times(Errors(8 * m, 1000 * m, 0.01 / m), Errors(3 * m, 1000 * m, 0.01 / m), 2) > 1) == enough
    assert times_more_needed(Errors(5, 1000), Errors(5, 1000), 2) is None


def test_dyadic_variance_in_loops() -> None:
    """The sum over all ordered couples of pairs that share a person, each couple of pairs once."""
    rng = np.random.default_rng(1)
    left, right = rng.integers(12, size=(2, 80))
    u = rng.normal(size=(80, 2))
    expected = np.zeros((2, 2))
    for i in range(80):
        for j in range(80):
            if {left[i], right[i]} & {left[j], right[j]}:
                expected += np.outer(u[i], u[j])
    assert dyadic_variance(People.of(left, right), u) == pytest.approx(12 / 11 * expected)


def test_errors_of_a_few_people_have_the_spread_of_their_variance() -> None:
    """Genuine pairs, each of one person: a tenth of the people make all errors."""
    person = np.repeat(np.arange(200), 10)
    error = person < 20
    spread = people_spread(People.of(person, person), np.argsort(~error, kind="stable"), 200)
    sums = defaultdict(float)
    for who, wrong in zip(person, error, strict=True):
        sums[who] += wrong - 0.1
    variance = 200 / 199 * sum(value**2 for value in sums.values())
    assert spread >= (variance / (2000 * 0.1 * 0.9) - 1) * 0.9 / 200 * (1 - 1e-12)
    low, high = rate_interval(Errors(200, 2000, spread))
    assert low < 0.07
    assert high > 0.14


def test_pairs_of_different_people_have_no_spread() -> None:
    order = np.random.default_rng(2).permutation(1000)
    people = People.of(np.arange(1000), 1000 + np.arange(1000))
    assert people_spread(people, order, 30) == pytest.approx(0, abs=1e-4)
    assert people_spread(people, order, 0) == 0
