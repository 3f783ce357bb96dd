"""One increasing map of the cosine for each group, with a map of all pairs for groups that have too little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fairfr.core.types import F64, I16, Bool
from fairfr.methods._group import names_of
from fairfr.methods._logistic import sigmoid
from fairfr.methods._moments import MIN_SCORES, MIN_SD

Curve: TypeAlias = Callable[[F64], F64]
FitCurve: TypeAlias = Callable[[F64, Bool], Curve | None]


@dataclass(frozen=True, slots=True)
class GroupCurves:
    """``curves`` (g,) by group code, None where the group has none of its own; ``overall`` for those, None: cosine."""

    curves: tuple[Curve | None, ...]
    overall: Curve | None

    @classmethod
    def fit(cls, fit_curve: FitCurve, cosine: F64, same: Bool, groups: I16, n_groups: int) -> GroupCurves:
        """Fit on training pairs (p,) with their labels and groups (-1: none)."""
        curves = tuple(fit_curve(cosine[groups == g], same[groups == g]) for g in range(n_groups))
        return cls(curves, fit_curve(cosine, same))

    def score(self, cosine: F64, groups: I16) -> F64:
        """Each pair through its group's map, (p,)."""
        out = cosine.copy() if self.overall is None else self.overall(cosine)
        for g, curve in enumerate(self.curves):
            if curve is not None:
                out[groups == g] = curve(cosine[groups == g])
        return out

    def told(self, levels: tuple[str, ...]) -> dict[str, Any]:
        """What fell back, for the report."""
        without = [g for g, curve in enumerate(self.curves) if curve is None]
        return {
            "groups_by_global_statistics": len(without),
            "groups_by_global_statistics_names": names_of(levels, without),
            "global_statistics_defined": self.overall is not None,
        }


def fit_standard(cosine: F64, same: Bool) -> Curve | None:
    """(s - mu) / sigma of the impostor cosines."""
    gaussian = _gaussian(cosine[~same])
    return None if gaussian is None else partial(_standardise, *gaussian)


def fit_balanced_logistic(cosine: F64, same: Bool) -> Curve | None:
    """sigmoid(a s + b): L2 logistic regression, C = 1, the two classes weighing the same."""
    from sklearn.linear_model import LogisticRegression

    n_same = int(np.count_nonzero(same))
    if min(n_same, len(same) - n_same) < MIN_SCORES:
        return None
    model = LogisticRegression(class_weight="balanced").fit(cosine[:, None], same)
    return partial(_logistic, float(model.coef_[0, 0]), float(model.intercept_[0]))


def fit_two_gaussians(cosine: F64, same: Bool) -> Curve | None:
    """Phi_genuine(s) - 1 + Phi_impostor(s)."""
    genuine, impostor = _gaussian(cosine[same]), _gaussian(cosine[~same])
    if genuine is None or impostor is None:
        return None
    return partial(_two_gaussians, genuine, impostor)


def _gaussian(cosine: F64) -> tuple[float, float] | None:
    """Mean and standard deviation (ddof = 1); None where there are too few cosines, or all are the same."""
    if len(cosine) < MIN_SCORES:
        return None
    sd = float(cosine.std(ddof=1))
    return (float(cosine.mean()), sd) if sd >= MIN_SD else None


def _standardise(mean: float, sd: float, cosine: F64) -> F64:
    out: F64 = (cosine - mean) / sd
    return out


def _logistic(slope: float, intercept: float, cosine: F64) -> F64:
    return sigmoid(slope * cosine + intercept)


def _two_gaussians(genuine: tuple[float, float], impostor: tuple[float, float], cosine: F64) -> F64:
    from scipy.special import ndtr

    out: F64 = ndtr(_standardise(*genuine, cosine)) - 1 + ndtr(_standardise(*impostor, cosine))
    return out
