"""AC-Linear: logistic regression on [midpoint, cosine] (paper, section 3.3).

p = sigmoid(w . [m, s] + b), m = (z_left + z_right) / 2. L2 penalty with C = 1, free intercept, no standardisation, the
sign of the weight on s unconstrained. ``solver="sklearn"`` stops where scikit-learn's default stops, which is what
"implementation default" means and what the published numbers rest on; ``solver="converged"`` goes to the optimum.

Source: the Adaptive Calibration paper. Needs embeddings. Emits a probability, which is also its score.

Deviations: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above
from fairfr.core.types import Bool, Need, Prediction
from fairfr.numerics.regression import Solver, fit_logistic
from fairfr.pairs.design import PairDesign
from fairfr.pairs.view import PairView


@dataclass
class ACLinear:
    """p = sigmoid(w . [m, s] + b).

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the L2 penalty, as in scikit-learn: larger values shrink the weights less.
    solver : {"sklearn", "converged"}, default "sklearn"
        Where the optimiser stops: where scikit-learn's default stops, or at the optimum.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    C: float = 1.0
    solver: Solver = "sklearn"

    def __post_init__(self) -> None:
        check_above(0, C=self.C)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.model_ = fit_logistic(_features(view), same, self.C, self.solver)
        ctx.report.update(iterations=self.model_.iterations, weight_of_cosine=float(self.model_.weights[-1]))
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = self.model_.probability(_features(view))
        return Prediction(score=probability, probability=probability)


def _features(view: PairView) -> PairDesign:
    return view.midpoints().append(view.cosine)
