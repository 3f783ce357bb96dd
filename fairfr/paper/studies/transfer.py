"""Whether a calibration transfers: each method fitted away from the tested data, beside the same method fitted at home.

At home is the published protocol on the tested set. Both runs are compared on the pairs that both scored, pooled over
folds, with intervals of the difference from a bootstrap over people.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from fairfr.report.figures.curves import change_figure
from fairfr.report.quantity import group_heading, higher_is_better
from fairfr.report.study import CHAPTER, PrintedRow, Study
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, Tone, number_entry
from fairfr.report.uncertainty.setting_bootstrap import Change, Comparison, compare_runs
from fairfr.stored.results import Results
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOME = "published"
DRAWS = 1000
DIGITS = 4
METRICS = {"auroc": "AUROC", "brier": "Brier"}
HEADS = ("home", "away", "change", "95 % interval")
NOTES = (
    Note(
        "home_and_away",
        "Home: fitted on the other published folds of the tested set. Away: fitted without the group, or on another "
        "set. Both on the pairs that both scored, all folds together; AUROC over pairs of several groups also says "
        "whether the fits of these agree.",
    ),
    Note(
        "intervals",
        f"Of the change: {DRAWS:,} draws of people, the same for both runs. One that contains 0 says that no change "
        "can be seen.",
    ),
    Note(
        "stand_ins",
        "Stand-ins of two benchmarks do not lie in one space: fitted on another one, a method that uses midpoints "
        "of pairs sees only noise.",
    ),
)


class TransferPair(NamedTuple):
    """A method away from home: its run, the one at home, and where it was fitted, in words."""

    section: str
    away: Run
    home: Run

    @property
    def method(self) -> str:
        return self.away.result.method.label


def transfer_pairs(results: Results) -> list[TransferPair]:
    """Every run away from home that has one at home, section by section."""
    homes = {_tested(run): run for run in results if run.result.protocol == HOME}
    away = [run for run in results if run.result.protocol != HOME and _tested(run) in homes]
    found = [TransferPair(_section(results, run), run, homes[_tested(run)]) for run in away]
    return sorted(found, key=lambda both: (both.section, both.method))


def _tested(run: Run) -> tuple[str, ...]:
    """What must be the same at home and away: the tested bytes, and the method."""
    return (*run.cell[:2], str(run.result.data.digest), run.result.method.id)


def _section(results: Results, run: Run) -> str:
    train = run.result.train
    where = "fitted without the group"
    if train is not None:
        where = f"fitted on {train.label}"
    return f"{results.name(run.cell[:2])}, {where}"


@cache
def _compared(home: Run, away: Run) -> Comparison | None:
    """Tables and figure ask for the same comparison."""
    at_home = RunScores.if_available(home)
    elsewhere = RunScores.if_available(away)
    if at_home is None or elsewhere is None:
        return None
    return compare_runs(at_home, elsewhere, DRAWS)


def tables(results: Results) -> list[Grid]:
    """All pairs by method, then each group by method."""
    return [_by_method(results), _by_group(results)]


def changes(results: Results) -> tuple[PrintedRow, ...]:
    """For each section the change of AUROC and of Brier by method: what a claim about transfer is judged by."""
    by_section: dict[str, dict[str, tuple[float, ...]]] = {}
    for both in transfer_pairs(results):
        found = _compared(both.home, both.away)
        if found is not None:
            of_section = by_section.setdefault(both.section, {})
            of_section[both.away.result.method.id] = tuple(found.change(metric).by for metric in METRICS)
    return tuple(PrintedRow((section,), values) for section, values in by_section.items())


def _by_method(results: Results) -> Grid:
    lines: dict[str, list[Line]] = {}
    for both in transfer_pairs(results):
        found = _compared(both.home, both.away)
        ece = [Entry(), Entry()]
        if found is not None:
            ece = [number_entry(value, DIGITS) for value in found.ece]
        line = Line(both.method, (*_entries(found, 0), *ece), both.away.needs_groups)
        lines.setdefault(both.section, []).append(line)
    sections = tuple(Section(heading, tuple(several)) for heading, several in lines.items())
    spanners = (*_spanners(), Spanner("ECE-15", HEADS[:2]))
    return _grid(results, "study_transfer", "Calibrations away from home", spanners, sections)


def _by_group(results: Results) -> Grid:
    sections = []
    for both in transfer_pairs(results):
        found = _compared(both.home, both.away)
        if found is None or not found.groups:
            continue
        known = [slot for slot in range(1, len(found.groups) + 1) if _has_both_labels(found, slot)]
        lines = tuple(Line(group_heading(found.groups[slot - 1]), _entries(found, slot)) for slot in known)
        if lines:
            sections.append(Section(f"{both.section}: {both.method}", lines))
    title = "Calibrations away from home, by group"
    return _grid(results, "study_transfer_groups", title, _spanners(), tuple(sections))


def _has_both_labels(found: Comparison, slot: int) -> bool:
    change = found.change("auroc", slot)
    return not math.isnan(change.before)


def _spanners() -> tuple[Spanner, ...]:
    return (Spanner("", ("pairs",)), *(Spanner(heading, HEADS) for heading in METRICS.values()))


def _grid(results: Results, id: str, title: str, spanners: tuple[Spanner, ...], sections: tuple[Section, ...]) -> Grid:
    notes: tuple[Note, ...] = NOTES
    if results.source != "synthetic":
        notes = NOTES[:2]
    return Grid(id, title, ("Method",), spanners, sections, notes, source=results.source, chapter=CHAPTER)


def _entries(found: Comparison | None, slot: int) -> tuple[Entry, ...]:
    if found is None:
        return tuple(Entry() for _ in range(1 + len(METRICS) * len(HEADS)))
    entries = [number_entry(int(found.pairs[slot]), 0)]
    for metric in METRICS:
        entries += _of_change(found.change(metric, slot), higher_is_better(metric))
    return tuple(entries)


def _of_change(change: Change, higher: bool | None) -> tuple[Entry, ...]:
    """Home, away, change and interval; a change whose interval leaves out 0 is marked as better or worse."""
    tone: Tone = "plain"
    if change.is_clear:
        tone = "improved" if (change.by > 0) == higher else "degraded"
    between = Entry()
    if not math.isnan(change.low):
        between = Entry(f"{change.low:+.{DIGITS}f} to {change.high:+.{DIGITS}f}")
    return (
        number_entry(change.before, DIGITS),
        number_entry(change.after, DIGITS),
        number_entry(change.by, DIGITS, sign="+", tone=tone),
        between,
    )


def figure(results: Results) -> Figure | None:
    """The change of each method with its interval, a panel for each metric, by section."""
    panels: dict[str, dict[str, dict[str, Change]]] = {}
    for both in transfer_pairs(results):
        found = _compared(both.home, both.away)
        if found is None or not _has_both_labels(found, 0):
            continue
        for metric, heading in METRICS.items():
            of_section = panels.setdefault(both.section, {})
            of_section.setdefault(f"change of {heading}", {})[both.method] = found.change(metric)
    return change_figure(panels, results.source)


STUDY = Study("transfer", not_printed=changes, more_tables=tables, figure=figure, varies=("noise",))
