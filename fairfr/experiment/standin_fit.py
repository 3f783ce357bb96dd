"""Fit the five numbers of a stand-in to the error rates of the raw cosine, and to nothing else.

What is fitted is ``BackboneModel`` of fairfr/data/synthetic.py; what it is fitted to are the five figures that the
paper prints of its Baseline. No other method is run here, so none can be favoured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

import numpy as np

from fairfr.core.types import F64, ScoreFrame
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, StandIn, generate
from fairfr.metrics.by_group import ALL, WORST, PairGroups, evaluate
from fairfr.metrics.summary import summarise
from fairfr.pairs.cosine import pair_cosines

LOWEST = BackboneModel(effective_dims=5.0, noise=0.3, noise_spread=0.02, hard_share=1e-4, gap=0.01)
HIGHEST = BackboneModel(effective_dims=2000.0, noise=2.0, noise_spread=1.0, hard_share=0.3, gap=1.5)
DIFFERENCE = 0.06  # relative step of the finite differences: wide, because single images make the figures jump


class Figures(NamedTuple):
    """The raw cosine in five numbers, means over the folds; a group has the pairs whose first image is in it."""

    auroc: float
    worst_auroc: float
    tpr: float
    worst_tpr: float
    worst_brier: float


FIGURES = Figures(
    (ALL, "auroc"), (WORST, "auroc"), (ALL, "tpr_at_fpr_1e-3"), (WORST, "tpr_at_fpr_1e-3"), (WORST, "brier_raw")
)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Fit:
    """How to fit: to ``wanted``, each figure in units of its ``tolerance``, as a mean over ``seeds``.

    ``share`` of the pairs is looked at; ``steps`` bounds the steps of the optimiser.
    """

    wanted: Figures
    tolerance: Figures
    seeds: tuple[int, ...]
    share: float = 1.0
    steps: int = 12

    def misses(self, figures: Figures) -> F64:
        """How far ``figures`` are from what is wanted (5,), in tolerances."""
        misses: F64 = (np.array(figures) - self.wanted) / self.tolerance
        return misses
