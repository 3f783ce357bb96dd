"""Operating points, set once on all pairs and measured on any subset, and thresholds that training pairs set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.names import FPR_LEVELS
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
        """Set the operating point on all pairs.

        Parameters
        ----------
        same : ndarray of bool, shape (n_pairs,)
            Whether a pair shows one person.
        values : ndarray of float, shape (n_pairs,)
            Scores or probabilities; higher means more similar.
        alpha : float
            The false positive rate wanted.
        convention : {"interp", "conservative", "nearest"}, default "interp"
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
        if not curve.has_both_classes:
            return cls(alpha, (NAN, NAN), (NAN, NAN))
        low, high = _bracket(curve, alpha, convention)
        n_diff = float(curve.n_false[-1])
        return cls(
            alpha,
            (float(curve.n_false[low] / n_diff), float(curve.n_false[high] / n_diff)),
            (float(curve.thresholds[low]), float(curve.thresholds[high])),
        )

    def rates(self, same: Bool, values: F64) -> Rates:
        """Measure any subset of pairs at this point.

        Parameters
        ----------
        same : ndarray of bool, shape (n_subset,)
            Whether a pair shows one person.
        values : ndarray of float, shape (n_subset,)
            Scores or probabilities, of the kind that the point was set on.

        Returns
        -------
        Rates
            TPR, FPR and acceptance rate.
        """
        if np.isnan(self.thresholds[0]):
            return Rates(NAN, NAN, NAN)
        n_same = int(np.count_nonzero(same))
        accepted = [_accepted(same, values, threshold) for threshold in self.thresholds]
        return self._interpolated(accepted, n_same, len(same) - n_same)

    def rates_on(self, curve: RocCurve) -> Rates:
        """As ``rates``, on the curve of the subset."""
        if np.isnan(self.thresholds[0]):
            return Rates(NAN, NAN, NAN)
        accepted = []
        for threshold in self.thresholds:
            at = curve.index_at_threshold(threshold)
            accepted.append((int(curve.n_true[at]), int(curve.n_false[at])))
        return self._interpolated(accepted, int(curve.n_true[-1]), int(curve.n_false[-1]))

    def _interpolated(self, accepted: Sequence[tuple[int, int]], n_same: int, n_diff: int) -> Rates:
        """Rates at ``alpha`` from the genuine pairs and impostors that each of the two thresholds accepts."""
        (true_low, false_low), (true_high, false_high) = accepted
        n_pairs = n_same + n_diff
        tpr = self._at_alpha(_share(true_low, n_same), _share(true_high, n_same))
        fpr = self._at_alpha(_share(false_low, n_diff), _share(false_high, n_diff))
        acceptance = self._at_alpha(_share(true_low + false_low, n_pairs), _share(true_high + false_high, n_pairs))
        return Rates(tpr, fpr, acceptance)

    def _at_alpha(self, low: float, high: float) -> float:
        """A rate at ``alpha``, given its values at the two thresholds."""
        return float(np.interp(self.alpha, self.fpr, (low, high)))


def _bracket(curve: RocCurve, alpha: float, convention: Convention) -> tuple[int, int]:
    """Positions on the curve between which, or at which, FPR = ``alpha`` lies."""
    if convention == "nearest":
        distance = np.abs(curve.fpr - alpha)
        nearest = int(np.flatnonzero(distance == distance.min())[-1])
        return nearest, nearest
    below = curve.index_at_fpr(alpha)
    if convention == "conservative":
        return below, below
    return below, min(below + 1, len(curve.n_false) - 1)


def _accepted(same: Bool, values: F64, threshold: float) -> tuple[int, int]:
    """How many genuine pairs and impostors the threshold accepts."""
    accepted = values >= threshold
    n_true = int(np.count_nonzero(accepted & same))
    return n_true, int(np.count_nonzero(accepted)) - n_true


def _share(part: int, whole: int) -> float:
    if whole == 0:
        return NAN
    return part / whole


def fpr_name(alpha: str) -> str:
    """``fpr_1e-3``."""
    return f"fpr_{alpha}"


def best_accuracy_threshold(same: Bool, values: F64) -> float:
    """Find the threshold that decides most pairs correctly; of several, the highest.

    That is the threshold of the LFW protocol: with it, cosines of published models give the accuracies that others
    measure.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    values : ndarray of float, shape (n_pairs,)
        Scores or probabilities; higher means more similar.

    Returns
    -------
    float
        Infinite where accepting no pair is best.
    """
    curve = roc_curve(same, values)
    return float(curve.thresholds[int(np.argmax(curve.n_true - curve.n_false))])


def training_thresholds(same: Bool, values: F64) -> dict[str, float]:
    """Set the thresholds that a report measures on other pairs.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a training pair shows one person.
    values : ndarray of float, shape (n_pairs,)
        Scores or probabilities; higher means more similar.

    Returns
    -------
    dict of str to float
        ``accuracy``: the threshold of the best accuracy; ``fpr_1e-3`` and so on: of the largest FPR that does not
        exceed the level.
    """
    thresholds = {ACCURACY: best_accuracy_threshold(same, values)}
    for text, alpha in FPR_LEVELS.items():
        point = OperatingPoint.from_pairs(same, values, alpha, "conservative")
        thresholds[fpr_name(text)] = point.thresholds[0]
    return thresholds
