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
    """Fit a beta calibration map from scores to probabilities (Kull, Silva Filho and Flach 2017).

    The map is ``p = sigmoid(a ln(u) - b ln(1 - u) + c)``, where ``u`` is the score scaled to [0, 1].

    Parameters
    ----------
    score : ndarray of float64, shape (n_pairs,)
        Similarity scores; higher means more similar.
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    score_range : tuple of float, default (-1, 1)
        Scores that are scaled to 0 and 1. Scores outside this range are clipped.
    constrained : bool, default True
        Keep ``a`` and ``b`` non-negative, as published, so that the map never decreases: a negative one is set to 0 and
        the other is fitted again. If that is negative too, the map is the share of genuine pairs.
    epsilon : float
        Distance that ``u`` keeps from 0 and 1.
    solver : {"sklearn", "converged"}, default "sklearn"
        Where to stop: where scikit-learn does by default, or at the optimum.

    Returns
    -------
    BetaMap
        The fitted map. If ``same`` has only one class, the map is constant and stays inside (0, 1).
    """
    low, high = score_range
    if not high > low:  # every score equal: nothing to learn but the base rate
        centre = low
        low = centre - 0.5
        high = centre + 0.5
    features = _log_features(score, low, high, epsilon)

    def fit(columns: slice) -> LogisticModel:
        return fit_logistic(DenseDesign(features[:, columns]), same, UNREGULARISED, solver)

    model = fit(slice(0, 2))
    a = float(model.weights[0])
    b = float(model.weights[1])
    if constrained and a < 0:
        model = fit(slice(1, 2))
        a = 0.0
        b = float(model.weights[0])
    elif constrained and b < 0:
        model = fit(slice(0, 1))
        a = float(model.weights[0])
        b = 0.0
    if constrained and (a < 0 or b < 0):
        rate = np.clip(np.mean(same), epsilon, 1 - epsilon)
        return BetaMap(0.0, 0.0, float(np.log(rate / (1 - rate))), low, high, epsilon)
    return BetaMap(a, b, model.intercept, low, high, epsilon)


def fit_overlay(method: Calibrator, score: F64, same: Bool) -> BetaMap:
    """Fit the probability of a method that has none of its own: a beta map of its training scores.

    It is fitted over the range that the method declares for its scores: -1..1, or ``score_range``; where that is None,
    the minimum and maximum of the training scores.

    Parameters
    ----------
    method : Calibrator
        The fitted method.
    score : ndarray of float64, shape (n_pairs,)
        Its scores of the training pairs.
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.

    Returns
    -------
    BetaMap
    """
    score_range = getattr(method, "score_range", COSINE_RANGE)
    if score_range is None:
        score_range = (float(score.min()), float(score.max()))
    return fit_beta(score, same, score_range)


def _log_features(score: F64, low: float, high: float, epsilon: float) -> F64:
    u = (score - low) / (high - low)
    np.clip(u, epsilon, 1 - epsilon, out=u)
    features = np.empty((2, len(u))).T  # each in one piece: that is how they are made
    np.log(u, out=features[:, 0])
    np.log1p(np.negative(u, out=u), out=features[:, 1])
    np.negative(features[:, 1], out=features[:, 1])
    return features
