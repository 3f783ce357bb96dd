"""How often each group is falsely matched at one threshold for all pairs, with the interval of each rate alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64, I16, Bool
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.bootstrap import BootstrapDraws
from fairfr.numerics.error_rates import DrawnSubset, ErrorRate, error_rate

CONFIDENCE = 0.95
Impostors: TypeAlias = tuple[Bool, DrawnSubset]
"""Which pairs are a group's impostors, (p,), and how often each of these counts in each draw."""


class GroupFmr(NamedTuple):
    """FMR of each group over the wanted FMR, its interval, and the false matches behind it.

    All have shape (n_groups,); NaN where a group has no impostor pairs.
    """

    rate: F64
    low: F64
    high: F64
    false_matches: F64


def impostors_by_group(drawn: BootstrapDraws, same: Bool, group: I16, n_groups: int) -> list[Impostors]:
    """The impostor pairs of each group; ``group`` (p,) is 0 .. n_groups - 1, or another number for none."""
    found = []
    for code in range(n_groups):
        inside = (group == code) & ~same
        found.append((inside, DrawnSubset(drawn, np.flatnonzero(inside))))
    return found


def group_fmr(same: Bool, values: F64, groups: Sequence[Impostors], alpha: float) -> GroupFmr:
    """At the lowest threshold whose FMR over all pairs does not exceed ``alpha``; ``same`` and ``values`` are (p,)."""
    threshold = OperatingPoint.from_pairs(same, values, alpha, "conservative").thresholds[0]
    rates = [_rate(subset, values[inside] >= threshold) for inside, subset in groups]
    bounds = np.array([rate.bounds for rate in rates]).reshape(-1, 2) / alpha
    value = np.array([rate.value for rate in rates]) / alpha
    matches = np.array([rate.errors for rate in rates], dtype=np.float64)
    return GroupFmr(value, bounds[:, 0], bounds[:, 1], matches)


def _rate(subset: DrawnSubset, is_accepted: Bool) -> ErrorRate:
    """A rate with its interval, as ``fairfr calibrate threshold`` prints it."""
    return error_rate(subset, is_accepted, CONFIDENCE)
