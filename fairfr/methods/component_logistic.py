"""Component ablation: logistic regression on some of AC-Density's inputs (paper, appendix, component ablation).

p = sigmoid(w . inputs + b), inputs any of the midpoint m, the local density rho (as in AC-Density) and the cosine s:
``method=ablation/midpoint_only`` takes m alone, ``method=ablation/density_score`` takes [rho, s]. The same penalty and
stopping as AC-Linear, which is [m, s].

Source: the Adaptive Calibration paper. Needs embeddings. Emits a probability, which is also its score.

Deviations: none; the paper does not say whether rho is standardised here, and it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, Bool, Need, Prediction
from fairfr.methods._density import LocalDensity, fit_density
from fairfr.numerics.regression import fit_logistic
from fairfr.pairs.design import DenseDesign, Design
from fairfr.pairs.neighbours import Engine
from fairfr.pairs.view import PairView


@dataclass
class ComponentLogistic:
    """p = sigmoid(w . inputs + b).

    Parameters
    ----------
    inputs : tuple of {"midpoint", "density", "cosine"}, default ("midpoint", "cosine")
        What the logistic regression sees.
    C : float, default 1.0
        Inverse strength of the L2 penalty, as in scikit-learn: larger values shrink the weights less.
    k : int, default 20
        How many nearest reference midpoints the local density is the mean distance to.
    self_neighbour : bool, default True
        Whether a training pair counts among its own neighbours while fitting, as published.
    engine : {"auto", "scan", "faiss"}, default "auto"
        How neighbours are searched. All engines find the same ones; they differ in time.
    max_references : int or None, default None
        Draw at most this many training pairs as references; None takes all.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    inputs: tuple[Literal["midpoint", "density", "cosine"], ...] = ("midpoint", "cosine")
    C: float = 1.0
    k: int = 20
    self_neighbour: bool = True
    engine: Engine = "auto"
    max_references: int | None = None

    def __post_init__(self) -> None:
        check_above(0, C=self.C)
        check_min(1, k=self.k, max_references=self.max_references)
        if not self.inputs:
            raise ConfigError("method.estimator.inputs is empty: name some of midpoint, density, cosine.")

    @property
    def imports(self) -> tuple[str, ...]:
        """What fits import."""
        if "density" in self.inputs:
            return ("faiss", "numba")
        return ()

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.density_: LocalDensity | None = None
        density = None
        if "density" in self.inputs:
            self.density_ = fit_density(self, view, ctx)
            density = self.density_.of_training(view)
        self.model_ = fit_logistic(self._features(view, density), same, self.C)
        return self

    def predict(self, view: PairView) -> Prediction:
        density = None
        if self.density_ is not None:
            density = self.density_.of(view)
        probability = self.model_.probability(self._features(view, density))
        return Prediction(score=probability, probability=probability)

    def _features(self, view: PairView, density: F64 | None) -> Design:
        columns = []
        if density is not None:
            columns.append(density)
        if "cosine" in self.inputs:
            columns.append(view.cosine)
        if "midpoint" not in self.inputs:
            return DenseDesign(np.column_stack(columns))
        return view.midpoints().append(*columns)
