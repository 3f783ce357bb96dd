"""Fit the eight numbers of a stand-in to two rows of the paper's tables, and to nothing else.

What is fitted is a ``BackboneModel`` of fairfr/data/synthetic.py; what it is fitted to are figures that the paper
prints of the raw cosine (its Baseline, or Platt scaling, which leaves the order of the cosines as it is) and of
AC-Linear, which runs through the project's own code. No other method is run here, so the others are predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, I16, Bool, PairRule, Pairs, ScoreFrame, VerificationSet
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, generate, model_of
from fairfr.experiment.held_out import score_held_out
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.methods.ac_linear import ACLinear
from fairfr.metrics.by_group import ALL, WORST, PairGroups, evaluate
from fairfr.metrics.summary import summarise
from fairfr.metrics.thresholds import most_accurate
from fairfr.numerics.regression import fit_logistic
from fairfr.pairs.design import Columns
from fairfr.pairs.table import PairTable

Row: TypeAlias = Literal["cosine", "ac_linear", "gain"]

LOWEST = BackboneModel(5.0, 0.3, 0.02, 1e-5, 0.01, crowding=0.05, drift=0.005, subgroup_slope=0.02)
HIGHEST = BackboneModel(2000.0, 2.0, 1.5, 0.3, 1.6, crowding=0.92, drift=1.5, subgroup_slope=1.2)
# relative steps of finite differences: wide, because single images make the figures jump
DIFFERENCE = BackboneModel(0.08, 0.04, 0.08, 0.3, 0.1, crowding=0.06, drift=0.2, subgroup_slope=0.15)
FIRST_STEP = 0.3  # how far the numbers may go together in the first step, in logarithms
PULL = 0.3  # tolerances for a number e times as large as at the start, where the figures are too few to say


class Figures(NamedTuple):
    """The raw cosine in five numbers, means over the folds; a pair is in the group of its first image."""

    auroc: float
    worst_auroc: float
    tpr: float
    worst_tpr: float
    worst_brier: float


class Figure(NamedTuple):
    """One number of the raw cosine, of AC-Linear, or what AC-Linear gains; a mean over the folds.

    ``metric`` is one of the catalogue's, where the cosine's ``brier`` is that of held-out Platt scaling, or
    ``accuracy``: with the threshold that gets most pairs of the other folds right. ``grouping`` None is the data
    set's own.
    """

    name: str
    metric: str
    group: str = ALL
    rule: PairRule = "first"
    grouping: str | None = None
    row: Row = "cosine"


BASELINE = (
    Figure("auroc", "auroc"),
    Figure("worst_auroc", "auroc", WORST),
    Figure("tpr", "tpr_at_fpr_1e-3"),
    Figure("worst_tpr", "tpr_at_fpr_1e-3", WORST),
    Figure("worst_brier", "brier_raw", WORST),
)
GAINS = (
    Figure("auroc_gain", "auroc", row="gain"),
    Figure("worst_auroc_gain", "auroc", WORST, row="gain"),
    Figure("tpr_gain", "tpr_at_fpr_1e-3", row="gain"),
)


@dataclass(frozen=True, slots=True)
class Goal:
    """What to reach: each of ``figures`` as ``wanted``, within its ``tolerance``. Numbers of ``fixed`` stay."""

    wanted: tuple[float, ...]
    tolerance: tuple[float, ...]
    figures: tuple[Figure, ...] = BASELINE
    fixed: tuple[str, ...] = ()

    def misses(self, reached: Sequence[float]) -> F64:
        """Distance from what is wanted (figures,), in tolerances: all within one is a hit."""
        misses: F64 = np.subtract(reached, self.wanted) / np.array(self.tolerance)
        return misses


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try: the mean over ``seeds``, on a ``share`` of the pairs, at most ``steps`` steps in each round."""

    seeds: tuple[int, ...]
    share: float = 1.0
    steps: int = 5
    rounds: int = 2


def measure(
    dataset: DatasetSettings, backbone: str, figures: Sequence[Figure], share: float = 1.0
) -> tuple[float, ...]:
    """``figures`` of the stand-in of ``dataset``, on a random ``share`` of its pairs."""
    assert dataset.standin is not None
    named = tuple(dict.fromkeys(figure.grouping for figure in figures if figure.grouping is not None))
    data = _part(generate(dataset.id, backbone, dataset.standin, named or dataset.grouping), share)
    if data.grouping is None:
        raise ConfigError(f"the stand-in of {dataset.id} is fitted with its groups: set dataset.grouping.")
    cosine = [figure for figure in figures if figure.row != "ac_linear"]
    linear = [figure for figure in figures if figure.row != "cosine"]
    table = PairTable(data)
    value: dict[tuple[Row, Figure], float] = {}
    if cosine:
        frame = _cosine_frame(table, needs_platt=any(figure.metric == "brier" for figure in cosine))
        value |= {("cosine", figure): of for figure, of in _values(dataset, data, frame, cosine).items()}
    if linear:
        frame = _ac_linear_frame(table)
        value |= {("ac_linear", figure): of for figure, of in _values(dataset, data, frame, linear).items()}
    for figure in figures:
        if figure.row == "gain":
            value["gain", figure] = value["ac_linear", figure] - value["cosine", figure]
    return tuple(value[figure.row, figure] for figure in figures)


