"""Two runs of one data set compared pair by pair: what changed, with intervals over people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.names import FPR_LEVELS
from fairfr.core.types import F64, I16, I64, UNKNOWN
from fairfr.metrics.calibration import ece
from fairfr.report.run import Reading
from fairfr.report.scores import RunScores
from fairfr.report.uncertainty.bootstrap import (
    BOOTSTRAP_METRICS,
    DrawnMetrics,
    draw_bootstrap,
    metrics_of_draws,
    percentile_interval,
    resampling_units,
)

ALPHA = FPR_LEVELS["1e-3"]


@dataclass(frozen=True, slots=True)
class Change:
    """A number in the first run and in the second, and the interval of their difference."""

    before: float
    after: float
    low: float
    high: float

    @property
    def by(self) -> float:
        return self.after - self.before

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the pairs that both scored. Slot 0 is all of them, slot 1 + g the group ``groups[g]``.

    ``pairs`` (1 + groups,) counts them; ``ece`` is the calibration error of all of them, in both runs.
    """

    groups: tuple[str, ...]
    pairs: I64
    ece: tuple[float, float]
    _before: DrawnMetrics
    _after: DrawnMetrics

    def change(self, metric: str, slot: int = 0) -> Change:
        """Of AUROC, TPR at FPR=1e-3 or Brier, pooled over folds."""
        at = BOOTSTRAP_METRICS.index(metric)
        drawn = self._after.drawn[:, slot, at] - self._before.drawn[:, slot, at]
        before, after = (float(side.plain[slot, at]) for side in (self._before, self._after))
        return Change(before, after, *percentile_interval(drawn))


def compare_runs(before: RunScores, after: RunScores, reading: Reading, draws: int) -> Comparison | None:
    """The second run against the first, on the same draws of people; None where they share no pair.

    Groups are those that both images of a pair share, in either reading: a protocol that leaves groups out scores no
    others.
    """
    common, rows, other_rows = np.intersect1d(before.pair, after.pair, return_indices=True)
    if not len(common):
        return None
    same = before.same[rows]
    group = before.pair_groups("both")[rows]
    left, right = (side[rows] for side in before.images)
    left_person, right_person = (side[rows] for side in before.identities)
    ends = resampling_units(left, right, same, (left_person, right_person))
    drawn = draw_bootstrap(ends, draws)
    measured = [
        metrics_of_draws(drawn, same, scores.ranking_values(reading)[chosen], group, _losses(scores, chosen), ALPHA)
        for scores, chosen in ((before, rows), (after, other_rows))
    ]
    counts = np.bincount(group[group != UNKNOWN], minlength=len(before.levels))
    errors = (ece(same, before.probability[rows]), ece(same, after.probability[other_rows]))
    slots = _same_slots(measured, before.levels, group)
    return Comparison(before.levels, np.array([len(rows), *counts]), errors, *slots)


def _losses(scores: RunScores, rows: I64) -> F64:
    loss = (scores.probability[rows] - scores.same[rows]) ** 2
    return np.stack([loss, loss])


def _same_slots(measured: list[DrawnMetrics], levels: tuple[str, ...], group: I16) -> list[DrawnMetrics]:
    """A slot for each level, also for those at the end that no pair has."""
    missing = len(levels) - (int(group.max(initial=-1)) + 1)
    return [
        DrawnMetrics(
            np.pad(one.plain, ((0, missing), (0, 0)), constant_values=np.nan),
            np.pad(one.drawn, ((0, 0), (0, missing), (0, 0)), constant_values=np.nan),
        )
        for one in measured
    ]
