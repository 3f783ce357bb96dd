"""Error rates by group at one threshold, and at each group's own, in the data and in each draw of people.

Weights are whole numbers: how often a pair was drawn. A rate between two thresholds is interpolated, as in a plain ROC
curve: of the impostors that share the value at which the wanted rate is crossed a part is accepted, and the same part
of the genuine pairs that share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64, I16, I32, I64, Bool

Rates: TypeAlias = dict[str, F64]
"""By the name of a metric, (1 + draws, groups): the data's own values, then those of each draw."""
HEAD = 4
"""The wanted rate is looked for among so many times as many impostors as it allows, and then among all."""


def rates_of_draws(
    multiplicity: I16, ends: I32, same: Bool, values: F64, group: I16, levels: Mapping[str, float]
) -> list[Rates]:
    """Rates of several methods on the same draws: FPR and TPR of each group, and TPR at its own threshold.

    Parameters
    ----------
    multiplicity
        How often each unit was drawn, (draws, units).
    ends
        The two units of each pair, (2, p).
    same
        (p,).
    values
        One row for each method, (m, p); higher values rank first.
    group
        (p,): 0 .. groups - 1, or -1 for none.
    levels
        False positive rates by their spelling, such as ``1e-3``.

    Returns
    -------
    list of dict
        For each method ``fpr_at_fpr_X``, ``tpr_at_fpr_X`` and ``tpr_at_own_fpr_X`` of each group, by level X; NaN
        where a group has no such pairs.
    """
    n_groups = int(group.max(initial=-1)) + 1
    shape = (1 + len(multiplicity), n_groups)
    place = 2 * np.where(group < 0, n_groups, group).astype(np.int64) + same
    methods = [_Method(same, row, group) for row in values]
    found: list[Rates] = [{} for _ in methods]
    for rates in found:
        for level in levels:
            for name in ("fpr_at_fpr", "tpr_at_fpr", "tpr_at_own_fpr"):
                rates[f"{name}_{level}"] = np.full(shape, np.nan)
    for row in range(shape[0]):
        weights = np.ones(len(same))
        if row > 0:
            weights = pair_weights(multiplicity[row - 1], ends)
        totals = np.bincount(place, weights, 2 * (n_groups + 1)).astype(np.float64).reshape(-1, 2)
        for method, rates in zip(methods, found, strict=True):
            for level, fpr in levels.items():
                shared = method.at_one_threshold(weights, totals, fpr)
                rates[f"fpr_at_fpr_{level}"][row] = shared[:, 0]
                rates[f"tpr_at_fpr_{level}"][row] = shared[:, 1]
                rates[f"tpr_at_own_fpr_{level}"][row] = method.at_own_thresholds(weights, totals, fpr)
    return found


def pair_weights(count: I16, ends: I32) -> F64:
    """How often each pair counts, (p,), if each unit was drawn ``count`` (units,) times.

    Each copy of one unit meets each copy of the other; a pair inside one unit counts as often as the unit.
    """
    a, b = ends
    drawn = count.astype(np.float64)
    weights: F64 = np.where(a == b, drawn[a], drawn[a] * drawn[b])
    return weights


class _Threshold(NamedTuple):
    """Accepts pairs above ``value``, and a ``part`` of those at it."""

    value: float
    part: float


