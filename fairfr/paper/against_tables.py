"""Tables of ours against the paper's: a summary, and for each headline table ours, the paper's and the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from fairfr.paper.against import (
    MIN_RANKED,
    TOLERANCE,
    Compared,
    compare_with_print,
    of_quantity,
    rank_correlation,
    settings_of,
)
from fairfr.paper.order import DATASETS, GROUP_AWARE_IDS, HEADLINE, HEADLINE_BACKBONES, ROWS
from fairfr.paper.paper_tables import setting_columns
from fairfr.paper.printed import DIGITS, QUANTITIES, TABLE_NAMES, PrintedNumber, printed_headline
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, fraction_entry, number_entry
from fairfr.report.tables.notes import RunsOfTable
from fairfr.report.tables.places import Place
from fairfr.stored.order import Setting
from fairfr.stored.results import Results

CHAPTER = "Against the paper"
COLUMNS = ("ours", "paper", "difference")
ONE_PRINTED = Note(
    "one_printed",
    "The paper prints one AC-Density, against which both of our forms stand. Counts and the summary take the form of "
    "its text alone.",
)
UNITS = Note(
    "units",
    "Differences of LU-AUROC and LD-TPR are in groups; the last row's median and worst leave them out. No rank "
    f"correlation: fewer than {MIN_RANKED} methods, or all equal on one side.",
)


def against_tables(results: Results) -> Iterator[Grid]:
    """The summary, then a table for each headline quantity that has a number of ours."""
    compared = compare_with_print(results)
    yield _summary(results, [one for one in compared if not one.is_other_form])
    for name, quantity in QUANTITIES.items():
        here = of_quantity(compared, quantity)
        if here:
            yield _beside_each_other(results, name, quantity, here)


def synthetic_warning(results: Results) -> tuple[str, ...]:
    """What a caption must say when our side was not computed on faces."""
    if results.source == "files":
        return ()
    return ("This compares a SIMULATION with the paper: agreement or difference says nothing about its results.",)


def _summary(results: Results, compared: Sequence[Compared]) -> Grid:
    """A row for each headline quantity, and one for all."""
    settings = settings_of(compared)
    lines = []
    apart = []
    for quantity in QUANTITIES.values():
        mine = of_quantity(compared, quantity)
        lines.append(_summary_line(quantity, mine, settings))
        if mine:
            apart.append(f"{quantity.label} {_farthest(mine).name}")
    rates = [one for one in compared if one.quantity.group != LIFTED]
    everything = (*_differences(compared, len(printed_headline()), rates), *(Entry() for _ in settings))
    sections: tuple[Section, ...] = ()
    notes = [UNITS]
    if compared:
        sections = (Section("", tuple(lines)), Section("", (Line("All", everything),)))
        notes.append(Note("farthest", f"{'; '.join(apart)}.", "Farthest apart"))
    differences = Spanner("Absolute difference", ("covered", "median", "worst", "beyond"))
    grid = Grid(
        id="against_paper",
        title="Against the paper, summary",
        corner=("Table",),
        spanners=(differences, *setting_columns(settings, HEADLINE_BACKBONES)),
        sections=sections,
        about=(
            *synthetic_warning(results),
            f"{len(compared)} of its {len(printed_headline())} headline numbers are covered.",
            "Right: rank correlation (Spearman) of the methods' values, ours and the paper's, in each column.",
        ),
        notes=tuple(notes),
        chapter=CHAPTER,
    )
    numbers = [Place("", quantity=quantity) for quantity in QUANTITIES.values()]
    return RunsOfTable(results, ROWS, HEADLINE, numbers, exact=True).annotate(grid)


def _summary_line(quantity: Quantity, mine: Sequence[Compared], settings: Sequence[Setting]) -> Line:
    entries = [*_differences(mine, len(_printed(quantity)), mine)]
    for setting in settings:
        entries.append(rank_correlation([one for one in mine if one.setting == setting]))
    return Line(f"{quantity.label} (tolerance {TOLERANCE[quantity]:g})", tuple(entries))


def _differences(covered: Sequence[Compared], printed: int, measured: Sequence[Compared]) -> tuple[Entry, ...]:
    """Numbers covered, median and worst absolute difference of ``measured``, numbers beyond the tolerance."""
    sizes = [abs(one.difference) for one in measured]
    median = Entry()
    worst = Entry()
    if sizes:
        median = number_entry(float(np.median(sizes)), DIGITS)
        worst = number_entry(max(sizes), DIGITS)
    beyond = sum(one.beyond for one in covered)
    return fraction_entry(len(covered), printed), median, worst, number_entry(beyond, 0)


def _farthest(compared: Sequence[Compared]) -> Compared:
    return max(compared, key=lambda one: abs(one.difference))


def _printed(quantity: Quantity) -> list[PrintedNumber]:
    return [published for published in printed_headline() if published.quantity == quantity]


def _beside_each_other(results: Results, name: str, quantity: Quantity, compared: Sequence[Compared]) -> Grid:
    """A panel for each data set, three columns for each backbone; what has no number of ours is left out."""
    printed = {(one.setting, one.method): one for one in _printed(quantity)}
    ours = {(one.setting, one.row): one for one in compared}
    here = {one.row for one in compared}
    rows = [row for row in ROWS if row in here]
    settings = settings_of(compared)
    backbones_here = {backbone for _, backbone in settings}
    backbones = [backbone for backbone in HEADLINE_BACKBONES if backbone in backbones_here]
    sections = []
    for dataset in dict.fromkeys(dataset for dataset, _ in settings):
        lines = []
        for row in rows:
            entries: list[Entry] = []
            for setting in product([dataset], backbones):
                entries += _three(ours.get((setting, row)), printed.get((setting, str(row.printed))))
            lines.append(Line(row.label, tuple(entries), row.id in GROUP_AWARE_IDS))
        sections.append(Section(DATASETS[dataset], tuple(lines), panel=True))
    unit = ""
    if quantity.group == LIFTED:
        unit = " group(s)"
    own = [one for one in compared if not one.is_other_form]
    grid = Grid(
        id=f"against_paper_{name}",
        title=f"Against the paper: {quantity.label} ({TABLE_NAMES[quantity]})",
        corner=("Method",),
        spanners=tuple(Spanner(HEADLINE_BACKBONES[backbone], COLUMNS) for backbone in backbones),
        sections=tuple(sections),
        notes=(_covered(own, len(printed)), ONE_PRINTED),
        about=(
            *synthetic_warning(results),
            f"Difference: ours - paper; marked beyond {TOLERANCE[quantity]:g}{unit}.",
        ),
        chapter=CHAPTER,
    )
    methods = {method for _, method in printed}
    wanted = tuple(row for row in ROWS if row.printed in methods)
    return RunsOfTable(results, tuple(rows), HEADLINE, [Place("", quantity=quantity)], wanted, exact=True).annotate(
        grid
    )


def _three(ours: Compared | None, printed: PrintedNumber | None) -> list[Entry]:
    """Ours, the paper's and the difference."""
    entries = [Entry(), Entry(), Entry()]
    if ours is not None:
        entries[0] = ours.ours
        entries[2] = ours.difference_entry
    if printed is not None:
        entries[1] = Entry(printed.text, printed.value, printed=printed.value)
    return entries


def _covered(compared: Sequence[Compared], printed: int) -> Note:
    if not compared:
        return Note("coverage", f"None of the {printed} numbers is covered by a run.")
    count, median, worst, beyond = (entry.text for entry in _differences(compared, printed, compared))
    return Note(
        "coverage",
        f"Covered {count} numbers; median absolute difference {median}, worst {worst} ({_farthest(compared).name}); "
        f"{beyond} beyond the tolerance.",
    )
