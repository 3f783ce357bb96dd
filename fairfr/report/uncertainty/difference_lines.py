"""The lines of a table of paired differences between methods, and the text of an interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan

import numpy as np

from fairfr.core.types import F64
from fairfr.numerics.bootstrap import BOOTSTRAP_METRICS, percentile_interval
from fairfr.report.quantity import Quantity, higher_is_better
from fairfr.report.tables.grid import Entry, Line, Note, Section, Tone, number_entry, tied_entry
from fairfr.report.uncertainty.setting_bootstrap import DrawnRun, SettingBootstrap, is_tied
from fairfr.stored.order import BASELINE, is_called

DIGITS = 4
PLACES = {"all": "All pairs", "worst": "Worst group"}
HEADINGS = dict(zip(BOOTSTRAP_METRICS, ("AUROC", "TPR@1e-3", "Brier"), strict=True))
RANKED = ("auroc", "tpr_at_fpr_1e-3")
"""Metrics that only the order of values decides."""


def comparison_sections(
    found: SettingBootstrap, against: str | None, duels: Mapping[str, tuple[str, ...]]
) -> Iterator[Section]:
    """Each metric against the Baseline, then in the ``duels``, or against the one method that is asked for.

    Only the comparisons that have both runs.
    """
    if against is None:
        rounds = [(found.find(BASELINE.id), found.runs)]
        for other, methods in duels.items():
            rounds.append((found.find(other), tuple(one for one in map(found.find, methods) if one is not None)))
    else:
        rounds = [(run_called(against, found), found.runs)]
    for metric in BOOTSTRAP_METRICS:
        for reference, runs in rounds:
            if reference is None:
                continue
            lines = [_comparison_line(one, reference, metric) for one in runs if one is not reference]
            if lines:
                yield Section(f"{HEADINGS[metric]}, minus {reference.label}", tuple(lines))


def run_called(name: str, found: SettingBootstrap) -> DrawnRun | None:
    """The run of a method or variant by its id or label, as a person types it."""
    for one in found.runs:
        if is_called(name, one.row.id, one.label, one.run.cell[2]):
            return one
    return None


def _comparison_line(a: DrawnRun, b: DrawnRun, metric: str) -> Line:
    alike = metric in RANKED and a.ranks_like(b)
    alpha = Quantity(metric, "all").alpha
    tied = alpha is not None and is_tied(alpha, a, b)
    entries: list[Entry] = []
    for place in PLACES:
        ours, drawn = a.drawn(metric, place)
        theirs, other = b.drawn(metric, place)
        entries += _difference_entries(ours - theirs, drawn - other, bool(higher_is_better(metric)), alike or tied)
        entries.append(_of_fold_means(a, b, metric, place))
    if tied:
        entries = [tied_entry(entry) for entry in entries]
    return Line(a.label, tuple(entries), a.run.needs_groups)


def _of_fold_means(a: DrawnRun, b: DrawnRun, metric: str, place: str) -> Entry:
    means = [one.run.mean(metric, place) for one in (a, b)]
    if means[0] is None or means[1] is None:
        return Entry(missing="too few pairs")
    return number_entry(means[0] - means[1], DIGITS, sign="+")


def _difference_entries(difference: float, drawn: F64, higher: bool, unmarked: bool) -> list[Entry]:
    """The difference, its interval, and in which share of the draws (draws,) it is for the better.

    It is marked where the interval leaves out zero as it is printed, unless it is to stay ``unmarked``.
    """
    known = drawn[~np.isnan(drawn)]
    if isnan(difference) or len(known) == 0:
        return [Entry(missing="too few pairs")] * 3
    low, high = (round(end, DIGITS) for end in percentile_interval(known))
    gain = known if higher else -known
    share = float(np.mean(gain > 0) + np.mean(gain == 0) / 2)
    tone: Tone = "plain"
    if not unmarked and (low > 0 or high < 0):
        tone = "improved" if (low > 0) == higher else "degraded"
    return [
        number_entry(difference, DIGITS, sign="+", tone=tone),
        Entry(span_text(known, "+")),
        Entry(f"{100 * share:.1f} %", share),
    ]


def ranked_alike(found: SettingBootstrap) -> Iterator[Note]:
    """One note for each set of methods that rank pairs alike inside every fold."""
    by_ranks: dict[str, list[str]] = {}
    for one in found.runs:
        by_ranks.setdefault(one.ranks, []).append(one.label)
    for labels in by_ranks.values():
        if len(labels) > 1:
            text = (
                f"{', '.join(labels[:-1])} and {labels[-1]} rank the pairs of every fold in the same order. Their "
                "pooled AUROC and TPR differ only because each fold has a map of its own, so these differences are "
                "not marked."
            )
            yield Note("ranked_alike", text)


def span_text(drawn: F64, sign: str = "") -> str:
    """The percentile interval of draws (draws,)."""
    return range_text(*percentile_interval(drawn), sign)


def range_text(low: float, high: float, sign: str = "") -> str:
    """An interval in brackets; nothing where it is unknown."""
    if isnan(low):
        return ""
    form = f"{sign}z.{DIGITS}f"  # z: no negative zero
    return f"[{low:{form}}, {high:{form}}]"
