"""Each method against one: the measures that decide, with simultaneous intervals, and the sentences that follow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.core.types import F64
from fairfr.numerics.bootstrap import interval_to_infinity, simultaneous_band
from fairfr.numerics.rates_of_draws import gap_of_groups
from fairfr.report.quantity import group_words
from fairfr.report.tables.grid import UNSTEADY, Entry, Line, Note, Section, Spanner, Tone, number_entry
from fairfr.report.uncertainty.decision import CANDIDATES, SAFE, Difference, GroupChange, Trial, advise, sentence
from fairfr.report.uncertainty.rate_tables import fewest_at_own_threshold, open_range
from fairfr.report.uncertainty.setting_bootstrap import DrawnRun, SettingBootstrap, is_tied

DECIDING_LEVELS = ("1e-3", "1e-2")
"""Wanted rates at which groups are judged; measures take the rarest for which there are enough impostors."""
BRIER = "Brier score"
TONES: dict[str, Tone] = {"better": "improved", "worse": "degraded"}
SYNTHETIC = "Synthetic data: what is better here says nothing about faces, so nothing is recommended."

SIMULTANEOUS = Note(
    "simultaneous",
    "The interval beside a difference is its own. Verdicts are those of the simultaneous 95 % band for all methods and "
    "measures of this table: as many standard deviations of the draws as the largest distance from the point needs.",
)


def deciding_levels(found: SettingBootstrap) -> list[str]:
    """At which wanted rates groups are judged, the rarest first: those at which all pairs expect enough false matches.

    None without groups.
    """
    data = found.first.result.data
    if not found.groups:
        return []
    impostors = data.pairs - data.same
    return [level for level in DECIDING_LEVELS if found.levels[level] * impostors >= ENOUGH_FALSE_MATCHES]


def differences(found: SettingBootstrap, reference: DrawnRun) -> dict[str, tuple[Difference, ...]]:
    """By label the deciding differences of each other method, with one band for all of them."""
    others = [one for one in found.runs if one is not reference]
    measured = {one.label: list(_measured(found, one, reference)) for one in others}
    everything = list(chain.from_iterable(measured.values()))
    if not everything:
        return {}
    points = np.array([one.values[0] for one in everything])
    drawn = np.stack([one.values[1:] for one in everything], axis=1)
    bands = iter(simultaneous_band(points, drawn).T)
    by_label = {}
    for label, several in measured.items():
        by_label[label] = tuple(one.within(next(bands)) for one in several)
    return by_label


class Measured(NamedTuple):
    """A measure minus that of the reference: ``values`` (1 + draws,), of the data and then of each draw.

    ``false_matches`` of the group that it rests on most weakly.
    """

    name: str
    higher_is_better: bool
    digits: int
    values: F64
    false_matches: float = float("inf")

    def within(self, band: F64) -> Difference:
        """With its own interval and its part of a simultaneous band (2,)."""
        interval = interval_to_infinity(self.values[1:])
        ends = (float(band[0]), float(band[1]))
        by = float(self.values[0])
        return Difference(self.name, by, interval, ends, self.higher_is_better, self.digits, self.false_matches)


def _measured(found: SettingBootstrap, one: DrawnRun, reference: DrawnRun) -> Iterator[Measured]:
    """Each measure that decides.

    Methods that rank the pairs of every fold alike do not differ in what only the order decides. A rate that no
    threshold meets is not compared: NaN.
    """
    alike = one.ranks_like(reference)
    for metric, name, higher in (("brier", BRIER, False), ("auroc", "AUROC", True)):
        ours, drawn = one.drawn(metric)
        theirs, other = reference.drawn(metric)
        change = np.append(ours - theirs, drawn - other)
        if metric == "auroc" and alike:
            change = np.zeros(len(change))
        yield Measured(name, higher, 4, change)
    levels = deciding_levels(found)
    if not levels:
        return
    level = levels[0]
    both = (one.rates, reference.rates)
    fmr = f"fpr_at_fpr_{level}"
    worst = [np.fmax.reduce(rates[fmr], axis=1) / found.levels[level] for rates in both]
    matches = [_matches_of_worst(found, rates[fmr][0]) for rates in both]
    gaps = [100 * gap_of_groups(rates[f"tpr_at_own_fpr_{level}"]) for rates in both]
    with np.errstate(invalid="ignore"):
        changes = [worst[0] - worst[1], gaps[0] - gaps[1]]
    if is_tied(level, one, reference):
        changes = [np.full(1 + found.draws, np.nan)] * 2
    elif alike:
        changes = [np.zeros(1 + found.draws)] * 2
    yield Measured(f"worst group's FMR over {level}", False, 2, changes[0], min(matches))
    fewest = fewest_at_own_threshold(found, level)
    yield Measured("gap of TPR at equal FMR, points", False, 1, changes[1], fewest)


def _matches_of_worst(found: SettingBootstrap, rates: F64) -> float:
    """False matches of the group with the highest of these ``rates`` (groups,)."""
    worst = int(np.argmax(np.nan_to_num(rates, nan=-1.0)))
    return float(rates[worst] * found.impostors[worst])


def decision_columns(by_label: dict[str, tuple[Difference, ...]]) -> tuple[Spanner, ...]:
    """Three columns for each measure."""
    first = next(iter(by_label.values()))
    return tuple(Spanner(one.measure, ("difference", "simultaneous", "verdict")) for one in first)


def decision_section(
    found: SettingBootstrap, by_label: dict[str, tuple[Difference, ...]], reference: DrawnRun
) -> Section:
    """A line for each method."""
    lines = []
    needs_groups = {one.label: one.run.needs_groups for one in found.runs}
    for label, several in by_label.items():
        entries: list[Entry] = []
        for one in several:
            entries += _entries(one)
        lines.append(Line(label, tuple(entries), needs_groups[label]))
    return Section(f"minus {reference.label}", tuple(lines))


def _entries(one: Difference) -> list[Entry]:
    tone = TONES.get(one.verdict, "plain")
    interval, band = (open_range(*ends, one.digits, "+") for ends in (one.interval, one.band))
    mark = UNSTEADY if one.rests_on_few else ""
    difference = number_entry(one.by, one.digits, sign="+", spread=f"{mark} {interval}", tone=tone)
    return [difference, Entry(band), Entry(one.verdict)]


def decision_sentences(
    found: SettingBootstrap, by_label: dict[str, tuple[Difference, ...]], reference: DrawnRun
) -> list[str]:
    """First the answer: what to take, where the reference is the safe choice. Then a sentence for each method."""
    said = [sentence(label, reference.label, several) for label, several in by_label.items()]
    if found.first.result.is_synthetic:
        return [SYNTHETIC, *said]
    if reference.row.id == SAFE:
        return [*_advice(found, by_label, reference), *said]
    return said


def _advice(found: SettingBootstrap, by_label: dict[str, tuple[Difference, ...]], safe: DrawnRun) -> list[str]:
    first, second = (found.find(id) for id in CANDIDATES)
    if first is None:
        return []
    trial = _trial(found, first, safe, by_label)
    successor = None
    if second is not None:
        successor = _trial(found, second, first, differences(found, first))
    return [advise(trial, successor, found.first.result.data.same)]


def _trial(
    found: SettingBootstrap, one: DrawnRun, reference: DrawnRun, by_label: dict[str, tuple[Difference, ...]]
) -> Trial:
    """``by_label``: the differences to the reference."""
    brier = next(difference for difference in by_label[one.label] if difference.measure == BRIER)
    return Trial(one.label, reference.label, brier.band, _changes(found, one, reference))


def _changes(found: SettingBootstrap, one: DrawnRun, reference: DrawnRun) -> tuple[GroupChange, ...]:
    """What happens to each group at each deciding rate that both methods meet."""
    ours = one.rates
    theirs = reference.rates
    changes = []
    for level in deciding_levels(found):
        if is_tied(level, one, reference):
            continue
        alone = one.fmr[level]
        fmr, other = (rates[f"fpr_at_fpr_{level}"] for rates in (ours, theirs))
        lost = theirs[f"tpr_at_fpr_{level}"] - ours[f"tpr_at_fpr_{level}"]
        for g, group in enumerate(found.groups):
            change = GroupChange(
                group=group_words(group),
                level=level,
                false_matches=(float(fmr[0, g] * found.impostors[g]), float(other[0, g] * found.impostors[g])),
                fmr=(float(alone.low[g]) * found.levels[level], float(alone.high[g]) * found.levels[level]),
                fmr_by=interval_to_infinity(fmr[1:, g] - other[1:, g]),
                fnmr_by=interval_to_infinity(lost[1:, g]),
            )
            changes.append(change)
    return tuple(changes)
