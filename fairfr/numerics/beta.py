"""Beta calibration (Kull, Silva Filho and Flach 2017): a logistic on ln u and -ln(1 - u). The overlay is one too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import Calibrator
from fairfr.core.serialization import serializable
from fairfr.core.types import F64, Bool
from fairfr.numerics.regression import LogisticModel, Solver, fit_logistic, sigmoid
from fairfr.pairs.design import DenseDesign
from fairfr.pairs.vectors import COSINE_RANGE

UNREGULARISED = 99_999_999_999.0  # the C of the published implementation


@serializable("BetaMap")
@dataclass(frozen=True, slots=True)
class BetaMap:
    """p = sigmoid(a ln u - b ln(1 - u) + c), u = (score - low) / (high - low) clipped to [epsilon, 1 - epsilon]."""

    a: float
    b: float
    c: float
    low: float
    high: float
    epsilon: float

    def probability(self, score: F64) -> F64:
        log_u, log_rest = _log_features(score, self.low, self.high, self.epsilon).T
        return sigmoid(self.a * log_u + self.b * log_rest + self.c)


def fit_beta(
    score: F64,
    same: Bool,
    score_range: tuple[float, float] = COSINE_RANGE,
    constrained: bool = True,
    epsilon: float = float(np.finfo(np.float64).eps),
    solver: Solver = "sklearn",
) -> BetaMap:
    """Fit the map on scores (p,) and labels (p,).

    ``constrained`` keeps a and b non-negative as published: a negative one is dropped and the other refitted, and if
    that too is negative the map is the base rate.
    """
    low, high = score_range
    if not high > low:  # every score equal: nothing to learn but the base rate
        low, high = low - 0.5, low + 0.5
    features = _log_features(score, low, high, epsilon)

    def fit(columns: slice) -> LogisticModel:
        return fit_logistic(DenseDesign(features[:, columns]), same, UNREGULARISED, solver)

    full = fit(slice(0, 2))
    a, b, c = float(full.weights[0]), float(full.weights[1]), full.intercept
    if constrained and a < 0:
        alone = fit(slice(1, 2))
        a, b, c = 0.0, float(alone.weights[0]), alone.intercept
    elif constrained and b < 0:
        alone = fit(slice(0, 1))
        a, b, c = float(alone.weights[0]), 0.0, alone.intercept
    if constrained and (a < 0 or b < 0):
        rate = np.clip(np.mean(same), epsilon, 1 - epsilon)
        a, b, c = 0.0, 0.0, float(np.log(rate / (1 - rate)))
    return BetaMap(a, b, c, low, high, epsilon)


def fit_overlay(method: Calibrator, score: F64, same: Bool) -> BetaMap:
    """The probability of a method that has none of its own: a beta map of its training scores (p,).

    It is fitted over the range that the method declares for its scores: -1..1, or ``score_range``; where that is None,
    the minimum and maximum of the training scores.
    """
    fixed = getattr(method, "score_range", COSINE_RANGE)
    score_range = fixed if fixed is not None else (float(score.min()), float(score.max()))
    return fit_beta(score, same, score_range)


def _log_features(score: F64, low: float, high: float, epsilon: float) -> F64:
    u = (score - low) / (high - low)
    np.clip(u, epsilon, 1 - epsilon, out=u)
    features = np.empty((2, len(u))).T  # each in one piece: that is how they are made
    np.log(u, out=features[:, 0])
    np.log1p(np.negative(u, out=u), out=features[:, 1])
    np.negative(features[:, 1], out=features[:, 1])
    return features