def _part(data: VerificationSet, share: float) -> VerificationSet:
    """``data`` with a random ``share`` of its pairs."""
    count = max(1, round(share * data.n_pairs))
    rows = np.sort(np.random.default_rng(0).permutation(data.n_pairs)[:count])
    pairs = Pairs(data.pairs.left[rows], data.pairs.right[rows])
    return replace(data, pairs=pairs, same=data.same[rows], fold=data.fold[rows])


def _values(
    dataset: DatasetSettings, data: VerificationSet, frame: ScoreFrame, figures: Sequence[Figure]
) -> dict[Figure, float]:
    """Each of ``figures`` for the scores of ``frame``, whatever its row."""
    assert data.grouping is not None
    place_of = {figure: (figure.grouping or data.grouping, figure.rule) for figure in figures}
    groups = [PairGroups.of(data.groupings[name], data.pairs, rule) for name, rule in sorted(set(place_of.values()))]
    summaries = summarise(evaluate(frame, data.fold_labels, groups, dataset.min_pairs))
    mean = {(entry["grouping"], entry["rule"], entry["group"], entry["metric"]): entry["mean"] for entry in summaries}
    values = {}
    for figure in figures:
        if figure.metric == "accuracy":
            values[figure] = _held_out_accuracy(frame)
        elif figure.group == ALL:
            values[figure] = mean[ALL, ALL, ALL, figure.metric]
        else:
            values[figure] = mean[(*place_of[figure], figure.group, figure.metric)]
    return values


def _cosine_frame(table: PairTable, needs_platt: bool) -> ScoreFrame:
    """The cosines, with a probability if one is asked for."""
    data, cosine = table.data, table.cosine
    probability = _held_out_platt(data.same, cosine, data.fold) if needs_platt else (1 + cosine) / 2
    return ScoreFrame(data.fold, data.same, cosine, probability)


def _ac_linear_frame(table: PairTable) -> ScoreFrame:
    """AC-Linear as conf/method has it, on the published folds."""
    data = table.data

    def context(fold: str) -> FitContext:
        return FitContext(seed=0, dataset=data.id, backbone=data.backbone, fold=fold)

    return score_held_out(table, list(LeaveOneFoldOut().split(data)), ACLinear, context).frame


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
        threshold = most_accurate(frame.same[~test], frame.score[~test])
        right.append(np.mean((frame.score[test] >= threshold) == frame.same[test]))
    return float(np.mean(right))


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
    starts: Sequence[BackboneModel] = (),
    on_try: Callable[[BackboneModel, tuple[float, ...]], None] = lambda model, figures: None,
) -> BackboneModel:
    """The model that comes nearest to ``goal``, from the one in ``dataset`` and from ``starts``, with four digits.

    Damped Gauss-Newton (a trust region) over the numbers' logarithms. Every try draws from the same seeds, so that
    two tries differ by their numbers alone and not by chance. The slopes are finite differences at the start of a
    round and stay during it: they change little on the way, and cost a try for each number. Every start has one
    round, and the nearest goes on. Where the goal has fewer figures than free numbers, a weak pull keeps the numbers
    near the start: what the figures leave open stays as it was.
    """
    assert dataset.standin is not None
    names = [each.name for each in fields(BackboneModel)]
    free = np.array([name not in goal.fixed for name in names])
    low, high = np.array(astuple(LOWEST))[free], np.array(astuple(HIGHEST))[free]

    def fit_from(start: F64, steps: int) -> tuple[float, F64]:
        """Half the squared misses that are left, and the numbers, after one round."""
        from scipy.optimize import least_squares

        start = start.copy()
        start[free] = np.clip(start[free], 1.01 * low, 0.99 * high)

        def misses(step: F64) -> F64:
            numbers = start.copy()
            numbers[free] *= np.exp(step)
            model = BackboneModel(*numbers.tolist())
            reached = mean_figures(dataset, backbone, model, effort, goal.figures)
            on_try(model, reached)
            pull = PULL * step if len(goal.figures) < len(step) else np.empty(0)
            return np.concatenate([goal.misses(reached), pull])

        here = np.zeros(int(free.sum()))
        at_start = misses(here)
        slopes = _slopes(misses, at_start, np.log1p(np.array(astuple(DIFFERENCE))[free]))
        best = least_squares(
            lambda step: misses(step) if step.any() else at_start,
            here,
            jac=lambda step: slopes,
            bounds=(np.log(low / start[free]), np.log(high / start[free])),
            x_scale=FIRST_STEP,
            ftol=1e-2,
            max_nfev=1 + steps,
        )
        start[free] *= np.exp(best.x)
        return float(best.cost), start

    own = model_of(dataset.id, backbone, dataset.standin)
    tried = [fit_from(np.array(astuple(model)), effort.steps) for model in (own, *starts)]
    cost, numbers = min(tried, key=lambda one: one[0])
    for _ in range(1, effort.rounds):
        cost, numbers = min((cost, numbers), fit_from(numbers, effort.steps), key=lambda one: one[0])
    return BackboneModel(*(float(f"{number:.4g}") for number in numbers))


def _slopes(function: Callable[[F64], F64], at_start: F64, steps: F64) -> F64:
    """Forward differences (misses, numbers) of ``function``, which is ``at_start`` (misses,) at 0."""
    return np.stack([(function(step) - at_start) / step.sum() for step in np.diag(steps)], axis=1)
