"""Does a saved calibrator still hold on new labelled pairs: rates, probabilities, ranking, and one verdict.

Each is compared with what the model keeps of its held-out pairs. A check fails only if chance is excluded *and* the
difference matters: a rate is 1.25 times as high, or fitting the probabilities again lowers their log loss by 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from fairfr.auditing.group_rates import KINDS, GroupRates, Kind, Subset
from fairfr.auditing.kept import Kept, KeptThreshold
from fairfr.auditing.probabilities import Judged, most_pairs
from fairfr.auditing.sample import Sample
from fairfr.core.names import ALL
from fairfr.core.types import F64, Bool
from fairfr.metrics.calibration_tests import fit_log_odds
from fairfr.metrics.likelihood_ratios import log_loss
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.error_rates import threshold_at
from fairfr.numerics.rate_bounds import IF_PEOPLE_VARY, Errors, at_least_times, pairs_to_exclude

Verdict: TypeAlias = Literal[
    "holds",
    "cannot_be_told_yet",
    "holds_after_a_new_prior",
    "ranking_holds_refit",
    "does_not_hold",
    "cannot_be_told",
]
FEWEST_PAIRS = 30
"""Of each kind; with fewer nothing can be told."""
ALPHA = 0.025
"""Of all rates together, and of the ranking."""
ALPHA_PROBABILITIES = 0.0125
"""Of each of the two checks of probabilities."""
MATTERS = 1.25
"""So many times as high a rate must be, before it is called worse."""
SAVED = 0.05
"""So much of the log loss a new fit must save, before probabilities are called off."""
EXCLUDED = 2.0
"""A rate so many times as high must be excluded, before a model is said to hold."""


@dataclass(frozen=True, slots=True)
class RateCheck:
    """A rate of a group now and of held-out pairs: it is at least ``times`` as high now.

    ``is_unclear``: it would be worse if pairs were independent, and people are not known.
    """

    group: str
    kind: Kind
    now: Errors
    stored: Errors
    times: float
    is_worse: bool
    is_unclear: bool


@dataclass(frozen=True, slots=True)
class ProbabilityCheck:
    """The line of the label on the log odds, its test against (0, 1), and what a new fit would save.

    ``intercept``, ``slope`` and ``p_value`` are None where no line is best: the probabilities separate the labels, or
    are all the same.
    """

    prior: float
    intercept: float | None
    slope: float | None
    p_value: float | None
    log_loss: float
    refitted: float | None
    is_off: bool


@dataclass(frozen=True, slots=True)
class RankingCheck:
    """FNMR at this file's own threshold of the stored FMR, beside the stored FNMR."""

    now: Errors
    stored: Errors
    times: float
    is_lost: bool


@dataclass(frozen=True, slots=True)
class DoublingCheck:
    """Whether a doubling of a rate is excluded; ``pairs_needed`` would do, None if not even many more."""

    kind: Kind
    at_most: float
    is_excluded: bool
    pairs_needed: int | None


@dataclass(frozen=True, slots=True)
class Checks:
    """All of them, and the verdict."""

    rates: tuple[RateCheck, ...]
    as_is: ProbabilityCheck
    prior: ProbabilityCheck
    ranking: RankingCheck
    doubling: tuple[DoublingCheck, ...]

    @property
    def worse(self) -> list[RateCheck]:
        """Rates that are worse for sure."""
        return [check for check in self.rates if check.is_worse]

    @property
    def unclear(self) -> list[RateCheck]:
        """Rates that are worse if pairs are independent."""
        return [check for check in self.rates if check.is_unclear]

    @property
    def verdict(self) -> Verdict:
        """The first that applies."""
        if not self.worse and not self.as_is.is_off:
            if self.unclear or not all(check.is_excluded for check in self.doubling):
                return "cannot_be_told_yet"
            return "holds"
        if not self.worse and not self.prior.is_off:
            return "holds_after_a_new_prior"
        if not self.ranking.is_lost:
            return "ranking_holds_refit"
        return "does_not_hold"


def has_enough_pairs(same: Bool) -> bool:
    """Whether there are enough pairs of both kinds for a verdict."""
    genuine = int(np.count_nonzero(same))
    return min(genuine, len(same) - genuine) >= FEWEST_PAIRS


