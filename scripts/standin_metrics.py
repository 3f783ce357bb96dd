"""Measure what the numbers of a stand-in are fitted to: the raw cosine, AC-Linear, and what AC-Linear gains.

AC-Linear runs through the project's own code. No other method is run here, so the others are predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, I16, Bool, PairRule, Pairs, ScoreFrame, VerificationSet
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, generate_standin
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.methods.ac_linear import ACLinear
from fairfr.metrics.cell_metrics import ALL, WORST, PairGroups, compute_metrics, summarise
from fairfr.metrics.roc_metrics import best_accuracy_threshold
from fairfr.numerics.regression import fit_logistic
from fairfr.pairs.design import DenseDesign
from fairfr.pairs.table import PairTable
from fairfr.runner.held_out import score_held_out

Row: TypeAlias = Literal["cosine", "ac_linear", "gain"]


class BaselineMetrics(NamedTuple):
    """The raw cosine in five numbers, means over the folds; a pair is in the group of its first image."""

    auroc: float
    worst_auroc: float
    tpr: float
    worst_tpr: float
    worst_brier: float


class TargetMetric(NamedTuple):
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
    TargetMetric("auroc", "auroc"),
    TargetMetric("worst_auroc", "auroc", WORST),
    TargetMetric("tpr", "tpr_at_fpr_1e-3"),
    TargetMetric("worst_tpr", "tpr_at_fpr_1e-3", WORST),
    TargetMetric("worst_brier", "brier_raw", WORST),
)
GAINS = (
    TargetMetric("auroc_gain", "auroc", row="gain"),
    TargetMetric("worst_auroc_gain", "auroc", WORST, row="gain"),
    TargetMetric("tpr_gain", "tpr_at_fpr_1e-3", row="gain"),
)


@dataclass(frozen=True, slots=True)
class FitBudget:
    """How hard to try: the mean over ``seeds``, on a ``share`` of the pairs, at most ``steps`` steps in each round."""

    seeds: tuple[int, ...]
    share: float = 1.0
    steps: int = 5
    rounds: int = 2


def measure(
    dataset: DatasetSettings, backbone: str, figures: Sequence[TargetMetric], share: float = 1.0
) -> tuple[float, ...]:
    """``figures`` of the stand-in of ``dataset``, on a random ``share`` of its pairs."""
    assert dataset.standin is not None
    named = tuple(dict.fromkeys(figure.grouping for figure in figures if figure.grouping is not None))
    data = _part(generate_standin(dataset.id, backbone, dataset.standin, named or dataset.grouping), share)
    if data.grouping is None:
        raise ConfigError(f"the stand-in of {dataset.id} is fitted with its groups: set dataset.grouping.")
    cosine = [figure for figure in figures if figure.row != "ac_linear"]
    linear = [figure for figure in figures if figure.row != "cosine"]
    table = PairTable(data)
    value: dict[tuple[Row, TargetMetric], float] = {}
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
    dataset: DatasetSettings, data: VerificationSet, frame: ScoreFrame, figures: Sequence[TargetMetric]
) -> dict[TargetMetric, float]:
    """Each of ``figures`` for the scores of ``frame``, whatever its row."""
    assert data.grouping is not None
    place_of = {figure: (figure.grouping or data.grouping, figure.rule) for figure in figures}
    groups = [PairGroups.of(data.groupings[name], data.pairs, rule) for name, rule in sorted(set(place_of.values()))]
    summaries = summarise(compute_metrics(frame, data.fold_labels, groups, dataset.min_pairs))
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
        model = fit_logistic(DenseDesign(cosine[~test]), same[~test])
        probability[test] = model.probability(DenseDesign(cosine[test]))
    return probability


def _held_out_accuracy(frame: ScoreFrame) -> float:
    """Share of pairs judged right, mean over the folds, at the best threshold of the other folds."""
    right = []
    for each in np.unique(frame.fold):
        test = frame.fold == each
        threshold = best_accuracy_threshold(frame.same[~test], frame.score[~test])
        right.append(np.mean((frame.score[test] >= threshold) == frame.same[test]))
    return float(np.mean(right))


def variant(dataset: DatasetSettings, backbone: str, model: BackboneModel, seed: int) -> DatasetSettings:
    """``dataset`` with another seed and another model of ``backbone``."""
    assert dataset.standin is not None
    backbones = {**dataset.standin.backbones, backbone: model}
    return replace(dataset, standin=replace(dataset.standin, seed=seed, backbones=backbones))


def mean_over_seeds(
    dataset: DatasetSettings,
    backbone: str,
    model: BackboneModel,
    budget: FitBudget,
    figures: Sequence[TargetMetric] = BASELINE,
) -> tuple[float, ...]:
    """The mean over the seeds of ``budget``."""
    tries = (variant(dataset, backbone, model, seed) for seed in budget.seeds)
    each = [measure(try_, backbone, figures, budget.share) for try_ in tries]
    return tuple(np.mean(each, axis=0).tolist())
