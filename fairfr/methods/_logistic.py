"""Logistic regression on any design, with scikit-learn's stopping rule.

Where an optimiser stops is part of a published number: on 733k pairs the default stopping leaves probabilities up to
0.2 away from the optimum. ``solver="paper"`` therefore minimises what scikit-learn's LogisticRegression minimises,
with the same L-BFGS settings from the same start, but never builds the features. ``solver="converged"`` goes on to
the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.state import piece
from fairfr.core.types import F64, Bool
from fairfr.pairs.blas import one_blas_thread
from fairfr.pairs.design import Columns, Design

Solver: TypeAlias = Literal["paper", "converged"]

MAX_ITERATIONS = {"paper": 100, "converged": 10_000}
GRADIENT_TOLERANCE = {"paper": 1e-4, "converged": 1e-8}
MAX_NEWTON_STEPS = 30
BLOCK = 2**15  # pairs that a thread takes at a time
MULTIPLIED = 64  # numbers up to 2, without overflow
COMPILED_FROM = 2**17  # pairs: fewer take less time than importing numba


def sigmoid(logit: F64) -> F64:
    """1 / (1 + exp(-logit)), without overflow."""
    from scipy.special import expit

    out: F64 = expit(logit)
    return out


@piece
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


def fit_logistic(
    design: Design, target: Bool | F64, C: float = 1.0, solver: Solver = "paper", threads: int = 1
) -> LogisticModel:
    """Minimise mean log-loss + |weights|^2 / (2 C p); the intercept is free.

    Parameters
    ----------
    design : Design
        Features (p, c).
    target : (p,)
        Labels, or probabilities to regress on (smoothed labels).
    C : float
        Inverse strength of the penalty, as in scikit-learn.
    """
    from scipy.optimize import minimize

    target = np.asarray(target, dtype=np.float64)
    p, c = design.shape
    if np.all(target == target[0]) and target[0] in (0.0, 1.0):
        return _constant(target, c)
    with one_blas_thread():
        result = minimize(
            _objective(design, target, 1.0 / (C * p), threads),
            np.zeros(c + 1),
            method="L-BFGS-B",
            jac=True,
            options={
                "maxiter": MAX_ITERATIONS[solver],
                "maxls": 50,
                "gtol": GRADIENT_TOLERANCE[solver],
                "ftol": 64 * np.finfo(float).eps,
            },
        )
    parameters, iterations = result.x, int(result.nit)
    if solver == "converged":
        parameters, steps = _newton(parameters, design, target, 1.0 / (C * p))
        iterations += steps
    return LogisticModel(parameters[:-1], float(parameters[-1]), iterations)


def _constant(target: F64, c: int) -> LogisticModel:
    """One class only: the base rate, within rounding of 0 or 1 so that its logit stays finite."""
    rate = np.clip(target.mean(), np.finfo(float).eps, 1 - np.finfo(float).eps)
    return LogisticModel(np.zeros(c), float(np.log(rate / (1 - rate))), 0)


def _objective(design: Design, target: F64, penalty: float, threads: int) -> Callable[[F64], tuple[float, F64]]:
    """Loss and gradient as a function of the parameters (c + 1,): weights, then the intercept."""
    if isinstance(design, Columns) and len(target) >= COMPILED_FROM:
        columns = design.by_column()
        return lambda parameters: _compiled_loss_and_gradient(parameters, columns, target, penalty, threads)
    room = np.empty(len(target))
    return lambda parameters: _loss_and_gradient(parameters, design, target, penalty, threads, room)


def _compiled_loss_and_gradient(
    parameters: F64, columns: F64, target: F64, penalty: float, threads: int
) -> tuple[float, F64]:
    """As ``_loss_and_gradient``, for few features (c, p): nothing as long as the pairs is written."""
    from fairfr.methods._logistic_loops import loss_and_gradient

    weights, starts = parameters[:-1], range(0, len(target), BLOCK)
    gradients = np.empty((len(starts), len(parameters)))

    def fill(block: int) -> float:
        begin, end = starts[block], min(starts[block] + BLOCK, len(target))
        return float(loss_and_gradient(columns, target, begin, end, weights, parameters[-1], gradients[block]))

    losses = _by_block(fill, range(len(starts)), threads)
    gradient = gradients.sum(axis=0) / len(target)
    gradient[:-1] += penalty * weights
    return float(np.sum(losses) / len(target) + penalty / 2 * weights @ weights), gradient


def _by_block(loss_of: Callable[[int], float], blocks: Sequence[int], threads: int) -> list[float]:
    """The loss of each block in the order of the blocks, whoever computes it."""
    if threads == 1 or len(blocks) == 1:  # to start a thread takes longer than some thousand pairs
        return list(map(loss_of, blocks))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(loss_of, blocks))


def _loss_and_gradient(
    parameters: F64, design: Design, target: F64, penalty: float, threads: int = 1, room: F64 | None = None
) -> tuple[float, F64]:
    """``room`` (p,), if there is one, is written over: millions of pairs need memory from the system each time else."""
    weights, intercept = parameters[:-1], parameters[-1]
    logit = design.matvec(weights)
    logit += intercept
    slope, starts = np.empty(len(logit)) if room is None else room, range(0, len(logit), BLOCK)
    block_loss = _block_loss_of(len(logit))

    def fill(start: int) -> float:
        part = slice(start, start + BLOCK)
        return block_loss(logit[part], target[part], slope[part])

    losses = _by_block(fill, starts, threads)
    slope /= len(target)
    loss = np.sum(losses) / len(target) + penalty / 2 * weights @ weights
    gradient = np.append(design.rmatvec(slope) + penalty * weights, slope.sum())
    return float(loss), gradient


def _block_loss_of(p: int) -> Callable[[F64, F64, F64], float]:
    """What computes the loss of a block where there are p pairs in all: the same to rounding."""
    if p < COMPILED_FROM:
        return _block_loss
    from fairfr.methods._logistic_loops import block_loss

    return block_loss  # type: ignore[no-any-return]


def _block_loss(logit: F64, target: F64, slope: F64) -> float:
    """Sum of log(1 + e^x) - t x over some pairs; sigmoid(x) - t goes into ``slope``.

    One exponential a pair serves both. Of 1 + e^-|x|, which is at most 2, the product of many is taken before the
    logarithm: the terms round to 1e-16 each, as they do in the sum.
    """
    small = np.exp(-np.abs(logit))
    more = 1.0 + small
    np.copyto(slope, small)
    np.copyto(slope, 1.0, where=logit >= 0)
    slope /= more
    slope -= target
    whole = len(more) // MULTIPLIED * MULTIPLIED
    products = more[:whole].reshape(-1, MULTIPLIED).prod(axis=1)
    logarithms = np.log(products).sum() + np.log(more[whole:]).sum()
    return float(logarithms + np.sum(np.maximum(logit, 0.0) - target * logit))


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
        parameters, loss, gradient = candidate, new_loss, new_gradient
    return parameters, MAX_NEWTON_STEPS
