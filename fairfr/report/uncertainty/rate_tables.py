"""Error rates by group at one threshold, each method against one, with paired intervals over people.

The highest minus the lowest rate is biased upwards where groups hardly differ. The mean of the draws minus the point
says by how much; the gap between two fixed groups, best and worst for the reference, has no such bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite

import numpy as np

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.core.types import F64, Bool
from fairfr.numerics.bootstrap import interval_to_infinity
from fairfr.numerics.rates_of_draws import gap_of_groups, ratio_of_groups
from fairfr.report.quantity import group_heading
from fairfr.report.tables.grid import UNSTEADY, Entry, Line, Note, Section, Spanner, Tone, number_entry, tied_entry
from fairfr.report.uncertainty.setting_bootstrap import DrawnRun, SettingBootstrap, is_tied

GROUPS_OF_TABLE = 4

AT_ONE_THRESHOLD = Note(
    "at_one_threshold",
    "Pooled held-out pairs; one threshold for all pairs gives the wanted FPR and is set again in each draw. FMR is the "
    "share of a group's impostors above it, FNMR the share of its genuine pairs below it, TPR 1 - FNMR. At equal FMR "
    "each group has a threshold of its own. Highest minus lowest is biased upwards by noise: the mean of the draws "
    "minus the point shows by how much, and the same two groups, best and worst for the method that is compared with, "
    'have no such bias. A draw without a group, or without a false match in it, counts as infinitely large: "> x" is '
    "an interval without an upper end. Beside an FMR stands its own interval, as fairfr calibrate threshold prints it. "
    "Coloured: the interval as printed leaves out zero, and both methods rank the pairs of a fold differently.",
)
FEW_FALSE_MATCHES = Note(
    "few_false_matches_of_group",
    f"{UNSTEADY} fewer than {ENOUGH_FALSE_MATCHES} false matches of a group, with the method or with the one that it "
    "is compared with.",
)


def gap_columns(reference: DrawnRun) -> tuple[Spanner, ...]:
    """What the groups have in common: ratio of FMR, and gaps of TPR."""
    gap = ("points", f"minus {reference.label}", "draws minus point", "same two groups")
    return (
        Spanner("Highest / lowest FMR", ("ratio", f"times {reference.label}")),
        Spanner("Gap of TPR", gap),
        Spanner("Gap of TPR at equal FMR", gap),
    )


def gap_sections(found: SettingBootstrap, reference: DrawnRun) -> tuple[Section, ...]:
    """A section for each wanted rate, a line for each method."""
    sections = []
    for level in found.levels:
        two = [_two_groups(found, reference.rates[f"{name}_{level}"]) for name in ("tpr_at_fpr", "tpr_at_own_fpr")]
        heading = f"FPR {level}; the same two groups: {two[0]}; at equal FMR: {two[1]}"
        lines = [_gap_line(found, one, reference, level) for one in found.runs]
        sections.append(Section(heading, tuple(lines)))
    return tuple(sections)


def _two_groups(found: SettingBootstrap, rates: F64) -> str:
    best, worst = _best_and_worst(rates)
    return f"{group_heading(found.groups[best])} - {group_heading(found.groups[worst])}"


def _best_and_worst(rates: F64) -> tuple[int, int]:
    """The groups with the highest and with the lowest rate in the data, of ``rates`` (1 + draws, groups)."""
    point = rates[0]
    return int(np.argmax(np.where(np.isnan(point), -1.0, point))), int(np.argmin(np.where(np.isnan(point), 2.0, point)))


def _gap_line(found: SettingBootstrap, one: DrawnRun, reference: DrawnRun, level: str) -> Line:
    ours = one.rates
    theirs = reference.rates
    fmr = f"fpr_at_fpr_{level}"
    ratio = ratio_of_groups(ours[fmr])
    few = bool(_few(found, ours[fmr], theirs[fmr]).any())
    entries = [_entry(ratio[:1], 1, mark=few), Entry()]
    if one is not reference:
        entries[1] = _entry(_over(ratio, ratio_of_groups(theirs[fmr])), 2, better_below=1.0, mark=few)
    own_few = fewest_at_own_threshold(found, level) < ENOUGH_FALSE_MATCHES
    for name, mark in ((f"tpr_at_fpr_{level}", False), (f"tpr_at_own_fpr_{level}", own_few)):
        gap = 100 * gap_of_groups(ours[name])
        entries.append(_entry(gap[:1], 1, mark=mark))
        if one is reference:
            entries += [Entry(), Entry(), Entry()]
            continue
        entries += _gap_entries(_minus(gap, 100 * gap_of_groups(theirs[name])), mark)
        best, worst = _best_and_worst(theirs[name])
        change = ours[name] - theirs[name]
        between = 100 * (change[:, best] - change[:, worst])
        entries.append(_entry(between, 1, sign="+", better_below=0.0, mark=mark))
    return _line(one, reference, level, entries)


def _line(one: DrawnRun, reference: DrawnRun, level: str, entries: list[Entry]) -> Line:
    """What can be compared is; not where the rate is not met, or where both methods rank alike in every fold."""
    if is_tied(level, one, reference):
        entries = [tied_entry(replace(entry, tone="plain")) for entry in entries]
    elif one.ranks_like(reference):
        entries = [replace(entry, tone="plain") for entry in entries]
    return Line(one.label, tuple(entries), one.run.needs_groups)


def fewest_at_own_threshold(found: SettingBootstrap, level: str) -> float:
    """False matches of the smallest group at its own threshold for the wanted rate."""
    return found.levels[level] * float(found.impostors.min())


def _gap_entries(difference: F64, mark: bool) -> list[Entry]:
    """A difference of gaps with its interval, and how far the draws lie off on average."""
    finite = difference[1:][np.isfinite(difference[1:])]
    bias = None
    if len(finite):
        bias = float(finite.mean() - difference[0])
    return [_entry(difference, 1, sign="+", better_below=0.0, mark=mark), number_entry(bias, 1, sign="+")]


def group_tables(
    found: SettingBootstrap, reference: DrawnRun
) -> Iterator[tuple[tuple[Spanner, ...], tuple[Section, ...]]]:
    """The columns and sections of each table with some of the groups: FMR and FNMR beside the reference."""
    columns = ("FMR / wanted", f"FMR, times {reference.label}", f"FNMR minus {reference.label}, points")
    for start in range(0, len(found.groups), GROUPS_OF_TABLE):
        part = range(start, min(start + GROUPS_OF_TABLE, len(found.groups)))
        spanners = tuple(Spanner(group_heading(found.groups[g]), columns) for g in part)
        sections = []
        for level in found.levels:
            lines = [_group_line(found, one, reference, level, part) for one in found.runs]
            sections.append(Section(f"FPR {level}", tuple(lines)))
        yield spanners, tuple(sections)


def _group_line(found: SettingBootstrap, one: DrawnRun, reference: DrawnRun, level: str, part: range) -> Line:
    ours = one.rates
    theirs = reference.rates
    fmr, other = (rates[f"fpr_at_fpr_{level}"] for rates in (ours, theirs))
    lost = theirs[f"tpr_at_fpr_{level}"] - ours[f"tpr_at_fpr_{level}"]
    few = _few(found, fmr, other)
    alone = one.fmr[level]
    entries = []
    for g in part:
        rate = _entry(fmr[:1, g] / found.levels[level], 2, mark=bool(few[g]))
        span = f"{rate.spread} {open_range(alone.low[g], alone.high[g], 2)}"
        entries.append(replace(rate, spread=span))
        if one is reference:
            entries += [Entry(), Entry()]
        else:
            entries.append(_entry(_over(fmr[:, g], other[:, g]), 2, mark=bool(few[g])))
            entries.append(_entry(100 * lost[:, g], 1, sign="+", better_below=0.0))
    return _line(one, reference, level, entries)


def _few(found: SettingBootstrap, fmr: F64, other: F64) -> Bool:
    """Which groups have too few false matches with one of both methods, (groups,)."""
    matches = np.fmin(fmr[0], other[0]) * found.impostors
    few: Bool = ~(matches >= ENOUGH_FALSE_MATCHES)
    return few


def _over(rates: F64, other: F64) -> F64:
    """The ratio of two rates; infinite over nothing, NaN where both are infinite or nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: F64 = rates / other
    return ratio


