"""Table 4: for how many groups of all settings an AC variant is the best label-free method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairfr.paper.headline import CHAPTER
from fairfr.paper.order import ADAPTIVE, DENSITY, DENSITY_LOO, LABEL_FREE, SETTINGS
from fairfr.report.tables.columns import group_names
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.tables.layout import Layout, SettingColumn
from fairfr.report.tables.order import MethodRow
from fairfr.report.tables.setting_tables import per_group
from fairfr.report.tables.table_notes import TableNotes

METRICS = {"auroc": "Per-group AUROC", "pauc": "Per-group partial AUC"}
N_VARIANTS = 2
COMPETE = (
    "Each group of one data set with one backbone counts once. Three AC variants compete, as in the paper: AC-MLP, "
    "AC-Linear and one form of AC-Density, that of the text above, the other below."
)


class Wins(NamedTuple):
    """Groups for which an AC variant is at best, groups counted, and wins of each variant (ties count for each)."""

    at_best: int
    groups: int
    variants: Counter[str]


def win_table(layout: Layout) -> Grid:
    """Three AC variants compete at a time, as in the paper: with each form of AC-Density once."""
    counts = [count_wins(layout, metric, DENSITY) for metric in METRICS]
    left_out = [count_wins(layout, metric, DENSITY_LOO) for metric in METRICS]
    sections = (
        Section("", _lines(counts)),
        Section("AC-Density (LOO) in the place of AC-Density", _lines(left_out)),
    )
    counted = Note(
        "counted",
        f"Counted: {counts[0].groups} groups (108 in the paper) in which an AC variant and another label-free method "
        "have a value; below, those in which AC-Density (LOO) has one. Best as printed, in percent with two decimals; "
        "variants that tie both count.",
    )
    bare = Grid(
        id="table4_wins",
        title="How often an AC variant is the best label-free method for a group (the paper's Table 4)",
        corner=("Metric",),
        spanners=(Spanner("", ("AC at best", "Most common winning variants")),),
        sections=sections,
        notes=(counted,),
        about=(COMPETE,),
        chapter=CHAPTER,
    )
    return TableNotes(layout, (*LABEL_FREE, *ADAPTIVE), SETTINGS).annotate(bare)


def _lines(counts: Sequence[Wins]) -> tuple[Line, ...]:
    lines = []
    for label, (at_best, groups, variants) in zip(METRICS.values(), counts, strict=True):
        share = Entry()
        if groups:
            share = Entry(f"{at_best}/{groups} ({at_best / groups:.1%})", at_best / groups)
        most = ", ".join(f"{name} ({n})" for name, n in variants.most_common(N_VARIANTS) if n)
        lines.append(Line(label, (share, Entry(most))))
    return tuple(lines)


def count_wins(layout: Layout, metric: str, form: MethodRow) -> Wins:
    """Wins of the AC variants; ``form`` is the AC-Density that competes.

    Groups without the LOO form do not count for it: it would be counted where it has not run.
    """
    other = DENSITY if form is DENSITY_LOO else DENSITY_LOO
    adaptive = [row.label for row in ADAPTIVE if row is not other]
    at_best = groups = 0
    variants = Counter(dict.fromkeys(adaptive, 0))  # equal counts keep the paper's order
    for printed in _printed(layout, metric, [row for row in (*LABEL_FREE, *ADAPTIVE) if row is not other]):
        if form is DENSITY_LOO and form.label not in printed:
            continue
        if not printed.keys() & set(adaptive) or not printed.keys() - set(adaptive):
            continue
        best = max(printed.values())
        winners = [label for label in adaptive if printed.get(label) == best]
        groups += 1
        at_best += bool(winners)
        variants.update(winners)
    return Wins(at_best, groups, variants)


def _printed(layout: Layout, metric: str, rows: Sequence[MethodRow]) -> Iterator[dict[str, float]]:
    """For each group of each setting: the printed value of each label-free row that has one."""
    for setting in SETTINGS:
        some = layout.any_run(setting)
        if some is None:
            continue
        places = [SettingColumn(setting, per_group(metric, group)) for group in group_names(some)]
        every = [layout.line(row, places) for row in rows]
        lines = [line for line in every if not line.dagger]
        for column in range(len(places)):
            numbers = {line.label: line.entries[column].printed for line in lines}
            yield {label: number for label, number in numbers.items() if number is not None}
