"""The methods of one data set and backbone on the same bootstrap draws over people, and two runs compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfr.core.names import ALL, FPR_LEVELS, WORST
from fairfr.core.types import F64, I16, I64, UNKNOWN, Bool
from fairfr.metrics.calibration import ece
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS, is_measured_at
from fairfr.numerics.bootstrap import (
    BOOTSTRAP_METRICS,
    BootstrapDraws,
    DrawnMetrics,
    draw_bootstrap,
    metrics_of_draws,
    percentile_interval,
    resampling_units,
)
from fairfr.numerics.rates_of_draws import Rates, rates_of_draws
from fairfr.report.group_fmr import GroupFmr, Impostors, group_fmr, impostors_by_group
from fairfr.stored.order import MethodRow, Setting, rows_of
from fairfr.stored.results import Results
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

ALPHA = FPR_LEVELS["1e-3"]
MOST_WORK = 300_000_000
"""Pairs times draws for one method: some seven seconds. BFW gets fewer draws for it, and a note says so."""


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A run with its numbers in each draw, in the row that shows it; metrics and groups have the names of ``Run``.

    ``ranks`` is a digest of how it ranks the pairs inside each fold. ``rates`` are the error rates of groups at the
    wanted levels, and ``fmr`` their FMR by level with the interval of that rate alone; both are empty if they were not
    asked for.
    """

    row: MethodRow
    run: Run
    groups: tuple[str, ...]
    measured: DrawnMetrics
    ranks: str
    rates: Rates
    fmr: dict[str, GroupFmr]

    @property
    def label(self) -> str:
        """Of its row, which no other has."""
        return self.row.label

    def drawn(self, metric: str, group: str = ALL) -> tuple[float, F64]:
        """The pooled value of all pairs, of the worst group or of a group, and those of the draws, (draws,)."""
        if group == WORST:
            return self.measured.worst(metric)
        if group == ALL:
            return self.measured.all_pairs(metric)
        pooled, drawn = self.measured.groups(metric)
        position = self.groups.index(group)
        return float(pooled[position]), drawn[:, position]

    def ranks_like(self, other: DrawnRun) -> bool:
        """Whether both rank the pairs of every fold alike: only their maps differ."""
        return self.ranks == other.ranks


def is_tied(level: str, *runs: DrawnRun) -> bool:
    """Whether no threshold of one of these methods meets the wanted rate."""
    return any(one.run.is_tied(level) for one in runs)


@dataclass(frozen=True, slots=True)
class SettingBootstrap:
    """Methods whose runs share their pairs. ``asked`` draws were wanted, ``draws`` were made.

    ``units`` is the number of identities that were drawn from, ``known`` the share of images whose identity the data
    tells. ``groups`` are those that can be the worst one; ``incomparable`` are methods
    that scored other pairs. ``impostors`` (groups,) counts each group's; ``levels`` are the wanted rates.
    """

    runs: tuple[DrawnRun, ...]
    asked: int
    draws: int
    units: int
    known: float
    groups: tuple[str, ...]
    incomparable: tuple[str, ...]
    impostors: I64
    levels: dict[str, float]

    @property
    def first(self) -> Run:
        return self.runs[0].run

    def find(self, id: str) -> DrawnRun | None:
        """The run in the row of this id, a paper's before a method's own."""
        return next((one for one in self.runs if one.row.id == id), None)

    def exact(self, method: str) -> DrawnRun | None:
        """The run of a method or variant, whatever row shows it."""
        return next((one for one in self.runs if one.run.cell[2] == method), None)


class BootstrapCache:
    """The bootstrap of every setting in one reading, made when it is first asked for: tables and claims share it."""

    def __init__(self, results: Results, draws: int, with_rates: bool = False) -> None:
        self.results = results
        self.draws = draws
        self.with_rates = with_rates
        self._found: dict[Setting, SettingBootstrap | None] = {}

    def of(self, setting: Setting) -> SettingBootstrap | None:
        """None where there are no scores."""
        if setting not in self._found:
            self._found[setting] = bootstrap_setting(self.results, setting, self.draws, self.with_rates)
        return self._found[setting]


def bootstrap_setting(
    results: Results, setting: Setting, asked: int, with_rates: bool = False
) -> SettingBootstrap | None:
    """Measure every method of a data set and backbone whose scores are stored; None if there is none."""
    found = [
        (row, RunScores.if_available(results.find({"setting": setting, "row": row.label})))
        for row in rows_of(results.blocks([setting], only_run=True))
    ]
    at_hand = [(row, scores) for row, scores in found if scores is not None]
    if not at_hand:
        return None
    return bootstrap_runs(at_hand, asked, with_rates)


