"""The operating point: thresholds set once on all pairs, and the rates they give on any subset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64, Bool
from fairfr.metrics.ranking import roc_curve

Convention: TypeAlias = Literal["interp", "conservative", "nearest"]
Rate: TypeAlias = Literal["tpr", "fpr", "acceptance"]

NAN = float("nan")


class Rates(NamedTuple):
    """Shares of accepted pairs: among genuine pairs, among impostors, among all. NaN where there are none."""

    tpr: float
    fpr: float
    acceptance: float


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A global operating point at FPR = ``alpha``.

    Between two neighbouring points of the ROC curve no threshold reaches ``alpha`` exactly. ``thresholds`` are the
    two that bracket it and ``fpr`` the global rates they have; a rate at ``alpha`` is interpolated between its values
    at the two, in groups with the *global* weight. So the group rates, weighted by group size, add up to the global
    rate. Where a single threshold is meant, both entries are that threshold.
    """

    alpha: float
    fpr: tuple[float, float]
    thresholds: tuple[float, float]

    @classmethod
    def find(cls, same: Bool, values: F64, alpha: float, convention: Convention = "interp") -> OperatingPoint:
        """Set the operating point on all pairs, ``same`` (p,) and ``values`` (p,).

        Parameters
        ----------
        convention
            ``interp``: linear in FPR between the bracketing points, as ``np.interp(alpha, fpr, tpr)`` on the ROC
            curve; ``conservative``: the largest FPR <= ``alpha``; ``nearest``: the FPR nearest to ``alpha``. Of
            several thresholds with the same FPR (or equally near) the smallest is taken, as it accepts more.

        Returns
        -------
        OperatingPoint
            Undefined (NaN thresholds, NaN rates) where ``same`` lacks one of the classes.
        """
        curve = roc_curve(same, values)
        if not curve.has_both:
            return cls(alpha, (NAN, NAN), (NAN, NAN))
        fpr = curve.fpr
        low, high = _bracket(fpr, alpha, convention)
        return cls(
            alpha,
            (float(fpr[low]), float(fpr[high])),
            (float(curve.thresholds[low]), float(curve.thresholds[high])),
        )

    def rates(self, same: Bool, values: F64) -> Rates:
        """TPR, FPR and acceptance rate of any subset of pairs, ``same`` (q,) and ``values`` (q,)."""
        if np.isnan(self.thresholds[0]):
            return Rates(NAN, NAN, NAN)
        low, high = (_rates_at(same, values, threshold) for threshold in self.thresholds)
        return Rates(*(float(np.interp(self.alpha, self.fpr, ends)) for ends in zip(low, high, strict=True)))


def _bracket(fpr: F64, alpha: float, convention: Convention) -> tuple[int, int]:
    """Positions on the curve between which, or at which, FPR = ``alpha`` lies."""
    if convention == "nearest":
        distance = np.abs(fpr - alpha)
        nearest = int(np.flatnonzero(distance == distance.min())[-1])
        return nearest, nearest
    # The last point with FPR <= alpha: on a vertical segment at alpha that is its upper end, as in np.interp.
    below = int(np.searchsorted(fpr, alpha, side="right")) - 1
    if convention == "conservative":
        return below, below
    return below, min(below + 1, len(fpr) - 1)


def _rates_at(same: Bool, values: F64, threshold: float) -> Rates:
    accepted = values >= threshold
    n_same = int(np.count_nonzero(same))
    n_true = int(np.count_nonzero(accepted & same))
    n_accepted = int(np.count_nonzero(accepted))
    return Rates(
        tpr=_share(n_true, n_same),
        fpr=_share(n_accepted - n_true, len(same) - n_same),
        acceptance=_share(n_accepted, len(same)),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else NAN
