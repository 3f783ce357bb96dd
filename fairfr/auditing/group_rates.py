"""Error rates of all pairs and of each group at each threshold, with intervals, and how far groups lie apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from fairfr.auditing.sample import Sample
from fairfr.core.names import ALL
from fairfr.core.types import F64, Bool
from fairfr.numerics.allowed_false_matches import fewest_impostors
from fairfr.numerics.error_rates import OneKind, threshold_at
from fairfr.numerics.rate_bounds import (
    CONFIDENCE,
    IF_PEOPLE_VARY,
    Errors,
    at_least_times,
    rate_interval,
    spread_at_one,
    times_more_needed,
)

Kind: TypeAlias = Literal["fmr", "fnmr"]
KINDS: tuple[Kind, ...] = ("fmr", "fnmr")
CURRENT: Literal["current"] = "current"
KEPT: Literal["kept"] = "kept"
Level: TypeAlias = float | Literal["current", "kept"]
"""A wanted false match rate, the threshold in use, or the one that is kept with a model."""

FEW = 10
"""Below so many errors a rate is called few, and drawn hollow."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One error rate: the errors, and the 95 % interval of the rate."""

    errors: Errors
    interval: tuple[float, float]

    @property
    def is_few(self) -> bool:
        """Fewer errors than can be relied on."""
        return self.errors.errors < FEW


@dataclass(frozen=True, slots=True)
class GroupRates:
    """Both error rates of one group at one threshold.

    ``grouping`` is None for all pairs. ``threshold`` is a similarity, None where no threshold has the wanted rate.
    ``needed``: so many impostor pairs are needed to judge the level, None if there are enough.
    ``impostor_like``: the share of genuine pairs that score like impostors.
    """

    grouping: str | None
    group: str
    level: Level
    threshold: float | None
    fmr: Rate
    fnmr: Rate
    needed: int | None
    impostor_like: float

    def rate(self, kind: Kind) -> Rate:
        """The one or the other."""
        if kind == "fmr":
            return self.fmr
        return self.fnmr


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The rate of group ``higher`` is at least ``times`` that of group ``lower``, for all pairs of groups together.

    Where people are not known, ``times`` takes pairs as independent; ``if_people_vary`` is the bound if the choice of
    people changes a group's rate by 30 %, and ``phi_at_one`` the change at which nothing is left of the difference.
    """

    higher: GroupRates
    lower: GroupRates
    times: float
    comparisons: int
    if_people_vary: float | None = None
    phi_at_one: float | None = None


@dataclass(frozen=True)
class Subset:
    """One group's pairs, or all."""

    grouping: str | None
    group: str
    impostors: OneKind
    genuine: OneKind

    @classmethod
    def of(cls, sample: Sample, same: Bool, chosen: Bool, grouping: str | None, group: str) -> Subset:
        both = []
        for genuine in (False, True):
            rows = np.flatnonzero(chosen & (same == genuine))
            both.append(OneKind(sample.similarity[rows], sample.people_of(rows), genuine))
        return cls(grouping, group, *both)

    @property
    def impostor_like(self) -> float:
        """Twice the share of genuine pairs below the middle impostor: at chance level half of them lie there."""
        if len(self.impostors) == 0 or len(self.genuine) == 0:
            return math.nan
        middle = float(np.median(self.impostors.ascending))
        return 2 * float(np.searchsorted(self.genuine.ascending, middle, side="left")) / len(self.genuine)

    def at(self, level: Level, threshold: float | None) -> GroupRates:
        """Its rates at a threshold."""
        errors = [one.errors_at(threshold) for one in (self.impostors, self.genuine)]
        fmr, fnmr = (Rate(found, rate_interval(found)) for found in errors)
        needed = self._needed(level, fmr)
        return GroupRates(self.grouping, self.group, level, threshold, fmr, fnmr, needed, self.impostor_like)

    def _needed(self, level: Level, fmr: Rate) -> int | None:
        """So many impostors are needed at the least to judge a level; None if it can be judged."""
        if isinstance(level, str) or len(self.impostors) == 0:
            return None
        needed = fewest_impostors(self.impostors.people, level, CONFIDENCE)
        if fmr.interval[0] <= level and len(self.impostors) < needed:
            return needed
        return None


@dataclass(frozen=True)
class MeasuredRates:
    """The rates of a sample: ``rows``, those of all pairs first at each level; and its ``subsets``."""

    rows: tuple[GroupRates, ...]
    subsets: tuple[Subset, ...]
    people_known: bool

    @property
    def levels(self) -> list[Level]:
        """In the order in which they are told: the threshold in use first."""
        return list(dict.fromkeys(row.level for row in self.rows))

    def at(self, level: Level, grouping: str | None) -> list[GroupRates]:
        """The groups of a grouping at one threshold, or the one row of all pairs."""
        return [row for row in self.rows if row.level == level and row.grouping == grouping]


def measure_rates(sample: Sample, threshold: float | None, fmr: Sequence[float]) -> MeasuredRates:
    """Measure both error rates of all pairs and of every group.

    Parameters
    ----------
    sample : Sample
        The pairs.
    threshold : float or None
        The similarity from which the matcher accepts; None if it is not known.
    fmr : sequence of float
        Wanted false match rates, for each of which a threshold is set on the impostors of ``sample``.

    Returns
    -------
    MeasuredRates
        Without labels it has no rows.
    """
    subsets = tuple(_subsets(sample))
    thresholds: list[tuple[Level, float | None]] = []
    if threshold is not None:
        thresholds.append((CURRENT, threshold))
    if subsets and len(subsets[0].impostors) > 0:
        observed = np.unique(sample.similarity)
        thresholds += [(level, threshold_at(subsets[0].impostors.ascending, observed, level)) for level in fmr]
    return _measured(sample, subsets, thresholds)