def bootstrap_runs(
    at_hand: Sequence[tuple[MethodRow, RunScores]], asked: int, with_rates: bool = False
) -> SettingBootstrap:
    """Measure these on the same draws, as far as they scored the pairs that the first of them scored.

    ``with_rates``: the error rates of groups at one threshold, too.
    """
    first = at_hand[0][1]
    shared = {row: scores for row, scores in at_hand if _same_pairs(first, scores)}
    groups, group = _competing_groups(first)
    draws = max(1, min(asked, MOST_WORK // len(first.same)))
    drawn = draw_bootstrap(resampling_units(*first.images, first.same, first.identities), draws)
    levels = _rate_levels(first.same)
    rates: list[Rates] = [{} for _ in shared]
    inside: list[Impostors] = []
    if with_rates:
        inside = impostors_by_group(first, group, len(groups))
        values = np.stack([scores.ranking_values for scores in shared.values()])
        rates = rates_of_draws(drawn.multiplicity, drawn.ends, first.same, values, group, levels)
    runs = []
    for (row, scores), of_run in zip(shared.items(), rates, strict=True):
        fmr: dict[str, GroupFmr] = {}
        if with_rates:
            for level, fpr in levels.items():
                fmr[level] = group_fmr(first.same, scores.ranking_values, inside, fpr)
        measured = _measure_run(scores, drawn, group)
        runs.append(DrawnRun(row, scores.run, groups, measured, _digest_of_ranks(scores), of_run, fmr))
    return SettingBootstrap(
        runs=tuple(runs),
        asked=asked,
        draws=draws,
        units=drawn.multiplicity.shape[1],
        known=_known_share(first),
        groups=groups,
        incomparable=_labels(at_hand, shared),
        impostors=np.bincount(group[~first.same & (group >= 0)], minlength=len(groups)),
        levels=levels,
    )


def _rate_levels(same: Bool) -> dict[str, float]:
    """The wanted false positive rates."""
    n_diff = int(np.count_nonzero(~same))
    return {level: fpr for level, fpr in ALL_FPR_LEVELS.items() if is_measured_at(level, n_diff)}


def _labels(at_hand: Sequence[tuple[MethodRow, RunScores]], shared: dict[MethodRow, RunScores]) -> tuple[str, ...]:
    return tuple(row.label for row, _ in at_hand if row not in shared)


def _same_pairs(a: RunScores, b: RunScores) -> bool:
    """Whether two runs scored the same pairs of the same data: only then can they be compared draw by draw."""
    return a is b or (
        np.array_equal(a.pair, b.pair)
        and np.array_equal(a.same, b.same)
        and a.run.result.data.digest == b.run.result.data.digest
    )


def _digest_of_ranks(scores: RunScores) -> str:
    """Equal for methods that rank the pairs of every fold alike, whatever their values."""
    values = scores.ranking_values
    fold = scores.words("split")[0]
    order = np.lexsort((values, fold))
    new = (np.diff(values[order], prepend=-np.inf) != 0) | (np.diff(fold[order], prepend=-1) != 0)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(new)
    return hashlib.sha256(ranks.tobytes()).hexdigest()


def _known_share(scores: RunScores) -> float:
    """Share of the images whose identity is known."""
    known = np.zeros(int(max(side.max() for side in scores.images)) + 1, dtype=np.bool_)
    for images, codes in zip(scores.images, scores.identities, strict=True):
        known[images] = codes != UNKNOWN
    return float(known.mean())


def _competing_groups(scores: RunScores) -> tuple[tuple[str, ...], I16]:
    """The groups that may be the worst one, and that of each pair, (p,); -1 for none or one too small in every fold."""
    numbers = [scores.run.number("auroc", level) for level in scores.levels]
    competes = np.array([number is not None and number.folds > 0 for number in numbers], dtype=np.bool_)
    codes = np.append(np.where(competes, np.cumsum(competes) - 1, UNKNOWN), UNKNOWN).astype(np.int16)
    named = tuple(level for level, one in zip(scores.levels, competes, strict=True) if one)
    return named, codes[scores.pair_groups()]


def _measure_run(scores: RunScores, drawn: BootstrapDraws, group: I16) -> DrawnMetrics:
    """Brier losses follow the reading: raw scores in the groups of the paper's score methods, else probabilities."""
    loss = (scores.probability - scores.same) ** 2
    in_group = loss
    if scores.run.has_raw_brier:
        in_group = (np.clip(scores.score, 0.0, 1.0) - scores.same) ** 2
    return metrics_of_draws(drawn, scores.same, scores.ranking_values, group, np.stack([loss, in_group]), ALPHA)


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


def compare_runs(before: RunScores, after: RunScores, draws: int) -> Comparison | None:
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
        metrics_of_draws(drawn, same, scores.ranking_values[chosen], group, _losses(scores, chosen), ALPHA)
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
