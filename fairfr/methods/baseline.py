"""Baseline: the raw cosine of the frozen backbone, untouched.

s = z_left . z_right. Source: the backbone itself. Needs nothing but the cosine. Emits a score; the probability is the
runner's beta overlay, fitted on training cosines. Deviations: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from fairfr.core.calibrator import FitContext
from fairfr.core.types import Bool, Need, Prediction
from fairfr.pairs.view import PairView


@dataclass
class Baseline:
    """The cosine itself."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = False

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        return self

    def predict(self, view: PairView) -> Prediction:
        return Prediction(score=view.cosine)
