"""One increasing map of the cosine for each group, with a map of all pairs for groups that have too little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from fairfr.core.serialization import serializable
from fairfr.core.types import F64, I16, Bool
from fairfr.methods._impostor_statistics import MIN_SCORES, MIN_SD
from fairfr.methods._labels import names_of
from fairfr.numerics.regression import sigmoid


class ScoreMap(Protocol):
    """An increasing map of cosines (p,)."""

    def __call__(self, cosine: F64) -> F64: ...


FitMap: TypeAlias = Callable[[F64, Bool], ScoreMap | None]


@serializable("GroupCurves")
@dataclass(frozen=True, slots=True)
class GroupMaps:
    """``curves`` (g,) by group code, None where the group has none of its own.

    ``overall`` is for those, and for every other code; None: the cosine.
    """

    curves: tuple[ScoreMap | None, ...]
    overall: ScoreMap | None

    @classmethod
    def fit(cls, fit_map: FitMap, cosine: F64, same: Bool, groups: I16, n_groups: int) -> GroupMaps:
        """Fit on training pairs (p,) with their labels and groups (-1: none)."""
        curves = tuple(fit_map(cosine[groups == g], same[groups == g]) for g in range(n_groups))
        return cls(curves, fit_map(cosine, same))

    def score(self, cosine: F64, groups: I16) -> F64:
        """Each pair through its group's map, (p,)."""
        out = cosine.copy()
        if self.overall is not None:
            out = self.overall(cosine)
        for g, curve in enumerate(self.curves):
            if curve is not None:
                out[groups == g] = curve(cosine[groups == g])
        return out

    def summary(self, levels: tuple[str, ...]) -> dict[str, Any]:
        """What fell back, for the report."""
        without = [g for g, curve in enumerate(self.curves) if curve is None]
        return {
            "groups_by_global_statistics": len(without),
            "groups_by_global_statistics_names": names_of(levels, without),
            "global_statistics_defined": self.overall is not None,
        }


@serializable("Standard")
@dataclass(frozen=True, slots=True)
class ZScoreMap:
    """(s - mean) / sd."""

    mean: float
    sd: float

    def __call__(self, cosine: F64) -> F64:
        out: F64 = (cosine - self.mean) / self.sd
        return out


@serializable("LogisticCurve")
@dataclass(frozen=True, slots=True)
class LogisticMap:
    """sigmoid(slope s + intercept)."""

    slope: float
    intercept: float

    def __call__(self, cosine: F64) -> F64:
        return sigmoid(self.slope * cosine + self.intercept)


@serializable("TwoGaussians")
@dataclass(frozen=True, slots=True)
class TwoGaussianMap:
    """Phi_genuine(s) - 1 + Phi_impostor(s)."""

    genuine: ZScoreMap
    impostor: ZScoreMap

    def __call__(self, cosine: F64) -> F64:
        from scipy.special import ndtr

        out: F64 = ndtr(self.genuine(cosine)) - 1 + ndtr(self.impostor(cosine))
        return out


def fit_z_score(cosine: F64, same: Bool) -> ZScoreMap | None:
    """(s - mu) / sigma of the impostor cosines; ``cosine`` and ``same`` are (p,)."""
    return _gaussian(cosine[~same])


def fit_balanced_logistic(cosine: F64, same: Bool) -> LogisticMap | None:
    """sigmoid(a s + b): L2 logistic regression, C = 1, the two classes weighing the same; both arguments (p,)."""
    from sklearn.linear_model import LogisticRegression

    n_same = int(np.count_nonzero(same))
    if min(n_same, len(same) - n_same) < MIN_SCORES:
        return None
    model = LogisticRegression(class_weight="balanced").fit(cosine[:, None], same)
    return LogisticMap(float(model.coef_[0, 0]), float(model.intercept_[0]))


def fit_two_gaussians(cosine: F64, same: Bool) -> TwoGaussianMap | None:
    """Phi_genuine(s) - 1 + Phi_impostor(s)."""
    genuine = _gaussian(cosine[same])
    impostor = _gaussian(cosine[~same])
    if genuine is None or impostor is None:
        return None
    return TwoGaussianMap(genuine, impostor)


def _gaussian(cosine: F64) -> ZScoreMap | None:
    """Mean and standard deviation (ddof = 1); None where there are too few cosines, or all are the same."""
    if len(cosine) < MIN_SCORES:
        return None
    sd = float(cosine.std(ddof=1))
    if sd < MIN_SD:
        return None
    return ZScoreMap(float(cosine.mean()), sd)
