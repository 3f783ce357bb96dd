"""Logistic and ridge regression on any design.

Logistic regression has scikit-learn's stopping rule.

Where an optimiser stops is part of a published number: on 733k pairs the default stopping leaves probabilities up to
0.2 away from the optimum. ``solver="sklearn"`` therefore minimises what scikit-learn's LogisticRegression minimises,
with the same L-BFGS settings from the same start, but never builds the features. ``solver="converged"`` goes to the
optimum by Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.serialization import serializable
from fairfr.core.types import F64, Bool
from fairfr.pairs.design import Design
from fairfr.pairs.parallel import single_thread_blas

Solver: TypeAlias = Literal["sklearn", "converged"]

SKLEARN_STOPPING = {"maxiter": 100, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}
MAX_STEPS = 60  # of Newton's method
TOLERANCE = 1e-10  # it ends where a step lowers the objective by a smaller share
SMALLEST_STEP = 2.0**-30


def sigmoid(logit: F64) -> F64:
    """1 / (1 + exp(-logit)), without overflow."""
    from scipy.special import expit

    out: F64 = expit(logit)
    return out


@serializable("LogisticModel")
@dataclass(frozen=True, slots=True)
class LogisticModel:
    """p = sigmoid(X @ weights + intercept)."""

    weights: F64
    intercept: float
    iterations: int

    def logit(self, design: Design) -> F64:
        return design.matvec(self.weights) + self.intercept

    def probability(self, design: Design) -> F64:
        return sigmoid(self.logit(design))


def fit_logistic(design: Design, target: Bool | F64, C: float = 1.0, solver: Solver = "sklearn") -> LogisticModel:
    """Fit logistic regression: minimise mean log-loss + |weights|^2 / (2 C n_pairs); the intercept is free.

    Parameters
    ----------
    design : Design
        Features, of shape (n_pairs, n_features).
    target : ndarray of bool or float64, shape (n_pairs,)
        Labels, or probabilities to regress on (smoothed labels).
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn.
    solver : {"sklearn", "converged"}, default "sklearn"
        Where to stop: where scikit-learn does by default, or at the optimum.

    Returns
    -------
    LogisticModel
        If ``target`` has only one class, the model is constant and stays inside (0, 1).
    """
    target = np.asarray(target, dtype=np.float64)
    p, c = design.shape
    if solver == "converged":
        return fit_newton(design, target, np.full(c, 1.0 / C))
    if np.all(target == target[0]) and target[0] in (0.0, 1.0):
        return LogisticModel(np.zeros(c), _log_odds(float(target[0])), 0)
    from scipy.optimize import minimize

    with single_thread_blas():
        result = minimize(
            _loss_and_gradient,
            np.zeros(c + 1),
            (design, target, 1.0 / (C * p)),
            method="L-BFGS-B",
            jac=True,
            options=SKLEARN_STOPPING,
        )
    return LogisticModel(result.x[:-1], float(result.x[-1]), int(result.nit))


def _loss_and_gradient(parameters: F64, design: Design, target: F64, penalty: float) -> tuple[float, F64]:
    """Mean of log(1 + e^x) - t x over the logits x, plus the penalty; and the gradient, weights then intercept."""
    from scipy.special import expit, log_expit

    weights = parameters[:-1]
    logit = design.matvec(weights)
    logit += parameters[-1]
    slope = expit(logit)
    slope -= target
    slope /= len(target)
    loss = ((1 - target) @ logit - log_expit(logit).sum()) / len(target) + penalty / 2 * weights @ weights
    gradient = np.append(design.rmatvec(slope) + penalty * weights, slope.sum())
    return float(loss), gradient


def fit_newton(design: Design, target: Bool | F64, penalty: F64) -> LogisticModel:
    """Newton's method for the sum of log losses + half the sum of penalty * weight^2; the intercept is free.

    ``target`` (p,) are labels or probabilities; ``penalty`` (c,) has a number for each weight. Targets that are all the
    same give their base rate.
    """
    target = np.asarray(target, dtype=np.float64)
    if np.all(target == target[0]):
        return LogisticModel(np.zeros(design.shape[1]), _log_odds(float(target[0])), 0)
    parameters = np.zeros(design.shape[1] + 1)
    logit = np.zeros(len(target))
    objective = _objective(logit, target, parameters, penalty)
    fell = np.inf
    steps = 0
    while steps < MAX_STEPS and fell >= TOLERANCE * (abs(objective) + 1):
        direction = _direction(design, logit, target, parameters, penalty)
        before = objective
        scale = 1.0
        candidate = parameters - direction
        logit = _logit(design, candidate)
        objective = _objective(logit, target, candidate, penalty)
        while objective > before and scale >= SMALLEST_STEP:
            scale /= 2
            candidate = parameters - scale * direction
            logit = _logit(design, candidate)
            objective = _objective(logit, target, candidate, penalty)
        if objective <= before:
            parameters = candidate
        fell = before - objective
        steps += 1
    return LogisticModel(parameters[:-1], float(parameters[-1]), steps)


def _logit(design: Design, parameters: F64) -> F64:
    with single_thread_blas():
        logit: F64 = design.matvec(parameters[:-1]) + parameters[-1]
    return logit


def _objective(logit: F64, target: F64, parameters: F64, penalty: F64) -> float:
    from scipy.special import log_expit

    loss = (1 - target) @ logit - log_expit(logit).sum()
    return float(loss + penalty @ parameters[:-1] ** 2 / 2)


def _direction(design: Design, logit: F64, target: F64, parameters: F64, penalty: F64) -> F64:
    """The inverse Hessian times the gradient, weights then intercept."""
    probability = sigmoid(logit)
    residual = probability - target
    curvature = probability * (1 - probability)
    with single_thread_blas():
        gradient = np.append(design.rmatvec(residual) + penalty * parameters[:-1], residual.sum())
        side = design.rmatvec(curvature)
    corner = np.atleast_2d(curvature.sum())
    hessian = np.block([[design.gram(curvature) + np.diag(penalty), side[:, None]], [side[None, :], corner]])
    try:
        direction: F64 = np.linalg.solve(hessian, gradient)
    except np.linalg.LinAlgError:  # singular, as equal scores leave it
        direction = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
    return direction


def _log_odds(rate: float) -> float:
    """Of a rate that may be 0 or 1: finite, within rounding of it."""
    inside = np.clip(rate, np.finfo(float).eps, 1 - np.finfo(float).eps)
    return float(np.log(inside / (1 - inside)))


@serializable("RidgeModel")
@dataclass(frozen=True, slots=True)
class RidgeModel:
    """target ~ X @ weights + intercept, with the weights already in units of the raw features."""

    weights: F64
    intercept: float

    def value(self, design: Design) -> F64:
        return design.matvec(self.weights) + self.intercept


def fit_ridge(design: Design, target: F64, alpha: float) -> RidgeModel:
    """Fit ridge regression on standardised features; the intercept is free.

    Minimises the sum of squared residuals + alpha |weights of the standardised features|^2. Standardisation (training
    mean, population std; a constant feature is divided by 1) is applied to the gram and undone in the weights: the
    pairs themselves are never touched.

    Parameters
    ----------
    design : Design
        Features, of shape (n_pairs, n_features).
    target : ndarray of float64, shape (n_pairs,)
        What to predict.
    alpha : float
        Strength of the penalty.

    Returns
    -------
    RidgeModel
        Its weights are of the features themselves, not of the standardised ones.
    """
    p, _ = design.shape
    mean = design.rmatvec(np.ones(p)) / p
    covariance = design.gram() / p - np.outer(mean, mean)
    scale, constant = safe_std(mean, np.diag(covariance))
    centred = target - target.mean()
    right = (design.rmatvec(centred) - centred.sum() * mean) / scale
    left = covariance / np.outer(scale, scale) * p
    left[constant, :] = 0.0
    left[:, constant] = 0.0
    right[constant] = 0.0
    left[np.diag_indices_from(left)] += alpha
    weights = np.linalg.solve(left, right) / scale
    return RidgeModel(weights, float(target.mean() - mean @ weights))


def safe_std(mean: F64, variance: F64) -> tuple[F64, Bool]:
    """Population std of each feature, (c,), with 1 in place of a constant one's; and which are constant.

    ``variance`` is a mean of squares less a squared mean: a constant feature leaves only the rounding of its square.
    """
    constant = variance <= 1e-12 * np.maximum(mean**2, np.finfo(float).tiny)
    return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variance))), constant
