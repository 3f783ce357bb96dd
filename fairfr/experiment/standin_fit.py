"""Fit the five numbers of a stand-in to the error rates of the raw cosine, and to nothing else.

What is fitted is a ``BackboneModel`` of fairfr/data/synthetic.py; what it is fitted to are five figures that the paper
prints of its Baseline. No other method is run here, so none can be favoured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

import numpy as np

from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, Pairs, ScoreFrame
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, generate, model_of
from fairfr.metrics.by_group import ALL, WORST, PairGroups, evaluate
from fairfr.metrics.summary import summarise
from fairfr.pairs.cosine import pair_cosines

LOWEST = BackboneModel(effective_dims=5.0, noise=0.3, noise_spread=0.02, hard_share=1e-4, gap=0.01)
HIGHEST = BackboneModel(effective_dims=2000.0, noise=2.0, noise_spread=1.0, hard_share=0.3, gap=1.5)
DIFFERENCE = 0.06  # relative step of finite differences: wide, because single images make the figures jump


class Figures(NamedTuple):
    """The raw cosine in five numbers, means over the folds; a pair is in the group of its first image."""

    auroc: float
    worst_auroc: float
    tpr: float
    worst_tpr: float
    worst_brier: float


# group and metric of each figure, in their order
_MEASURED = (
    (ALL, "auroc"),
    (WORST, "auroc"),
    (ALL, "tpr_at_fpr_1e-3"),
    (WORST, "tpr_at_fpr_1e-3"),
    (WORST, "brier_raw"),
)


@dataclass(frozen=True, slots=True)
class Goal:
    """What to reach: ``wanted``, each figure within its ``tolerance``."""

    wanted: Figures
    tolerance: Figures

    def misses(self, figures: Figures) -> F64:
        """Distance from what is wanted (5,), in tolerances: all within one is a hit."""
        misses: F64 = np.subtract(figures, self.wanted) / np.array(self.tolerance)
        return misses


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try: the mean over ``seeds``, on a ``share`` of the pairs, at most ``steps`` steps."""

    seeds: tuple[int, ...]
    share: float = 1.0
    steps: int = 6


def baseline_figures(dataset: DatasetSettings, backbone: str, share: float = 1.0) -> Figures:
    """The raw cosine on the stand-in of ``dataset``, on a random ``share`` of its pairs."""
    assert dataset.standin is not None
    data = generate(dataset.id, backbone, dataset.standin, dataset.grouping)
    assert data.embeddings is not None
    if data.grouping is None:
        raise ConfigError(f"the stand-in of {dataset.id} is fitted with its groups: set dataset.grouping.")
    count = max(1, round(share * data.n_pairs))
    rows = np.sort(np.random.default_rng(0).permutation(data.n_pairs)[:count])
    pairs = Pairs(data.pairs.left[rows], data.pairs.right[rows])
    cosine = pair_cosines(data.embeddings.vectors, pairs)
    frame = ScoreFrame(data.fold[rows], data.same[rows], cosine, (1 + cosine) / 2)
    groups = [PairGroups.of(data.groupings[data.grouping], pairs, "first")]
    summaries = summarise(evaluate(frame, data.fold_labels, groups, dataset.min_pairs))
    mean = {(entry["group"], entry["metric"]): entry["mean"] for entry in summaries}
    return Figures(*(mean[place] for place in _MEASURED))


def variant(dataset: DatasetSettings, backbone: str, model: BackboneModel, seed: int) -> DatasetSettings:
    """``dataset`` with another seed and another model of ``backbone``."""
    assert dataset.standin is not None
    backbones = {**dataset.standin.backbones, backbone: model}
    return replace(dataset, standin=replace(dataset.standin, seed=seed, backbones=backbones))


def mean_figures(dataset: DatasetSettings, backbone: str, model: BackboneModel, effort: Effort) -> Figures:
    """The mean over the seeds of ``effort``."""
    each = [baseline_figures(variant(dataset, backbone, model, seed), backbone, effort.share) for seed in effort.seeds]
    return Figures(*np.mean(each, axis=0).tolist())


def fit_model(
    dataset: DatasetSettings,
    backbone: str,
    goal: Goal,
    effort: Effort,
    on_try: Callable[[BackboneModel, Figures], None] = lambda model, figures: None,
) -> BackboneModel:
    """The model that comes nearest to ``goal``, from the one in ``dataset``, with four digits.

    Damped Gauss-Newton (a trust region). Every try draws from the same seeds, so that two tries differ by their
    numbers alone and not by chance. The slopes are finite differences at the start and stay: they change little on
    the way, and cost five tries. After a long way, fit once more from where it ended.
    """
    from scipy.optimize import least_squares

    assert dataset.standin is not None
    low, high = np.array(astuple(LOWEST)), np.array(astuple(HIGHEST))
    start = np.clip(astuple(model_of(dataset.id, backbone, dataset.standin)), 1.01 * low, 0.9 * high)

    def misses(numbers: F64) -> F64:
        model = BackboneModel(*numbers.tolist())
        figures = mean_figures(dataset, backbone, model, effort)
        on_try(model, figures)
        return goal.misses(figures)

    slopes = _slopes(misses, start)
    best = least_squares(
        misses,
        start,
        jac=lambda numbers: slopes,
        bounds=(low, high),
        x_scale=start,
        ftol=1e-2,
        max_nfev=1 + effort.steps,
    )
    return BackboneModel(*(float(f"{number:.4g}") for number in best.x))


def _slopes(function: Callable[[F64], F64], at: F64) -> F64:
    """Forward differences (5, 5) of ``function`` over a wide relative step."""
    here, steps = function(at), np.diag(DIFFERENCE * at)
    return np.stack([(function(at + step) - here) / step.sum() for step in steps], axis=1)
