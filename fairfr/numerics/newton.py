"""Logistic regression to its optimum by Newton's method, with a penalty of its own for every weight."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, Bool
from fairfr.numerics.regression import LogisticModel, sigmoid
from fairfr.pairs.design import Design
from fairfr.pairs.parallel import single_thread_blas

MAX_STEPS = 60
TOLERANCE = 1e-10
SMALLEST_STEP = 2.0**-30


def fit_newton(design: Design, same: Bool, penalty: F64) -> LogisticModel:
    """Minimise the sum of log losses + half the sum of penalty * weight^2; the intercept is free.

    ``design`` is an operator (p, c), ``same`` (p,), ``penalty`` (c,). With pairs of one kind only: the base rate.
    """
    target = same.astype(np.float64)
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
    direction: F64 = np.linalg.solve(hessian, gradient)
    return direction


def _log_odds(rate: float) -> float:
    """Of a rate that may be 0 or 1: finite, within rounding of it."""
    inside = np.clip(rate, np.finfo(float).eps, 1 - np.finfo(float).eps)
    return float(np.log(inside / (1 - inside)))
