"""AC-Density: a Platt base plus a ridge correction by place and local density (paper, section 3.4).

p = clip(p_base(s) + psi . [m, rho, s] + psi_0, 0, 1). p_base is Platt's curve; rho(m) is the mean Euclidean distance
from the midpoint m to its k = 20 nearest reference midpoints among the training pairs (a random 6,000 of them where
the data set says so: ``max_references``). Features are standardised on the training pairs; psi is closed-form ridge,
alpha = 1, on the residual y - p_base(s).

Emits ``score``, the unclipped value, and ``probability``, the clipped one: clipping makes ties, which
move AUROC and TPR.

``self_neighbour=True`` is the published form: a training pair in the reference set finds itself at distance 0 while a
test pair never does, so rho is smaller in training and probabilities are biased on test pairs.
``self_neighbour=False`` (``method=ac_density_loo``) leaves each training pair out of its own neighbours.

Source: the Adaptive Calibration paper. Needs embeddings.

Deviations: none. Fewer than k references: the mean over what there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.conform import above, at_least
from fairfr.core.errors import DataError
from fairfr.core.types import F64, Bool, Need, Prediction
from fairfr.methods._logistic import fit_logistic
from fairfr.methods._ridge import fit_ridge_standardised
from fairfr.pairs.design import Columns
from fairfr.pairs.neighbours import Engine
from fairfr.pairs.view import PairView, References


@dataclass
class ACDensity:
    """p = clip(p_base(s) + ridge([m, rho, s]), 0, 1)."""

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    k: int = 20
    alpha: float = 1.0
    C: float = 1.0
    self_neighbour: bool = True
    engine: Engine = "auto"

    def __post_init__(self) -> None:
        at_least(1, k=self.k)
        at_least(0, alpha=self.alpha)
        above(0, C=self.C)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.base_ = fit_logistic(Columns(view.cosine), same, self.C)
        self.references_ = self._choose_references(view, ctx)
        density = self._density(view)
        residual = same - self.base_.probability(Columns(view.cosine))
        self.ridge_ = fit_ridge_standardised(view.midpoints().append(density, view.cosine), residual, self.alpha)
        ctx.report.update(references=len(self.references_), mean_distance_train=float(density.mean()))
        return self

    def predict(self, view: PairView) -> Prediction:
        features = view.midpoints().append(self._density(view), view.cosine)
        score = self.base_.probability(Columns(view.cosine)) + self.ridge_.value(features)
        return Prediction(score=score, probability=np.clip(score, 0.0, 1.0))

    def _choose_references(self, view: PairView, ctx: FitContext) -> References:
        if view.n_pairs < (1 if self.self_neighbour else 2):
            raise DataError(f"AC-Density found {view.n_pairs} training pairs; it needs others to measure distances to.")
        if ctx.max_references is None or ctx.max_references >= view.n_pairs:
            return view.references()
        chosen = ctx.rng("references").choice(view.n_pairs, ctx.max_references, replace=False)
        return view.references(np.sort(chosen))

    def _density(self, view: PairView) -> F64:
        """rho, (p,): large where training midpoints are sparse."""
        return view.mean_distance(self.references_, self.k, self.self_neighbour, self.engine)
