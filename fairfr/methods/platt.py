"""Platt: one logistic curve on the cosine, the same for all pairs.

p = sigmoid(a s + b), fitted by log-loss on the training pairs with scikit-learn's own stopping and C = 1 (the base of
AC-Density). With ``smooth_targets`` the labels become (N+ + 1) / (N+ + 2) and 1 / (N- + 2), as Platt (1999) proposed.
Training pairs of one class only give the base rate.

Source: Platt (1999). Needs nothing but the cosine. Emits a probability, which is also its score. Deviations: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above
from fairfr.core.types import F64, Bool, Need, Prediction
from fairfr.numerics.regression import Solver, fit_logistic
from fairfr.pairs.design import DenseDesign
from fairfr.pairs.view import PairView


@dataclass
class Platt:
    """p = sigmoid(a s + b).

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the L2 penalty, as in scikit-learn: larger values shrink the weights less.
    smooth_targets : bool, default False
        Smooth the labels as Platt (1999) proposed.
    solver : {"sklearn", "converged"}, default "sklearn"
        Where the optimiser stops: where scikit-learn's default stops, or at the optimum.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = True

    C: float = 1.0
    smooth_targets: bool = False
    solver: Solver = "sklearn"

    def __post_init__(self) -> None:
        check_above(0, C=self.C)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        target: Bool | F64 = same
        if self.smooth_targets:
            target = _smoothed(same)
        self.model_ = fit_logistic(DenseDesign(view.cosine), target, self.C, self.solver)
        ctx.report["iterations"] = self.model_.iterations
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = self.model_.probability(DenseDesign(view.cosine))
        return Prediction(score=probability, probability=probability)


def _smoothed(same: Bool) -> F64:
    positives = int(same.sum())
    negatives = len(same) - positives
    return np.where(same, (positives + 1) / (positives + 2), 1 / (negatives + 2))
