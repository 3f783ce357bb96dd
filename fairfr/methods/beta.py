"""Beta calibration of the cosine (Kull et al. 2017): a richer curve than Platt's, still one for all pairs.

p = sigmoid(a ln u - b ln(1 - u) + c), u the cosine mapped to [0, 1]. ``variant="constrained"`` (as published, and as
FairCal uses it) maps -1..1 and keeps a, b >= 0, so that ranks are preserved; ``variant="unconstrained"`` is the one the
Adaptive Calibration paper describes: free a and b, range from the training cosines, test cosines clipped into it.

Needs nothing but the cosine. Emits a probability, which is also its score.

Deviations: the paper gives no epsilon for its clipping; 1e-6 here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from fairfr.core.calibrator import FitContext
from fairfr.core.types import Bool, Need, Prediction
from fairfr.numerics.beta import fit_beta
from fairfr.numerics.regression import Solver
from fairfr.pairs.view import PairView

PAPER_EPSILON = 1e-6


@dataclass
class Beta:
    """p = sigmoid(a ln u - b ln(1 - u) + c).

    Parameters
    ----------
    variant : {"constrained", "unconstrained"}, default "constrained"
        As published (a, b >= 0, cosines from -1 to 1), or as the Adaptive Calibration paper describes it (free a and b,
        range of the training cosines).
    solver : {"sklearn", "converged"}, default "sklearn"
        Where the optimiser stops: where scikit-learn's default stops, or at the optimum.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = True

    variant: Literal["constrained", "unconstrained"] = "constrained"
    solver: Solver = "sklearn"

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        cosine = view.cosine
        if self.variant == "unconstrained":
            training_range = (float(cosine.min()), float(cosine.max()))
            self.map_ = fit_beta(cosine, same, training_range, False, PAPER_EPSILON, self.solver)
        else:
            self.map_ = fit_beta(cosine, same, solver=self.solver)
        ctx.report.update(a=self.map_.a, b=self.map_.b, c=self.map_.c)
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = self.map_.probability(view.cosine)
        return Prediction(score=probability, probability=probability)
