"""How well values rank genuine pairs above impostors: the ROC curve and the areas under it.

``same`` is (p,) bool and ``values`` (p,) float64, in any order; a higher value means more similar.
A pair is accepted iff its value >= the threshold, so tied pairs are accepted together.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from fairfr.core.types import F64, I64, Bool

MAX_FPR = 0.1


@dataclass(frozen=True, slots=True)
class RocCurve:
    """Accepted pairs at each distinct threshold, from none to all.

    ``thresholds`` (r + 1,) descends and starts at inf, which accepts nothing; ``n_true`` and ``n_false`` (r + 1,)
    count the accepted genuine and impostor pairs. No point is dropped, not even from the middle of a straight
    segment: what is collinear for all pairs need not be so for a group.
    """

    thresholds: F64
    n_true: I64
    n_false: I64

    @property
    def has_both_classes(self) -> bool:
        """Whether there are genuine pairs and impostors; the rates are undefined otherwise."""
        return bool(self.n_true[-1] > 0 and self.n_false[-1] > 0)

    def index_at_fpr(self, fpr: float) -> int:
        """The last point whose FPR is not above ``fpr``: on a vertical segment its upper end, as in ``np.interp``."""
        n_diff = float(self.n_false[-1])
        return bisect_right(self.n_false, fpr, key=lambda count: count / n_diff) - 1

    def index_at_threshold(self, threshold: float) -> int:
        """The point that accepts the pairs whose value is not below ``threshold``."""
        return bisect_right(self.thresholds, -threshold, key=lambda value: -value) - 1

    @property
    def tpr(self) -> F64:
        return self.n_true / float(self.n_true[-1])

    @property
    def fpr(self) -> F64:
        return self.n_false / float(self.n_false[-1])


def sort_descending(same: Bool, values: F64) -> tuple[Bool, F64]:
    """Both arrays, largest value first. Sorted input is returned as it is: noticing costs far less than sorting."""
    if np.all(values[1:] <= values[:-1]):
        return same, values
    order = descending_order(values)
    return same[order], values[order]


def descending_order(values: F64) -> I64:
    """Places of ``values`` (p,), largest first; equal values keep their order.

    A stable sort takes four times as long as one that leaves equal values anyhow, so these are put in order after it.
    """
    order = np.argsort(-values)
    ranked = values[order]
    repeats = ranked[1:] == ranked[:-1]
    if repeats.any():
        tied = np.flatnonzero(np.append(repeats, False) | np.insert(repeats, 0, False))
        run = np.cumsum(np.insert(~repeats, 0, False))[tied]
        order[tied] = np.sort(run * len(values) + order[tied]) % len(values)
    return order


def last_of_ties(values: F64) -> I64:
    """Position of the last element of each run of equal neighbours in sorted ``values`` (p,)."""
    if len(values) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)


def roc_curve(same: Bool, values: F64) -> RocCurve:
    """The ROC curve, one point for each distinct value and one for "accept nothing"."""
    same, values = sort_descending(same, values)
    ends = last_of_ties(values)
    thresholds = np.empty(len(ends) + 1)
    n_true = np.zeros(len(ends) + 1, dtype=np.int64)
    n_false = np.zeros(len(ends) + 1, dtype=np.int64)
    thresholds[0] = np.inf
    if len(ends) == len(values):  # all are distinct: nothing to pick
        thresholds[1:] = values
        np.cumsum(same, out=n_true[1:])
    else:
        thresholds[1:] = values[ends]
        n_true[1:] = np.cumsum(same, dtype=np.int64)[ends]
    np.subtract(ends + 1, n_true[1:], out=n_false[1:])
    return RocCurve(thresholds, n_true, n_false)


def auroc_of(curve: RocCurve) -> float:
    """AUROC: the probability that a genuine pair outranks an impostor, with ties as one half; NaN without both classes.

    Summed in integers (trapezoids under the counts), hence exact up to one division.
    """
    if not curve.has_both_classes:
        return float("nan")
    doubled_area = np.dot(np.diff(curve.n_false), curve.n_true[1:] + curve.n_true[:-1])
    return float(doubled_area / (2 * curve.n_true[-1] * curve.n_false[-1]))


def _area_up_to(curve: RocCurve, max_fpr: float) -> float:
    """Integral of TPR over FPR from 0 to ``max_fpr``; at most ``max_fpr``. NaN without both classes."""
    if not curve.has_both_classes:
        return float("nan")
    inside = curve.index_at_fpr(max_fpr) + 1
    fpr = curve.n_false[: inside + 1] / float(curve.n_false[-1])
    tpr = curve.n_true[: inside + 1] / float(curve.n_true[-1])
    end = np.interp(max_fpr, fpr, tpr)
    return float(np.trapezoid(np.append(tpr[:inside], end), np.append(fpr[:inside], max_fpr)))


def pauc_of(curve: RocCurve, max_fpr: float = MAX_FPR) -> float:
    """Partial AUC: the area up to ``max_fpr``, standardised so that chance is 0.5 and perfect is 1.

    Source: McClish (1989), Medical Decision Making 9. NaN without both classes.
    """
    chance = max_fpr**2 / 2
    return (1 + (_area_up_to(curve, max_fpr) - chance) / (max_fpr - chance)) / 2
