"""Ties at the highest value: where a probability is clipped at 1, no threshold lies between the pairs that reach it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fairfr.core.findings import Finding
from fairfr.core.types import F64, MetricRow, ScoreFrame
from fairfr.metrics.cell_metrics import ALL, POOLED
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS, is_measured_at

ON_PROBABILITY = "_on_probability"


def ties_code(metric: str) -> str:
    """The code of the finding that a metric is affected."""
    return f"tied-at-the-top:{metric}"


def tied_at_the_top(frame: ScoreFrame, rows: Sequence[MetricRow], native: bool, name: str) -> list[Finding]:
    """A warning for each FPR that, in some fold, fewer impostors may reach than share the fold's highest value.

    ``native``: the method has a probability of its own, by which it may be ranked too. ``name``: of the run, for the
    text, which says what the rate is by the score where a tie is the probability's alone.
    """
    found = list(_findings(frame, rows, frame.score, "", name))
    if native and not np.array_equal(frame.score, frame.probability):
        found += _findings(frame, rows, frame.probability, ON_PROBABILITY, name)
    return found


def _findings(frame: ScoreFrame, rows: Sequence[MetricRow], values: F64, suffix: str, name: str) -> Iterator[Finding]:
    n_folds = int(frame.fold.max(initial=-1)) + 1
    highest = np.full(n_folds, -np.inf)
    np.maximum.at(highest, frame.fold, values)
    at_the_top = ~frame.same & (values == highest[frame.fold])
    tied = np.bincount(frame.fold[at_the_top], minlength=n_folds)
    different = np.bincount(frame.fold[~frame.same], minlength=n_folds)
    for level, alpha in ALL_FPR_LEVELS.items():
        affected = (tied > 1) & (tied > alpha * different)
        if not is_measured_at(level, int(different.sum())) or not affected.any():
            continue
        metric = f"tpr_at_fpr_{level}"
        value = _mean(rows, metric + suffix)
        by_score = _mean(rows, metric)
        counts = {
            "folds": int(np.count_nonzero(affected)),
            "impostors": int(tied[affected].sum()),
            "different": int(different[affected].sum()),
        }
        what = "probability" if suffix else "score"
        instead = ""
        if f"{by_score:.3f}" != f"{value:.3f}":
            instead = f" By the score it is {by_score:.3f}."
        text = (
            f"{name}: TPR at FPR={level} is {value:.3f} because of ties. In {counts['folds']} of {n_folds} folds more "
            f"impostors share the highest {what} than that rate allows ({counts['impostors']:,} of "
            f"{counts['different']:,}).{instead}"
        )
        yield Finding(ties_code(metric + suffix), "warning", text, counts)


def _mean(rows: Sequence[MetricRow], metric: str) -> float:
    """Of all pairs, over the folds."""
    values = [row.value for row in rows if row.metric == metric and row.grouping == ALL and row.fold != POOLED]
    if not values:
        return float("nan")
    return float(np.nanmean(values))
