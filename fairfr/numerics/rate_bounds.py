"""Error rates of groups of pairs that may share people: intervals, and how many times higher one rate is for sure.

Problem. k errors of n pairs bound the true rate by Clopper and Pearson (1934) if pairs are independent. Pairs that
share people are not: where a few people make most errors, the number of errors varies more than a binomial one.

Idea. The variance of k is taken for binomial + phi² (np)². ``people_spread`` finds an upper value of phi² from how the
errors fall on people. A small phi² makes k a binomial number of fewer pairs; a large one makes it negative binomial.

The bounds here are one-sided or two-sided at a confidence that the caller divides by his number of comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairfr.core.types import F64, I64
from fairfr.numerics.allowed_false_matches import People, excess

CONFIDENCE = 0.95
ENOUGH_FOR_VARIANCE = 20
"""With so many errors and as many pairs without one, the variance of the errors over people is used as well."""
IF_PEOPLE_VARY = 0.09
"""phi² where nobody knows who is on the images: the choice of people changes a group's rate by 30 %."""
MOST_TIMES = 1000
_LARGEST_PHI = 1e3


@dataclass(frozen=True, slots=True)
class Errors:
    """``errors`` of ``pairs`` are wrong; ``spread`` is phi², how much more they vary than binomial ones."""

    errors: int
    pairs: int
    spread: float = 0.0

    @property
    def rate(self) -> float:
        """The share of errors; NaN without pairs."""
        if self.pairs == 0:
            return math.nan
        return self.errors / self.pairs

    @property
    def overdispersion(self) -> float:
        """What ``spread`` adds to the variance of independent pairs, at least 0."""
        return max(self.spread - 1 / self.pairs, 0.0)


def people_spread(people: People, order: I64, n_errors: int) -> float:
    """Estimate phi², how much more the errors of one kind of pairs vary than binomial ones, from above.

    Parameters
    ----------
    people : People
        Who is met in n_pairs pairs, all genuine or all impostors.
    order : ndarray of int, shape (n_pairs,)
        The pairs, those first that are nearest to an error: impostors by falling score, genuine pairs by rising score.
    n_errors : int
        So many of them, the first in ``order``, are errors.

    Returns
    -------
    float
        The larger of two estimates: the upper 95 % limit of ``allowed_false_matches.excess``, and, with enough errors,
        what the variance of the errors over people needs.
    """
    n = len(order)
    if n == 0:
        return 0.0
    spread = excess(people, order, max(n_errors, 1) / n, CONFIDENCE) or 0.0
    if min(n_errors, n - n_errors) >= ENOUGH_FOR_VARIANCE:
        rate = n_errors / n
        residual = np.full((n, 1), -rate)
        residual[order[:n_errors]] += 1
        variance = float(dyadic_variance(people, residual)[0, 0])
        spread = max(spread, (variance / (n * rate * (1 - rate)) - 1) * (1 - rate) / n_errors)
    return spread


def dyadic_variance(people: People, residuals: Any) -> F64:
    """Covariance of the sums of ``residuals`` over pairs, where pairs that share a person are not independent.

    Parameters
    ----------
    people : People
        Who is met in n_pairs pairs.
    residuals : ndarray or scipy sparse array, shape (n_pairs, n_columns)
        Values whose expectation is 0.

    Returns
    -------
    ndarray of float, shape (n_columns, n_columns)
        ``N / (N - 1) * (sum_i R_i R_i' - sum_c T_c T_c')``: ``R_i`` sums over the pairs of person i, ``T_c`` over the
        pairs of the two different people c, which would count twice (Fafchamps and Gubert 2007). N people. It need not
        be positive definite; NaN with a single person.
    """
    n_people = len(people)
    if n_people < 2:
        return np.full((residuals.shape[1], residuals.shape[1]), np.nan)
    persons, couples = people.members
    by_person = persons @ residuals
    by_couple = couples @ residuals
    total = by_person.T @ by_person - by_couple.T @ by_couple
    if not isinstance(total, np.ndarray):
        total = total.toarray()
    covariance: F64 = n_people / (n_people - 1) * total
    return covariance


