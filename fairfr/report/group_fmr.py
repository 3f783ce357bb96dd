"""How often each group is falsely matched at one threshold for all pairs, with the interval of each rate alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64, I16, I64, Bool
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.error_rates import OneKind
from fairfr.numerics.rate_bounds import rate_interval
from fairfr.stored.scores import RunScores

Impostors: TypeAlias = tuple[I64, People | None]
"""The rows of a group's impostor pairs, and who is met in them; None where people are not known."""


class GroupFmr(NamedTuple):
    """FMR of each group over the wanted FMR, its interval, and the false matches behind it.

    All have shape (n_groups,); NaN where a group has no impostor pairs.
    """

    rate: F64
    low: F64
    high: F64
    false_matches: F64


def impostors_by_group(scores: RunScores, group: I16, n_groups: int) -> list[Impostors]:
    """The impostor pairs of each group; ``group`` (p,) is 0 .. n_groups - 1, or another number for none."""
    found = []
    for code in range(n_groups):
        rows = np.flatnonzero((group == code) & ~scores.same)
        found.append((rows, scores.people_of(rows)))
    return found


def group_fmr(same: Bool, values: F64, groups: Sequence[Impostors], alpha: float) -> GroupFmr:
    """At the lowest threshold whose FMR over all pairs does not exceed ``alpha``; ``same`` and ``values`` are (p,).

    The intervals are those of ``fairfr calibrate threshold`` and ``fairfr audit``.
    """
    threshold = OperatingPoint.from_pairs(same, values, alpha, "conservative").thresholds[0]
    found = [OneKind(values[rows], people, genuine=False).errors_at(threshold) for rows, people in groups]
    bounds = np.array([rate_interval(errors) for errors in found]).reshape(-1, 2) / alpha
    value = np.array([errors.rate for errors in found]) / alpha
    matches = np.array([errors.errors for errors in found], dtype=np.float64)
    return GroupFmr(value, bounds[:, 0], bounds[:, 1], matches)
