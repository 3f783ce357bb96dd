"""Operating points, set once on all pairs and measured on any subset, and thresholds that training pairs set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.rates import ALPHAS
from fairfr.core.types import F64, Bool
from fairfr.numerics.roc import RocCurve, roc_curve

Convention: TypeAlias = Literal["interp", "conservative", "nearest"]
Rate: TypeAlias = Literal["tpr", "fpr", "acceptance"]

ACCURACY = "accuracy"
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
    def from_pairs(cls, same: Bool, values: F64, alpha: float, convention: Convention = "interp") -> OperatingPoint:
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
        return cls.from_curve(roc_curve(same, values), alpha, convention)

    @classmethod
    def from_curve(cls, curve: RocCurve, alpha: float, convention: Convention = "interp") -> OperatingPoint:
        """As ``from_pairs``, on the curve of all pairs."""
        if not curve.has_both:
            return cls(alpha, (NAN, NAN), (NAN, NAN))
        low, high = _bracket(curve, alpha, convention)
        n_diff = float(curve.n_false[-1])
        return cls(
            alpha,
            (float(curve.n_false[low] / n_diff), float(curve.n_false[high] / n_diff)),
            (float(curve.thresholds[low]), float(curve.thresholds[high])),
        )

    def rates(self, same: Bool, values: F64) -> Rates:
        """TPR, FPR and acceptance rate of any subset of pairs, ``same`` (q,) and ``values`` (q,)."""
        if np.isnan(self.thresholds[0]):
            return Rates(NAN, NAN, NAN)
        n_same = int(np.count_nonzero(same))
        accepted = [_accepted(same, values, threshold) for threshold in self.thresholds]
        return self._interpolated(accepted, n_same, len(same) - n_same)

    def rates_on(self, curve: RocCurve) -> Rates:
        """As ``rates``, on the curve of the subset."""
        if np.isnan(self.thresholds[0]):
            return Rates(NAN, NAN, NAN)
        points = (curve.at_threshold(threshold) for threshold in self.thresholds)
        accepted = [(int(curve.n_true[at]), int(curve.n_false[at])) for at in points]
        return self._interpolated(accepted, int(curve.n_true[-1]), int(curve.n_false[-1]))

    def _interpolated(self, accepted: Iterable[tuple[int, int]], n_same: int, n_diff: int) -> Rates:
        """Rates at ``alpha`` from the genuine pairs and impostors that each of the two thresholds accepts."""
        low, high = (
            (_share(n_true, n_same), _share(n_false, n_diff), _share(n_true + n_false, n_same + n_diff))
            for n_true, n_false in accepted
        )
        return Rates(*(float(np.interp(self.alpha, self.fpr, ends)) for ends in zip(low, high, strict=True)))


def _bracket(curve: RocCurve, alpha: float, convention: Convention) -> tuple[int, int]:
    """Positions on the curve between which, or at which, FPR = ``alpha`` lies."""
    if convention == "nearest":
        distance = np.abs(curve.fpr - alpha)
        nearest = int(np.flatnonzero(distance == distance.min())[-1])
        return nearest, nearest
    below = curve.at_fpr(alpha)
    if convention == "conservative":
        return below, below
    return below, min(below + 1, len(curve.n_false) - 1)


def _accepted(same: Bool, values: F64, threshold: float) -> tuple[int, int]:
    """How many genuine pairs and impostors the threshold accepts."""
    accepted = values >= threshold
    n_true = int(np.count_nonzero(accepted & same))
    return n_true, int(np.count_nonzero(accepted)) - n_true


def _share(part: int, whole: int) -> float:
    return part / whole if whole else NAN


def fpr_name(alpha: str) -> str:
    """``fpr_1e-3``."""
    return f"fpr_{alpha}"


def best_accuracy_threshold(same: Bool, values: F64) -> float:
    """The threshold under which most pairs (p,) are decided rightly; of several, the highest.

    That is the threshold of the LFW protocol: with it, cosines of published models give the accuracies that others
    measure.
    """
    curve = roc_curve(same, values)
    return float(curve.thresholds[int(np.argmax(curve.n_true - curve.n_false))])


def training_thresholds(same: Bool, values: F64) -> dict[str, float]:
    """The most accurate threshold of ``values`` (p,), and those of the largest FPR that does not exceed each level."""
    points = {
        fpr_name(text): OperatingPoint.from_pairs(same, values, alpha, "conservative").thresholds[0]
        for text, alpha in ALPHAS.items()
    }
    return {ACCURACY: best_accuracy_threshold(same, values), **points}
