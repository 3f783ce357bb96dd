"""Fit the five numbers of a stand-in to the error rates of the raw cosine, and to nothing else.

What is fitted is a ``BackboneModel`` of fairfr/data/synthetic.py; what it is fitted to are figures that the paper
prints: five of its Baseline, or those of Platt scaling, which leaves the order of the cosines as it is. No other
method is run here, so none can be favoured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

import numpy as np

from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, I16, Bool, PairRule, Pairs, ScoreFrame, VerificationSet
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, generate, model_of
from fairfr.methods._logistic import fit_logistic
from fairfr.metrics.by_group import ALL, WORST, PairGroups, evaluate
from fairfr.metrics.summary import summarise
from fairfr.pairs.cosine import pair_cosines
from fairfr.pairs.design import Columns

LOWEST = BackboneModel(effective_dims=5.0, noise=0.3, noise_spread=0.02, hard_share=1e-4, gap=0.01)
HIGHEST = BackboneModel(effective_dims=2000.0, noise=2.0, noise_spread=1.0, hard_share=0.3, gap=1.5)
DIFFERENCE = 0.06  # relative step of finite differences: wide, because single images make the figures jump
PULL = 0.3  # tolerances for a number e times as large as at the start, where the figures are too few to say


class Figures(NamedTuple):
    """The raw cosine in five numbers, means over the folds; a pair is in the group of its first image."""

    auroc: float
    worst_auroc: float
    tpr: float
    worst_tpr: float
    worst_brier: float


class Figure(NamedTuple):
    """One number of the raw cosine, a mean over the folds.

    ``metric`` is one of the catalogue's, where ``brier`` is that of held-out Platt scaling, or ``accuracy``: with the
    threshold that gets most pairs of the other folds right. ``grouping`` None is the data set's own.
    """

    name: str
    metric: str
    group: str = ALL
    rule: PairRule = "first"
    grouping: str | None = None


BASELINE = (
    Figure("auroc", "auroc"),
    Figure("worst_auroc", "auroc", WORST),
    Figure("tpr", "tpr_at_fpr_1e-3"),
    Figure("worst_tpr", "tpr_at_fpr_1e-3", WORST),
    Figure("worst_brier", "brier_raw", WORST),
)


@dataclass(frozen=True, slots=True)
class Goal:
    """What to reach: each of ``figures`` as ``wanted``, within its ``tolerance``."""

    wanted: tuple[float, ...]
    tolerance: tuple[float, ...]
    figures: tuple[Figure, ...] = BASELINE

    def misses(self, reached: Sequence[float]) -> F64:
        """Distance from what is wanted (figures,), in tolerances: all within one is a hit."""
        misses: F64 = np.subtract(reached, self.wanted) / np.array(self.tolerance)
        return misses


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try: the mean over ``seeds``, on a ``share`` of the pairs, at most ``steps`` steps."""

    seeds: tuple[int, ...]
    share: float = 1.0
    steps: int = 6


def baseline_figures(dataset: DatasetSettings, backbone: str, share: float = 1.0) -> Figures:
    """The five figures of the paper's Baseline on the stand-in of ``dataset``."""
    return Figures(*measure(dataset, backbone, BASELINE, share))


def measure(
    dataset: DatasetSettings, backbone: str, figures: Sequence[Figure], share: float = 1.0
) -> tuple[float, ...]:
    """``figures`` of the raw cosine on the stand-in of ``dataset``, on a random ``share`` of its pairs."""
    assert dataset.standin is not None
    named = tuple(dict.fromkeys(figure.grouping for figure in figures if figure.grouping is not None))
    data = generate(dataset.id, backbone, dataset.standin, named or dataset.grouping)
    if data.grouping is None:
        raise ConfigError(f"the stand-in of {dataset.id} is fitted with its groups: set dataset.grouping.")
    places = {(figure.grouping or data.grouping, figure.rule) for figure in figures}
    frame, pairs = _frame(data, share, needs_platt=any(figure.metric == "brier" for figure in figures))
    groups = [PairGroups.of(data.groupings[grouping], pairs, rule) for grouping, rule in sorted(places)]
    summaries = summarise(evaluate(frame, data.fold_labels, groups, dataset.min_pairs))
    mean = {(entry["grouping"], entry["rule"], entry["group"], entry["metric"]): entry["mean"] for entry in summaries}
    mean[ALL, ALL, ALL, "accuracy"] = _held_out_accuracy(frame)
    place_of = {figure: (figure.grouping or data.grouping, figure.rule) for figure in figures}
    return tuple(
        mean[(*((ALL, ALL) if figure.group == ALL else place_of[figure]), figure.group, figure.metric)]
        for figure in figures
    )


