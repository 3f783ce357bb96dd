"""Ridge regression on standardised features, in closed form from the gram of the raw ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.state import piece
from fairfr.core.types import F64
from fairfr.methods._standardise import unit_scale
from fairfr.pairs.design import Design


@piece
@dataclass(frozen=True, slots=True)
class RidgeModel:
    """target ~ X @ weights + intercept, with the weights already in units of the raw features."""

    weights: F64
    intercept: float

    def value(self, design: Design) -> F64:
        return design.matvec(self.weights) + self.intercept


def fit_ridge_standardised(design: Design, target: F64, alpha: float) -> RidgeModel:
    """Minimise sum of squared residuals + alpha |weights of the standardised features|^2; the intercept is free.

    ``design`` is an operator (p, d), ``target`` (p,).

    Standardisation (training mean, population std; a constant feature is divided by 1) is applied to the gram and
    undone in the weights: the pairs themselves are never touched.
    """
    p, _ = design.shape
    mean = design.rmatvec(np.ones(p)) / p
    covariance = design.gram() / p - np.outer(mean, mean)
    scale, constant = unit_scale(mean, np.diag(covariance))
    centred = target - target.mean()
    right = (design.rmatvec(centred) - centred.sum() * mean) / scale
    left = covariance / np.outer(scale, scale) * p
    left[constant, :] = 0.0
    left[:, constant] = 0.0
    right[constant] = 0.0
    left[np.diag_indices_from(left)] += alpha
    weights = np.linalg.solve(left, right) / scale
    return RidgeModel(weights, float(target.mean() - mean @ weights))