def rates_at(sample: Sample, thresholds: Sequence[tuple[Level, float | None]]) -> MeasuredRates:
    """Measure both error rates of all pairs and of every group at each of the ``thresholds`` (similarities)."""
    return _measured(sample, tuple(_subsets(sample)), thresholds)


def _measured(
    sample: Sample, subsets: tuple[Subset, ...], thresholds: Sequence[tuple[Level, float | None]]
) -> MeasuredRates:
    rows: list[GroupRates] = []
    for level, at in thresholds:
        rows += [subset.at(level, at) for subset in subsets]
    return MeasuredRates(tuple(rows), subsets, sample.people is not None)


def _subsets(sample: Sample) -> Iterator[Subset]:
    """All pairs, then each group; none without labels."""
    same = sample.same
    if same is None:
        return
    yield Subset.of(sample, same, np.ones(len(sample), dtype=bool), None, ALL)
    for grouping in sample.groupings:
        for code, level in enumerate(grouping.levels):
            yield Subset.of(sample, same, grouping.inside == code, grouping.id, level)


def largest_ratio(groups: Sequence[GroupRates], kind: Kind, people_known: bool) -> AtLeast | None:
    """The pair of groups whose rates differ by most for sure; None below two groups with pairs.

    All ordered pairs of groups are compared, and the bounds of all of them hold together.
    """
    measured = [row for row in groups if row.rate(kind).errors.pairs > 0]
    comparisons = len(measured) * (len(measured) - 1)
    best: AtLeast | None = None
    for higher in measured:
        for lower in measured:
            if higher is lower:
                continue
            times = at_least_times(higher.rate(kind).errors, lower.rate(kind).errors, comparisons)
            if best is None or times > best.times:
                best = AtLeast(higher, lower, times, comparisons)
    if best is None or people_known:
        return best
    errors = (best.higher.rate(kind).errors, best.lower.rate(kind).errors)
    varied = [replace(found, spread=IF_PEOPLE_VARY) for found in errors]
    return replace(
        best,
        if_people_vary=at_least_times(varied[0], varied[1], comparisons),
        phi_at_one=spread_at_one(errors[0], errors[1], comparisons),
    )


def needed_times(found: AtLeast, kind: Kind) -> int | None:
    """So many times as many people and pairs would establish the difference, if the rates stay."""
    errors = [row.rate(kind).errors for row in (found.higher, found.lower)]
    return times_more_needed(errors[0], errors[1], found.comparisons)


@dataclass(frozen=True, slots=True)
class Differentials:
    """Point measures of how far groups lie apart: descriptions of the sample, no bounds. None where undefined.

    ``reason`` says why some are None.
    """

    fmr_max_min: float | None
    fnmr_max_min: float | None
    fmr_max_geomean: float | None
    garbe: float | None
    fdr: float | None
    inequity_rate: float | None
    reason: str | None


def differentials(groups: Sequence[GroupRates]) -> Differentials:
    """Measure how far the rates of groups lie apart, from their point values.

    Parameters
    ----------
    groups : sequence of GroupRates
        The groups of one grouping at one threshold. Those without impostors, or without genuine pairs, do not count
        for the rate in question.

    Returns
    -------
    Differentials
        ``garbe`` is the mean Gini coefficient of FMR and FNMR (ISO/IEC 19795-10), ``fdr`` is ``1 - (range FMR +
        range FNMR) / 2`` (de Freitas Pereira and Marcel 2021), ``inequity_rate`` the geometric mean of both max/min.
    """
    fmr, fnmr = (_known_rates(groups, kind) for kind in KINDS)
    if len(fmr) < 2 or len(fnmr) < 2:
        return Differentials(None, None, None, None, None, None, "fewer than two groups have pairs of both kinds")
    reason = None
    if fmr.min() == 0 or fnmr.min() == 0:
        reason = "a group has no error, so that a ratio has no value"
    ratios = [_max_min(rates) for rates in (fmr, fnmr)]
    inequity = None
    if ratios[0] is not None and ratios[1] is not None:
        inequity = math.sqrt(ratios[0] * ratios[1])
    geomean = None
    if fmr.min() > 0:
        geomean = float(fmr.max() / np.exp(np.log(fmr).mean()))
    garbe = (_gini(fmr) + _gini(fnmr)) / 2
    fdr = 1 - float(np.ptp(fmr) + np.ptp(fnmr)) / 2
    return Differentials(ratios[0], ratios[1], geomean, garbe, fdr, inequity, reason)


def _known_rates(groups: Sequence[GroupRates], kind: Kind) -> F64:
    rates = [row.rate(kind).errors.rate for row in groups]
    return np.array([rate for rate in rates if not math.isnan(rate)])


def _max_min(rates: F64) -> float | None:
    if rates.min() == 0:
        return None
    return float(rates.max() / rates.min())


def _gini(rates: F64) -> float:
    n = len(rates)
    mean = rates.mean()
    if mean == 0:
        return 0.0
    differences = np.abs(rates[:, None] - rates[None, :]).sum()
    return float(n / (n - 1) * differences / (2 * n**2 * mean))