class _Falling:
    """Some pairs of one method, highest value first, and the group of each."""

    def __init__(self, rows: I64, values: F64, group: I64) -> None:
        self.rows = rows[np.argsort(-values[rows], kind="stable")]
        self._negative = -values[self.rows]
        self._group = group[self.rows]

    def threshold(self, weights: F64, total: float, fpr: float) -> _Threshold:
        """Where the wanted share ``fpr`` of ``total``, the weight of all of them, is crossed; NaN where it is 0."""
        if total == 0:
            return _Threshold(float("nan"), float("nan"))
        allowed = fpr * total
        passed = np.cumsum(weights[self.rows[: int(HEAD * fpr * len(self.rows))]])
        if len(passed) == 0 or passed[-1] <= allowed:
            passed = np.cumsum(weights[self.rows])
        first_refused = int(np.searchsorted(passed, allowed, side="right"))
        crossed = float(self._negative[min(first_refused, len(passed) - 1)])
        start, stop = self._span(crossed)
        before = 0.0
        if start > 0:
            before = float(passed[start - 1])
        tied = float(weights[self.rows[start:stop]].sum())
        return _Threshold(-crossed, (allowed - before) / tied)

    def accepted(self, weights: F64, at: _Threshold, n_groups: int) -> F64:
        """The accepted weight of each group, (groups,); NaN without a threshold."""
        if np.isnan(at.value):
            return np.full(n_groups, np.nan)
        start, stop = self._span(-at.value)
        above = np.bincount(self._group[:start], weights[self.rows[:start]], n_groups + 1)
        tied = np.bincount(self._group[start:stop], weights[self.rows[start:stop]], n_groups + 1)
        found: F64 = (above + at.part * tied)[:n_groups]
        return found

    def _span(self, negative: float) -> tuple[int, int]:
        """The places of the pairs with this value, with its sign turned: the first, and the one after the last."""
        start = np.searchsorted(self._negative, negative, side="left")
        return int(start), int(np.searchsorted(self._negative, negative, side="right"))


class _Method:
    """The pairs of one method: impostors and genuine pairs, of all and of each group."""

    def __init__(self, same: Bool, values: F64, group: I16) -> None:
        self._n_groups = int(group.max(initial=-1)) + 1
        code = np.where(group < 0, self._n_groups, group).astype(np.int64)
        self._impostors = _Falling(np.flatnonzero(~same), values, code)
        self._genuine = _Falling(np.flatnonzero(same), values, code)
        self._of_group = []
        for g in range(self._n_groups):
            impostors = _Falling(np.flatnonzero(~same & (group == g)), values, code)
            self._of_group.append((impostors, _Falling(np.flatnonzero(same & (group == g)), values, code)))

    def at_one_threshold(self, weights: F64, totals: F64, fpr: float) -> F64:
        """FPR and TPR of each group, (groups, 2), at one threshold for all pairs.

        ``totals`` (groups + 1, 2): the weight of the impostors and of the genuine pairs of each group, and of none.
        """
        at = self._impostors.threshold(weights, totals[:, 0].sum(), fpr)
        accepted = [side.accepted(weights, at, self._n_groups) for side in (self._impostors, self._genuine)]
        return _share(np.stack(accepted, axis=1), totals[:-1])

    def at_own_thresholds(self, weights: F64, totals: F64, fpr: float) -> F64:
        """TPR of each group, (groups,), at its own threshold."""
        accepted = np.full(self._n_groups, np.nan)
        for g, (impostors, genuine) in enumerate(self._of_group):
            at = impostors.threshold(weights, totals[g, 0], fpr)
            accepted[g] = genuine.accepted(weights, at, self._n_groups)[g]
        return _share(accepted, totals[:-1, 1])


def _share(part: F64, whole: F64) -> F64:
    share: F64 = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share


def ratio_of_groups(rates: F64) -> F64:
    """Highest over lowest rate, (draws,), of ``rates`` (draws, groups).

    Infinite where a group has none, or was not drawn at all; NaN without groups.
    """
    if rates.shape[1] == 0:
        return np.full(len(rates), np.nan)
    high = np.fmax.reduce(rates, axis=1)
    low = np.where(np.isnan(rates), 0.0, rates).min(axis=1)
    ratio: F64 = np.divide(high, low, out=np.full(len(rates), np.inf), where=low > 0)
    return ratio


def gap_of_groups(rates: F64) -> F64:
    """Highest minus lowest rate, (draws,), of ``rates`` (draws, groups); infinite where a group was not drawn."""
    if rates.shape[1] == 0:
        return np.full(len(rates), np.nan)
    gap = np.fmax.reduce(rates, axis=1) - np.fmin.reduce(rates, axis=1)
    found: F64 = np.where(np.isnan(rates).any(axis=1), np.inf, gap)
    return found