def _frame(data: VerificationSet, share: float, needs_platt: bool) -> tuple[ScoreFrame, Pairs]:
    """Cosines of a random ``share`` of the pairs, with a probability if one is asked for."""
    assert data.embeddings is not None
    count = max(1, round(share * data.n_pairs))
    rows = np.sort(np.random.default_rng(0).permutation(data.n_pairs)[:count])
    pairs = Pairs(data.pairs.left[rows], data.pairs.right[rows])
    cosine, same, fold = pair_cosines(data.embeddings.vectors, pairs), data.same[rows], data.fold[rows]
    probability = _held_out_platt(same, cosine, fold) if needs_platt else (1 + cosine) / 2
    return ScoreFrame(fold, same, cosine, probability), pairs


def _held_out_platt(same: Bool, cosine: F64, fold: I16) -> F64:
    """Platt's probability of each pair (p,), fitted on the other folds."""
    probability = np.empty(len(cosine))
    for each in np.unique(fold):
        test = fold == each
        model = fit_logistic(Columns(cosine[~test]), same[~test])
        probability[test] = model.probability(Columns(cosine[test]))
    return probability


def _held_out_accuracy(frame: ScoreFrame) -> float:
    """Share of pairs judged right, mean over the folds, at the best threshold of the other folds."""
    right = []
    for each in np.unique(frame.fold):
        test = frame.fold == each
        threshold = best_threshold(frame.same[~test], frame.score[~test])
        right.append(np.mean((frame.score[test] >= threshold) == frame.same[test]))
    return float(np.mean(right))


def best_threshold(same: Bool, score: F64) -> float:
    """The score from which on to accept, so that most pairs (p,) are judged right; of equals, the lowest."""
    order = np.argsort(score, kind="stable")
    ranked = same[order]
    errors = np.cumsum(ranked) - ranked + np.cumsum(~ranked[::-1])[::-1]  # if that pair is the first accepted
    return float(score[order[np.argmin(errors)]])


def variant(dataset: DatasetSettings, backbone: str, model: BackboneModel, seed: int) -> DatasetSettings:
    """``dataset`` with another seed and another model of ``backbone``."""
    assert dataset.standin is not None
    backbones = {**dataset.standin.backbones, backbone: model}
    return replace(dataset, standin=replace(dataset.standin, seed=seed, backbones=backbones))


def mean_figures(
    dataset: DatasetSettings,
    backbone: str,
    model: BackboneModel,
    effort: Effort,
    figures: Sequence[Figure] = BASELINE,
) -> tuple[float, ...]:
    """The mean over the seeds of ``effort``."""
    tries = (variant(dataset, backbone, model, seed) for seed in effort.seeds)
    each = [measure(try_, backbone, figures, effort.share) for try_ in tries]
    return tuple(np.mean(each, axis=0).tolist())


def fit_model(
    dataset: DatasetSettings,
    backbone: str,
    goal: Goal,
    effort: Effort,
    on_try: Callable[[BackboneModel, tuple[float, ...]], None] = lambda model, figures: None,
) -> BackboneModel:
    """The model that comes nearest to ``goal``, from the one in ``dataset``, with four digits.

    Damped Gauss-Newton (a trust region). Every try draws from the same seeds, so that two tries differ by their
    numbers alone and not by chance. The slopes are finite differences at the start and stay: they change little on
    the way, and cost five tries. After a long way, fit once more from where it ended. Where the goal has fewer than
    five figures, a weak pull keeps the numbers near the start: what the figures leave open stays as it was.
    """
    from scipy.optimize import least_squares

    assert dataset.standin is not None
    low, high = np.array(astuple(LOWEST)), np.array(astuple(HIGHEST))
    start = np.clip(astuple(model_of(dataset.id, backbone, dataset.standin)), 1.01 * low, 0.9 * high)

    def misses(numbers: F64) -> F64:
        model = BackboneModel(*numbers.tolist())
        reached = mean_figures(dataset, backbone, model, effort, goal.figures)
        on_try(model, reached)
        pull = PULL * np.log(numbers / start) if len(goal.figures) < len(start) else np.empty(0)
        return np.concatenate([goal.misses(reached), pull])

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
    """Forward differences (misses, 5) of ``function`` over a wide relative step."""
    here, steps = function(at), np.diag(DIFFERENCE * at)
    return np.stack([(function(at + step) - here) / step.sum() for step in steps], axis=1)
