"""Logistic and ridge regression on any design.

Logistic regression has scikit-learn's stopping rule.

Where an optimiser stops is part of a published number: on 733k pairs the default stopping leaves probabilities up to
0.2 away from the optimum. ``solver="sklearn"`` therefore minimises what scikit-learn's LogisticRegression minimises,
with the same L-BFGS settings from the same start, but never builds the features. ``solver="converged"`` goes on to
the optimum.
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

MAX_ITERATIONS = {"sklearn": 100, "converged": 10_000}
GRADIENT_TOLERANCE = {"sklearn": 1e-4, "converged": 1e-8}
MAX_NEWTON_STEPS = 30


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
    from scipy.optimize import minimize

    target = np.asarray(target, dtype=np.float64)
    p, c = design.shape
    if np.all(target == target[0]) and target[0] in (0.0, 1.0):
        return _constant(target, c)
    with single_thread_blas():
        result = minimize(
            _loss_and_gradient,
            np.zeros(c + 1),
            (design, target, 1.0 / (C * p)),
            method="L-BFGS-B",
            jac=True,
            options={
                "maxiter": MAX_ITERATIONS[solver],
                "maxls": 50,
                "gtol": GRADIENT_TOLERANCE[solver],
                "ftol": 64 * np.finfo(float).eps,
            },
        )
    parameters = result.x
    iterations = int(result.nit)
    if solver == "converged":
        parameters, steps = _newton(parameters, design, target, 1.0 / (C * p))
        iterations += steps
    return LogisticModel(parameters[:-1], float(parameters[-1]), iterations)


def _constant(target: F64, c: int) -> LogisticModel:
    """One class only: the base rate, within rounding of 0 or 1 so that its logit stays finite."""
    rate = np.clip(target.mean(), np.finfo(float).eps, 1 - np.finfo(float).eps)
    return LogisticModel(np.zeros(c), float(np.log(rate / (1 - rate))), 0)


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


def _newton(parameters: F64, design: Design, target: F64, penalty: float) -> tuple[F64, int]:
    """Newton steps with halving, from where L-BFGS stopped to the optimum."""
    ones = np.ones(len(target))
    loss, gradient = _loss_and_gradient(parameters, design, target, penalty)
    for step in range(MAX_NEWTON_STEPS):
        if np.abs(gradient).max() < GRADIENT_TOLERANCE["converged"] / 100:
            return parameters, step
        probability = sigmoid(design.matvec(parameters[:-1]) + parameters[-1])
        curvature = probability * (1 - probability) / len(target)
        side = design.rmatvec(curvature)
        hessian = np.block([[design.gram(curvature), side[:, None]], [side[None, :], np.atleast_2d(curvature @ ones)]])
        hessian[np.arange(len(side)), np.arange(len(side))] += penalty
        direction = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        scale = 1.0
        while scale > 1e-6:
            candidate = parameters - scale * direction
            new_loss, new_gradient = _loss_and_gradient(candidate, design, target, penalty)
            if new_loss <= loss:
                break
            scale /= 2
        else:
            return parameters, step  # rounding is all that is left
        parameters = candidate
        loss = new_loss
        gradient = new_gradient
    return parameters, MAX_NEWTON_STEPS


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
