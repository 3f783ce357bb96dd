"""Temperature: one positive number divides the cosine before the logistic function.

p = sigmoid(s / T), T fitted by log-loss on the training pairs. Temperature scaling divides the logit of a classifier
that already gives probabilities. A cosine is not a logit and has no such classifier behind it; taken as the logit
itself it leaves Platt's curve without an intercept, which is what this is: p = 1/2 stays at a cosine of 0, wherever the
best threshold lies. Expect it to rank as the cosine and to be poorly calibrated; it shows what the intercept is worth.

Source: Guo, Pleiss, Sun and Weinberger 2017, "On calibration of modern neural networks". Needs nothing but cosines.
Emits a probability, which is also its score.

Deviations: the cosine in the place of the logit, as above. No penalty, and the optimum itself (the loss is convex in
1 / T) rather than an optimiser's last step. 1 / T is kept within 0..``MAX_INVERSE``: at 0 (cosines that run against the
labels) p = 1/2 throughout, and labels that a cosine of 0 separates would ask for T = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.types import F64, Bool, Need, Prediction
from fairfr.numerics.regression import sigmoid
from fairfr.pairs.view import PairView

MAX_INVERSE = 1e4


@dataclass
class Temperature:
    """p = sigmoid(s / T)."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = True

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.inverse_ = _best_inverse(view.cosine, same)
        ctx.report["temperature"] = float("inf")
        if self.inverse_:
            ctx.report["temperature"] = 1 / self.inverse_
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = sigmoid(view.cosine * self.inverse_)
        return Prediction(score=probability, probability=probability)


def _best_inverse(cosine: F64, same: Bool) -> float:
    """1 / T where the slope of the log-loss, which only rises with 1 / T, crosses zero."""
    from scipy.optimize import brentq

    def slope(inverse: float) -> float:
        return float(np.mean(cosine * (sigmoid(cosine * inverse) - same)))

    if slope(0.0) >= 0:
        return 0.0
    if slope(MAX_INVERSE) <= 0:
        return MAX_INVERSE
    return float(brentq(slope, 0.0, MAX_INVERSE, xtol=1e-12))
