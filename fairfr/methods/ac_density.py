"""AC-Density: a Platt base plus a ridge correction by place and local density (paper, section 3.4).

p = clip(p_base(s) + psi . [m, rho, s] + psi_0, 0, 1). p_base is Platt's curve; rho(m) is the mean Euclidean distance
from the midpoint m to its k = 20 nearest reference midpoints among the training pairs: all of them, or a random
``max_references`` (the yaml takes ``dataset.max_references``, which is 6,000 on BFW). Features are standardised on the
training pairs; psi is closed-form ridge, alpha = 1, on the residual y - p_base(s).

Emits ``score``, the unclipped value, and ``probability``, the clipped one: clipping makes ties, which
move AUROC and TPR.

``self_neighbour=True`` is the published form: a training pair in the reference set finds itself at distance 0 while a
test pair never does, so rho is smaller in training and probabilities are biased on test pairs.
``self_neighbour=False`` (``method=ac_density_loo``) leaves each training pair out of its own neighbours when fitting.
Once fitted, every pair is a new pair.

Source: the Adaptive Calibration paper. Needs embeddings.

Deviations: none. Fewer than k references: the mean over what there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.types import Bool, Need, Prediction
from fairfr.methods._density import fit_density
from fairfr.numerics.regression import fit_logistic, fit_ridge
from fairfr.pairs.design import DenseDesign
from fairfr.pairs.neighbours import Engine
from fairfr.pairs.view import PairView


@dataclass
class ACDensity:
    """p = clip(p_base(s) + ridge([m, rho, s]), 0, 1).

    Parameters
    ----------
    k : int, default 20
        How many nearest reference midpoints the local density is the mean distance to.
    alpha : float, default 1.0
        Strength of the ridge penalty.
    C : float, default 1.0
        Inverse strength of the L2 penalty of the Platt base, as in scikit-learn.
    self_neighbour : bool, default True
        Whether a training pair counts among its own neighbours while fitting, as published.
    engine : {"auto", "scan", "faiss"}, default "auto"
        How neighbours are searched. All engines find the same ones; they differ in time.
    max_references : int or None, default None
        Draw at most this many training pairs as references; None takes all.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True
    imports: ClassVar[tuple[str, ...]] = ("faiss", "numba")

    k: int = 20
    alpha: float = 1.0
    C: float = 1.0
    self_neighbour: bool = True
    engine: Engine = "auto"
    max_references: int | None = None

    def __post_init__(self) -> None:
        check_min(1, k=self.k, max_references=self.max_references)
        check_min(0, alpha=self.alpha)
        check_above(0, C=self.C)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        cosine = view.cosine
        self.base_ = fit_logistic(DenseDesign(cosine), same, self.C)
        self.density_ = fit_density(self, view, ctx)
        density = self.density_.of_training(view)
        residual = same - self.base_.probability(DenseDesign(cosine))
        self.ridge_ = fit_ridge(view.midpoints().append(density, cosine), residual, self.alpha)
        ctx.report["mean_distance_train"] = float(density.mean())
        return self

    def predict(self, view: PairView) -> Prediction:
        cosine = view.cosine
        features = view.midpoints().append(self.density_.of(view), cosine)
        score = self.base_.probability(DenseDesign(cosine)) + self.ridge_.value(features)
        return Prediction(score=score, probability=np.clip(score, 0.0, 1.0))