def _minus(gaps: F64, other: F64) -> F64:
    """A difference of gaps; NaN where a group was not drawn, so that both are infinite."""
    with np.errstate(invalid="ignore"):
        difference: F64 = gaps - other
    return difference


def _entry(values: F64, digits: int, *, sign: str = "", better_below: float | None = None, mark: bool = False) -> Entry:
    """The data's value ``values[0]`` with the interval of the draws after it, if there are any.

    ``better_below``: coloured where the whole interval, as printed, lies on one side of this number.
    """
    point = float(values[0])
    drawn = values[1:]
    tail = ""
    if mark:
        tail = UNSTEADY
    tone: Tone = "plain"
    if len(drawn):
        low, high = (round(end, digits) for end in interval_to_infinity(drawn))
        if better_below is not None and (low > better_below or high < better_below):
            tone = "improved" if high < better_below else "degraded"
        tail += f" {open_range(low, high, digits, sign)}"
    if not isfinite(point):
        return Entry(tail.strip() or "\u2013")
    return number_entry(point, digits, sign=sign, spread=tail, tone=tone)


def open_range(low: float, high: float, digits: int, sign: str = "") -> str:
    """``[low, high]``, or ``> low`` without an upper end, ``< high`` without a lower one."""
    if not isfinite(low) and not isfinite(high):
        return "[undetermined]"
    form = f"{sign}z.{digits}f"  # z: no negative zero
    if not isfinite(high):
        return f"> {low:{form}}"
    if not isfinite(low):
        return f"< {high:{form}}"
    return f"[{low:{form}}, {high:{form}}]"
