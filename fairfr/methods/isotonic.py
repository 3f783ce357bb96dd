"""Isotonic: the non-decreasing curve of the cosine that fits the training labels best.

p = f(s), f minimising the squared error over all non-decreasing functions into [0, 1]: steps found by pooling
neighbours that are out of order, joined by straight lines, and constant beyond the training cosines. A flat piece gives
different cosines one probability: pairs are ordered more coarsely than by the cosine, and AUROC and TPR@FPR move.

Source: Zadrozny and Elkan 2002, "Transforming classifier scores into accurate multiclass probability estimates"; fitted
by scikit-learn's IsotonicRegression. Needs nothing but cosines. Emits a probability, which is also its score.
Deviations: none. Training pairs of one class give 0 or 1 throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.types import Bool, Need, Prediction
from fairfr.pairs.view import PairView


@dataclass
class Isotonic:
    """p = f(s), f non-decreasing."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = True
    imports: ClassVar[tuple[str, ...]] = ("sklearn.isotonic",)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        from sklearn.isotonic import IsotonicRegression

        curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        curve.fit(view.cosine, same.astype(np.float64))
        self.cosine_ = curve.X_thresholds_
        self.probability_ = curve.y_thresholds_
        ctx.report["levels"] = len(np.unique(self.probability_))
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = np.interp(view.cosine, self.cosine_, self.probability_)
        return Prediction(score=probability, probability=probability)
