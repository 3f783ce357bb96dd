"""AC-Hinge: AC-Linear with a free slope of the cosine, and a logit that may bend upwards. Ours, not the paper's.

logit p = b + a t + c max(t, 0)^2 + w . (x_left + x_right) / 2, c >= 0. t is the cosine, standardised over the training
pairs; x is an image's vector less the mean of all training images, divided by their spread (the root of the mean
squared distance from that mean). Minimises the sum of log losses + (0.001 a^2 + 0.1 c^2 + w . w) / 2 by Newton's
method, to the optimum; where c would be negative it is 0.

AC-Linear's C = 1 shrinks the weight of the cosine as much as those of the place. Where cosines vary little, its
probabilities are then too timid; here the slope is practically free.

Source: this project (docs/lab/beyond.md). Needs embeddings. Emits a probability; its score is the logit.

Deviations: none. Pairs of one kind only: their base rate. A negative slope is kept, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from fairfr.core.calibrator import FitContext
from fairfr.core.types import Bool, Need, Prediction
from fairfr.methods._hinge import Standardisation, fit_hinge
from fairfr.numerics.regression import sigmoid
from fairfr.pairs.view import PairView


@dataclass
class ACHinge:
    """logit p = b + a t + c max(t, 0)^2 + w . (x_left + x_right) / 2."""

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        cosine = view.cosine
        self.cosine_ = Standardisation.of(cosine)
        self.model_ = fit_hinge(view.midpoints(), view.images()[1], same, self.cosine_.apply(cosine))
        ctx.report.update(self.model_.report())
        return self

    def predict(self, view: PairView) -> Prediction:
        logit = self.model_.logit(view.midpoints(), self.cosine_.apply(view.cosine))
        return Prediction(score=logit, probability=sigmoid(logit))
