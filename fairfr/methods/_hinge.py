"""A logit that bends upwards: what AC-Hinge and AC-Cohort fit."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64, Bool
from fairfr.numerics.regression import fit_newton
from fairfr.pairs.design import PairDesign

log = logging.getLogger("fairfr")

SLOPE_PENALTY = 1e-3
BEND_PENALTY = 0.1
CONTEXT_PENALTY = 1.0
SPARE = 1e-12  # added to a standard deviation, so that a constant can be divided by it


@serializable("Standardisation")
@dataclass(frozen=True, slots=True)
class Standardisation:
    """Subtracts a mean, divides by a standard deviation."""

    mean: float
    sd: float

    @classmethod
    def of(cls, values: F64) -> Standardisation:
        """By these values (p,); a constant becomes 0, free of rounding."""
        if values.max() == values.min():
            return cls(float(values[0]), SPARE)
        return cls(float(values.mean()), float(values.std()) + SPARE)

    def apply(self, values: F64) -> F64:
        return (values - self.mean) / self.sd


@serializable("HingeModel")
@dataclass(frozen=True, slots=True)
class HingeModel:
    """logit = intercept + slope t + bend max(t, 0)^2 + context . m + levels . L for midpoints m and columns L."""

    context: F64
    slope: float
    bend: float
    levels: F64
    intercept: float
    iterations: int

    def logit(self, midpoints: PairDesign, score: F64, *columns: F64) -> F64:
        weights = np.concatenate([self.context, [self.slope, self.bend], self.levels])
        return midpoints.append(score, bent(score), *columns).matvec(weights) + self.intercept

    def report(self) -> dict[str, Any]:
        return {"iterations": self.iterations, "slope": self.slope, "bend": self.bend}


def bent(score: F64) -> F64:
    """max(t, 0)^2, (p,): 0 for pairs below the mean score."""
    return np.maximum(score, 0.0) ** 2


def fit_hinge(midpoints: PairDesign, images: F32, same: Bool, score: F64, *columns: F64) -> HingeModel:
    """Fit to training pairs (p,) with a standardised ``score`` and ``columns`` (p,); ``images`` (n, d) are theirs.

    Written out, the context is half the sum of both images' (z - mean) / spread, and its weights have penalty 1. With
    weights of the midpoint itself the penalty is the spread squared, and the free intercept takes in the mean: the same
    optimum, without an image being copied.
    """
    wide = images.astype(np.float64)
    spread = float(np.square(wide - wide.mean(axis=0)).sum(axis=1).mean())
    context = np.full(images.shape[1], CONTEXT_PENALTY * max(spread, SPARE))
    levels = np.full(len(columns), SLOPE_PENALTY)
    penalty = np.concatenate([context, [SLOPE_PENALTY, BEND_PENALTY], levels])
    fitted = fit_newton(midpoints.append(score, bent(score), *columns), same, penalty)
    weights, d = fitted.weights, images.shape[1]
    if weights[d + 1] < 0:
        fitted = fit_newton(midpoints.append(score, *columns), same, np.delete(penalty, d + 1))
        weights = np.insert(fitted.weights, d + 1, 0.0)
    slope, bend = float(weights[d]), float(weights[d + 1])
    if slope < 0:
        log.warning(
            "the more similar two images are, the less likely they show one person (slope %.3g): are labels swapped?",
            slope,
        )
    return HingeModel(weights[:d], slope, bend, weights[d + 2 :], fitted.intercept, fitted.iterations)
