"""The methods of one data set and backbone on the same bootstrap draws over people, and two runs compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfr.core.names import FPR_LEVELS
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
from fairfr.report.group_fmr import GroupFmr, group_fmr, impostors_by_group
from fairfr.stored.order import MethodRow, Setting, rows_of
from fairfr.stored.results import Results
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

ALPHA = FPR_LEVELS["1e-3"]
MOST_WORK = 300_000_000
"""Pairs times draws for one method: some seven seconds. BFW gets fewer draws for it, and a note says so."""


@dataclass(frozen=True, slots=True)
class SettingBootstrap:
    """Methods whose runs share their pairs. ``asked`` draws were wanted, ``draws`` were made.

    ``runs`` and ``measured`` go by the label of a row: where a paper's variant fills the row of its method, the plain
    method has a row of its own with the same id.
    ``units`` is the number of identities that were drawn from, ``known`` the share of images whose identity the data
    tells. ``groups`` are those that can be the worst one; ``incomparable`` are methods
    that scored other pairs. ``ranks`` is a digest of how a method ranks the pairs inside each fold. ``impostors``
    (groups,) counts each group's; ``rates`` are its error rates at the wanted ``levels``, and ``fmr`` its FMR by level
    with the interval of that rate alone. Both are empty if they were not asked for.
    """

    rows: tuple[MethodRow, ...]
    runs: dict[str, Run]
    measured: dict[str, DrawnMetrics]
    asked: int
    draws: int
    units: int
    known: float
    groups: tuple[str, ...]
    incomparable: tuple[str, ...]
    ranks: dict[str, str]
    impostors: I64
    levels: dict[str, float]
    rates: dict[str, Rates]
    fmr: dict[str, dict[str, GroupFmr]]

    @property
    def first(self) -> Run:
        return self.runs[self.rows[0].label]

    def row(self, id: str) -> MethodRow | None:
        """The row of this id, a paper's before a method's own."""
        return next((row for row in self.rows if row.id == id), None)

    def row_of_method(self, method: str) -> MethodRow | None:
        """The row that shows the run of a method or variant."""
        return next((row for row in self.rows if self.runs[row.label].cell[2] == method), None)

    def rank_alike(self, a: MethodRow, b: MethodRow) -> bool:
        """Whether two methods rank the pairs of every fold alike: only their maps differ."""
        return self.ranks[a.label] == self.ranks[b.label]

    def is_tied(self, level: str, *rows: MethodRow) -> bool:
        """Whether no threshold of one of these methods meets the wanted rate."""
        return any(self.runs[row.label].is_tied(level) for row in rows)

    def value(self, row: MethodRow, metric: str, place: str) -> tuple[float, F64]:
        """The pooled value of ``all`` pairs or of the ``worst`` group, and those of the draws, (draws,)."""
        measured = self.measured[row.label]
        return measured.worst(metric) if place == "worst" else measured.all_pairs(metric)


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
    rates: list[Rates] = []
    fmr: dict[str, dict[str, GroupFmr]] = {}
    if with_rates:
        values = np.stack([scores.ranking_values for scores in shared.values()])
        rates = rates_of_draws(drawn.multiplicity, drawn.ends, first.same, values, group, levels)
        inside = impostors_by_group(first, group, len(groups))
        for row, of_row in zip(shared, values, strict=True):
            at = {level: group_fmr(first.same, of_row, inside, fpr) for level, fpr in levels.items()}
            fmr[row.label] = at
    return SettingBootstrap(
        rows=tuple(shared),
        runs={row.label: scores.run for row, scores in shared.items()},
        measured={row.label: _measure_run(scores, drawn, group) for row, scores in shared.items()},
        asked=asked,
        draws=draws,
        units=drawn.multiplicity.shape[1],
        known=_known_share(first),
        groups=groups,
        incomparable=_labels(at_hand, shared),
        ranks={row.label: _digest_of_ranks(scores) for row, scores in shared.items()},
        impostors=np.bincount(group[~first.same & (group >= 0)], minlength=len(groups)),
        levels=levels,
        rates={row.label: of_row for row, of_row in zip(shared, rates, strict=with_rates)},
        fmr=fmr,
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