def rate_interval(found: Errors, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Two-sided interval of a rate.

    Parameters
    ----------
    found : Errors
        The errors, and how much more they vary than binomial ones. A spread of 0 gives the interval of Clopper and
        Pearson.
    confidence : float, default 0.95
        How often the interval covers the true rate.

    Returns
    -------
    tuple of float
        Both ends; NaN without pairs.
    """
    if found.pairs == 0:
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low = 0.0
    high = 1.0
    if found.errors > 0:
        low = min(found.rate, _rate_at(found, found.errors, found.pairs - found.errors + 1, tail))
    if found.errors < found.pairs:
        high = min(1.0, _rate_at(found, found.errors + 1, found.pairs - found.errors, 1 - tail))
    return low, high


def _rate_at(found: Errors, errors: int, others: int, quantile: float) -> float:
    """The rate at a quantile, where ``errors`` and ``others`` are counted to the end in question."""
    from scipy.special import betaincinv

    if found.overdispersion > 0:
        return _odds_at(errors, quantile, found.overdispersion) / (found.overdispersion * found.pairs)
    n = found.pairs
    design = 1 + found.spread * errors / max(1 - errors / n, 1 / n)
    return float(betaincinv(errors / design, others / design, quantile))


def at_least_times(higher: Errors, lower: Errors, comparisons: int, alpha: float = 1 - CONFIDENCE) -> float:
    """Bound from below how many times the one rate is the other.

    Parameters
    ----------
    higher, lower : Errors
        The two rates to be compared.
    comparisons : int
        How many such bounds shall hold together: for all ordered pairs of G groups, G (G - 1).
    alpha : float, default 0.05
        How often one of them may be wrong.

    Returns
    -------
    float
        The true ratio of the rates is at least this, for all comparisons together. 0 where nothing can be said.
    """
    from scipy.special import betaincinv

    if higher.errors == 0:
        return 0.0
    tail = alpha / comparisons
    share = betaincinv(higher.errors, lower.errors + 1, tail)
    exact = float(share / (1 - share)) * lower.pairs / higher.pairs
    if higher.overdispersion == 0 and lower.overdispersion == 0:
        return exact
    return min(exact, _overdispersed_times(higher, lower, tail))


def _overdispersed_times(higher: Errors, lower: Errors, tail: float) -> float:
    """The bound for negative binomial numbers, from the medians of both and their one-sided limits (MOVER)."""
    low = _errors_at(higher.errors, tail, higher.overdispersion)
    middle = _errors_at(higher.errors, 0.5, higher.overdispersion)
    upper = _errors_at(lower.errors + 1, 1 - tail, lower.overdispersion)
    other_middle = _errors_at(lower.errors + 1, 0.5, lower.overdispersion)
    if low == 0 or math.isinf(upper):
        return 0.0
    distance = math.hypot(math.log(middle / low), math.log(upper / other_middle))
    return middle / other_middle * math.exp(-distance) * lower.pairs / higher.pairs


def _errors_at(errors: int, quantile: float, overdispersion: float) -> float:
    """Quantile of the expected number of errors, where ``errors`` were seen."""
    from scipy.special import gammaincinv

    if overdispersion == 0:
        return float(gammaincinv(errors, quantile))
    return _odds_at(errors, quantile, overdispersion) / overdispersion


def _odds_at(errors: int, quantile: float, overdispersion: float) -> float:
    """Quantile of the overdispersion times the expected number of errors, which is the odds of a beta variable."""
    from scipy.special import betaincinv

    z = float(betaincinv(errors, 1 / overdispersion, quantile))
    if z == 1:
        return math.inf
    return z / (1 - z)


def spread_at_one(higher: Errors, lower: Errors, comparisons: int) -> float | None:
    """The phi, equal in both groups, up to which the one rate is higher for sure; None where it is not even at 0.

    With people unknown: how much the choice of people may change a group's rate before the difference is lost.
    """

    def times(phi: float) -> float:
        return at_least_times(replace(higher, spread=phi**2), replace(lower, spread=phi**2), comparisons)

    low = 0.0
    high = 1.0
    if times(low) <= 1:
        return None
    while times(high) > 1:
        low = high
        high = 2 * low
        if high > _LARGEST_PHI:
            return low
    for _ in range(50):
        middle = (low + high) / 2
        if times(middle) > 1:
            low = middle
        else:
            high = middle
    return low


def times_more_needed(higher: Errors, lower: Errors, comparisons: int) -> int | None:
    """So many times as many people and pairs would establish the difference, if rates stay; None above a thousand."""

    def is_established(m: int) -> bool:
        return at_least_times(_grown(higher, m), _grown(lower, m), comparisons) > 1

    if higher.errors == 0:
        return None
    return _first_number(is_established)


def pairs_to_exclude(stored: Errors, now: Errors, times: float) -> int | None:
    """So many pairs would show that the rate of ``now`` is at most ``times`` that of ``stored``, if rates stay.

    None where even a thousand times as many would not.
    """

    def is_excluded(m: int) -> bool:
        return at_least_times(stored, _grown(now, m), 1) * times >= 1

    more = _first_number(is_excluded)
    if more is None:
        return None
    return more * now.pairs


def _first_number(is_enough: Callable[[int], bool]) -> int | None:
    """The smallest number up to a thousand that is enough; None where none is."""
    if not is_enough(MOST_TIMES):
        return None
    low = 0
    high = MOST_TIMES
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def _grown(found: Errors, times: int) -> Errors:
    return Errors(times * found.errors, times * found.pairs, found.spread / times)