def check_sample_against(
    kept: Kept, threshold: KeptThreshold, sample: Sample, rates: Sequence[GroupRates], everything: Subset
) -> Checks:
    """Compare labelled pairs with what a model keeps.

    Parameters
    ----------
    kept : Kept
        What the model keeps.
    threshold : KeptThreshold
        Its threshold.
    sample : Sample
        The new pairs; their similarity is the model's probability.
    rates : sequence of GroupRates
        Rates at the threshold, of all pairs and of those groups that the model knows.
    everything : Subset
        All new pairs.

    Returns
    -------
    Checks
        With the verdict.
    """
    assert sample.same is not None
    known = (sample.people is not None, threshold.people_known)
    (of_all,) = [row for row in rates if row.grouping is None]
    _, part = most_pairs(sample)
    judged = Judged.of("as_is", part.similarity, kept.genuine, kept.impostors)
    people = part.people_of(np.ones(len(part), dtype=bool))
    share = float(sample.same.mean())
    return Checks(
        rates=tuple(_rate_checks(threshold, rates, known)),
        as_is=_probability_check(part, people, judged),
        prior=_probability_check(part, people, judged.at_prior("prior", share)),
        ranking=_ranking_check(threshold, sample, everything),
        doubling=tuple(_doubling_checks(threshold, of_all)),
    )


def _rate_checks(
    threshold: KeptThreshold, rates: Sequence[GroupRates], known: tuple[bool, bool]
) -> Iterator[RateCheck]:
    comparisons = len(KINDS) * len(rates)
    for row in rates:
        for kind in KINDS:
            now = row.rate(kind).errors
            stored = threshold.errors[ALL if row.grouping is None else row.group, kind]
            if min(now.pairs, stored.pairs) == 0:
                continue
            varied = [_if_people_vary(errors, of) for errors, of in zip((now, stored), known, strict=True)]
            times = at_least_times(varied[0], varied[1], comparisons, ALPHA)
            if_independent = at_least_times(now, stored, comparisons, ALPHA)
            matters = _matters(now, stored)
            is_worse = times > 1 and matters
            is_unclear = if_independent > 1 and matters and not is_worse
            yield RateCheck(row.group, kind, now, stored, times, is_worse, is_unclear)


def _if_people_vary(errors: Errors, known: bool) -> Errors:
    """Where people are not known, their choice is taken to change a rate by 30 %."""
    if known:
        return errors
    return replace(errors, spread=IF_PEOPLE_VARY)


def _matters(now: Errors, stored: Errors) -> bool:
    return now.rate > 0 and now.rate >= MATTERS * stored.rate


def _probability_check(sample: Sample, people: People | None, judged: Judged) -> ProbabilityCheck:
    from scipy.special import fdtrc

    assert sample.same is not None
    log_odds = judged.log_odds
    before = log_loss(sample.same, log_odds)
    line = fit_log_odds(sample.same, log_odds, people)
    if line is None:
        return ProbabilityCheck(judged.prior, None, None, None, before, None, False)
    independent = len(sample)
    if people is not None:
        independent = len(people)
    distance = np.array([line.intercept, line.slope - 1])
    statistic = float(distance @ np.linalg.solve(line.covariance, distance)) / 2
    p_value = float(fdtrc(2, independent - 1, statistic))
    after = log_loss(sample.same, line.intercept + line.slope * log_odds)
    is_off = p_value < ALPHA_PROBABILITIES and after < (1 - SAVED) * before
    return ProbabilityCheck(judged.prior, line.intercept, line.slope, p_value, before, after, is_off)


def _ranking_check(threshold: KeptThreshold, sample: Sample, everything: Subset) -> RankingCheck:
    observed: F64 = np.unique(sample.similarity)
    own = threshold_at(everything.impostors.ascending, observed, threshold.errors[ALL, "fmr"].rate)
    now = everything.genuine.errors_at(own)
    stored = threshold.errors[ALL, "fnmr"]
    times = at_least_times(now, stored, 1, ALPHA)
    return RankingCheck(now, stored, times, times > 1 and _matters(now, stored))


def _doubling_checks(threshold: KeptThreshold, of_all: GroupRates) -> Iterator[DoublingCheck]:
    for kind in KINDS:
        now = of_all.rate(kind).errors
        stored = threshold.errors[ALL, kind]
        times = at_least_times(stored, now, 1)
        at_most = math.inf
        if times > 0:
            at_most = 1 / times
        is_excluded = at_most <= EXCLUDED
        needed = None
        if not is_excluded:
            needed = pairs_to_exclude(stored, now, EXCLUDED)
        yield DoublingCheck(kind, at_most, is_excluded, needed)
