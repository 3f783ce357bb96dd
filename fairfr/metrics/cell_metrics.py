"""All metrics of one cell: per fold, pooled, summarised; for all pairs, each group, the worst, and between groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fairfr.core import names
from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.core.types import I16, Grouping, MetricRow, PairRule, Pairs, ScoreFrame
from fairfr.metrics._sorted_columns import KINDS, Background, SortedColumns, sort_columns, split_columns
from fairfr.metrics.catalogue import METRICS, FromRoc, Metric, On, OverGroups, OwnTprAt, RateAt
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS, is_measured_at
from fairfr.metrics.roc_metrics import OperatingPoint, Rates

ALL = names.ALL
POOLED = names.POOLED
WORST = names.WORST
GAP = names.GAP
NAN = float("nan")
NO_RATES = Rates(NAN, NAN, NAN)

Points: TypeAlias = Mapping[tuple[On, float], OperatingPoint]


@dataclass(frozen=True, slots=True)
class PairGroups:
    """A grouping of pairs under one rule: ``codes`` (p,) index ``levels``; -1 is none."""

    grouping: str
    rule: PairRule
    levels: tuple[str, ...]
    codes: I16

    @classmethod
    def of(cls, grouping: Grouping, pairs: Pairs, rule: PairRule) -> PairGroups:
        return cls(grouping.id, rule, grouping.levels, grouping.of(pairs, rule))


class _SubsetMetrics(NamedTuple):
    """The numbers of one subset of pairs, by metric id."""

    values: Mapping[str, float]
    n_same: int
    n_diff: int

    def row(self, place: tuple[str, str, str, str], metric: str) -> MetricRow:
        return MetricRow(*place, metric, self.values.get(metric, NAN), self.n_same, self.n_diff)


def compute_metrics(
    frame: ScoreFrame, fold_labels: tuple[str, ...], groups: Sequence[PairGroups], min_pairs: int, threads: int = 1
) -> list[MetricRow]:
    """Every metric of ``frame``, for each fold and for all pairs together (fold ``pooled``).

    Thresholds are global: set on all pairs of the fold, whatever their group. A group with fewer than ``min_pairs``
    pairs or without both labels in the fold has NaN for every metric, with its counts, and does not compete for the
    worst group. ``worst`` is the extremum inside the fold, with the counts of that group; ``gap`` carries the counts
    of the groups that took part. A rare FPR level is NaN everywhere unless all pairs together expect enough false
    matches at it.

    Parameters
    ----------
    frame : ScoreFrame
        Held-out values of n_pairs pairs; ``frame.fold`` indexes ``fold_labels``.
    fold_labels : tuple of str
        Names of the folds.
    groups : sequence of PairGroups
        Each with ``codes`` of shape (n_pairs,).
    min_pairs : int
        Fewest pairs of a group in a fold for it to be measured there.
    threads : int, default 1
        With more than one, the pooled pairs are measured beside the folds.

    Returns
    -------
    list of MetricRow
        In a fixed order: fold, then all pairs, then grouping, level, metric.
    """
    _check_names(fold_labels, groups)
    groups = _sharing_codes(groups)
    levels = _measured_levels(int(np.count_nonzero(~frame.same)))

    with Background(threads) as background:
        columns = sort_columns(frame, background)
        # as many pairs as in all folds together
        pooled = background.start(lambda: list(_fold_rows(POOLED, columns, groups, min_pairs, levels)))
        rows: list[MetricRow] = []
        for label, fold in zip(fold_labels, split_columns(columns, frame.fold, len(fold_labels)), strict=True):
            rows.extend(_fold_rows(label, fold, groups, min_pairs, levels))
        return rows + pooled()


def _measured_levels(impostors: int) -> tuple[float, ...]:
    return tuple(alpha for level, alpha in ALL_FPR_LEVELS.items() if is_measured_at(level, impostors))


def _fold_rows(
    label: str, columns: SortedColumns, groups: Sequence[PairGroups], min_pairs: int, levels: Sequence[float]
) -> Iterator[MetricRow]:
    points = _operating_points(columns, levels)
    whole = _measure(columns, points)
    for column in columns.values():
        column.forget_curve()
    for metric in METRICS:
        if metric.id in whole.values:
            yield whole.row((label, ALL, ALL, ALL), metric.id)
    measured: dict[int, list[_SubsetMetrics]] = {}
    for grouping in groups:
        codes = grouping.codes
        if id(codes) not in measured:
            subsets = split_columns(columns, codes, len(grouping.levels))
            measured[id(codes)] = [_measure_group(subset, points, min_pairs) for subset in subsets]
        yield from _group_rows(label, grouping, measured[id(codes)])


def _sharing_codes(groups: Sequence[PairGroups]) -> list[PairGroups]:
    """The same groups; those that divide the pairs in the same way have one array of codes, and are measured once.

    Without mixed pairs both rules do.
    """
    shared: list[PairGroups] = []
    for grouping in groups:
        for other in shared:
            if len(other.levels) == len(grouping.levels) and np.array_equal(other.codes, grouping.codes):
                grouping = replace(grouping, codes=other.codes)
                break
        shared.append(grouping)
    return shared


def _check_names(fold_labels: Sequence[str], groups: Sequence[PairGroups]) -> None:
    """A fold or group with one of the reserved names could not be distinguished from the summary rows."""
    if POOLED in fold_labels:
        raise DataError(f"a fold is called '{POOLED}', which is kept for all folds together. Give it another name.")
    for grouping in groups:
        for name in (WORST, GAP):
            if name in grouping.levels:
                raise DataError(
                    f"a group of '{grouping.grouping}' is called '{name}', which is kept for comparisons of groups. "
                    "Give it another name."
                )


def _operating_points(columns: SortedColumns, levels: Sequence[float]) -> Points:
    points: dict[tuple[On, float], OperatingPoint] = {}
    for on in KINDS:
        for alpha in levels:
            points[on, alpha] = OperatingPoint.from_curve(columns[on].curve, alpha)
    return points


def _counts(columns: SortedColumns) -> tuple[int, int]:
    same = columns["score"].same
    n_same = int(np.count_nonzero(same))
    return n_same, len(same) - n_same


def _measure_group(columns: SortedColumns, points: Points, min_pairs: int) -> _SubsetMetrics:
    """As ``_measure``; no values for a group that is too small or has pairs of one class only."""
    n_same, n_diff = _counts(columns)
    if n_same == 0 or n_diff == 0 or n_same + n_diff < min_pairs:
        return _SubsetMetrics({}, n_same, n_diff)
    return _measure(columns, points)


def _measure(columns: SortedColumns, points: Points) -> _SubsetMetrics:
    """Every metric but those of several groups."""
    rates = {key: point.rates_on(columns[key[0]].curve) for key, point in points.items()}
    values: dict[str, float] = {}
    for metric in METRICS:
        if isinstance(metric.compute, RateAt):
            values[metric.id] = getattr(rates.get((metric.on, metric.compute.alpha), NO_RATES), metric.compute.rate)
        elif isinstance(metric.compute, OwnTprAt):
            alpha = metric.compute.alpha
            values[metric.id] = NAN
            if (metric.on, alpha) in points:
                curve = columns[metric.on].curve
                values[metric.id] = OperatingPoint.from_curve(curve, alpha).rates_on(curve).tpr
        elif isinstance(metric.compute, FromRoc):
            values[metric.id] = metric.compute.measure(columns[metric.on].curve)
        elif not isinstance(metric.compute, OverGroups):
            values[metric.id] = metric.compute(columns[metric.on].same, columns[metric.on].values)
    return _SubsetMetrics(values, *_counts(columns))


def _group_rows(label: str, grouping: PairGroups, measured: Sequence[_SubsetMetrics]) -> Iterator[MetricRow]:
    place = (label, grouping.grouping, grouping.rule)
    for level, of_level in zip(grouping.levels, measured, strict=True):
        for metric in METRICS:
            if not isinstance(metric.compute, OverGroups):
                yield of_level.row((*place, level), metric.id)
    for metric in METRICS:
        if metric.has_worst:
            yield _worst(metric, measured).row((*place, WORST), metric.id)
        elif isinstance(metric.compute, OverGroups):
            yield _over_groups(metric.id, metric.compute, measured).row((*place, GAP), metric.id)


def _worst(metric: Metric, measured: Sequence[_SubsetMetrics]) -> _SubsetMetrics:
    """The group with the least favourable value; of equals, the first level."""
    known = [of_level for of_level in measured if not isnan(of_level.values.get(metric.id, NAN))]
    if not known:
        return _SubsetMetrics({}, 0, 0)
    values = [of_level.values[metric.id] for of_level in known]
    if metric.better == "higher":
        return known[values.index(min(values))]
    return known[values.index(max(values))]


def _over_groups(metric: str, wanted: OverGroups, measured: Sequence[_SubsetMetrics]) -> _SubsetMetrics:
    known = [of_level for of_level in measured if not isnan(of_level.values.get(wanted.metric, NAN))]
    values = np.array([of_level.values[wanted.metric] for of_level in known], dtype=np.float64)
    n_same = sum(of_level.n_same for of_level in known)
    n_diff = sum(of_level.n_diff for of_level in known)
    return _SubsetMetrics({metric: wanted.spread(values)}, n_same, n_diff)


def summarise(rows: Iterable[MetricRow]) -> list[dict[str, Any]]:
    """One entry for each (grouping, rule, group, metric), in order of first appearance.

    Parameters
    ----------
    rows : iterable of MetricRow
        Those of all folds and of ``pooled``, as ``compute_metrics`` returns them.

    Returns
    -------
    list of dict
        ``grouping``, ``rule``, ``group``, ``metric``; ``mean`` and ``std`` (ddof 0) over the folds that have a value
        (NaN if none has); ``folds``, their number, and ``folds_total``; ``pooled``, the value over all pairs
        together; ``n_same`` and ``n_diff`` summed over all folds.
    """
    together: dict[tuple[str, str, str, str], list[MetricRow]] = {}
    for row in rows:
        together.setdefault((row.grouping, row.rule, row.group, row.metric), []).append(row)
    return [_summary(members) for members in together.values()]


def _summary(members: Sequence[MetricRow]) -> dict[str, Any]:
    first = members[0]
    folds = [row for row in members if row.fold != POOLED]
    pooled = [row.value for row in members if row.fold == POOLED]
    values = np.array([row.value for row in folds], dtype=np.float64)
    values = values[~np.isnan(values)]
    mean = std = float("nan")
    if len(values):
        mean = float(values.mean())
        std = float(values.std())
    return {
        "grouping": first.grouping,
        "rule": first.rule,
        "group": first.group,
        "metric": first.metric,
        "mean": mean,
        "std": std,
        "folds": len(values),
        "folds_total": len(folds),
        "pooled": pooled[0] if pooled else float("nan"),
        "n_same": sum(row.n_same for row in folds),
        "n_diff": sum(row.n_diff for row in folds),
    }


def few_impostors_findings(rows: Iterable[MetricRow]) -> list[Finding]:
    """A warning for each FPR so low that some fold expects fewer than ten false matches there.

    With so few, TPR at that FPR depends on single impostor pairs, and interpolation biases it upwards. A rare level
    that is not measured has a note instead.
    """
    n_diff = {row.fold: row.n_diff for row in rows if row.grouping == ALL and row.fold != POOLED}
    if not n_diff:
        return []
    impostors = sum(n_diff.values())
    fewest = min(n_diff.values())
    findings = []
    for level, alpha in ALL_FPR_LEVELS.items():
        expected = alpha * fewest
        if not is_measured_at(level, impostors):
            findings.append(_not_measured(level, impostors))
        elif expected < ENOUGH_FALSE_MATCHES:
            text = (
                f"In one fold about {expected:.1f} of {fewest:,} impostor pairs decide TPR at FPR={level}: the value "
                "is noisy, and too high on average. Use the value over all folds (pooled)."
            )
            findings.append(Finding("few-false-matches", "warning", text, {"different": fewest}))
    return findings


def _not_measured(level: str, impostors: int) -> Finding:
    expected = ALL_FPR_LEVELS[level] * impostors
    text = (
        f"Nothing is reported at FPR={level}: all {impostors:,} impostor pairs together expect {expected:.1f} false "
        f"matches there, fewer than {ENOUGH_FALSE_MATCHES}."
    )
    return Finding("level-not-measured", "note", text, {"different": impostors})
