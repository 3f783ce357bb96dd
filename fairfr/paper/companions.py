"""A companion to each headline table: ours, the paper's and the difference side by side, a row for each method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fairfr.paper.comparison import (
    CHAPTER,
    TOLERANCE,
    Compared,
    Key,
    compare_all_forms,
    difference_summary,
    largest_difference,
    other_forms,
    printed_key,
    synthetic_warning,
)
from fairfr.paper.order import DATASETS, GROUP_AWARE_IDS, HEADLINE, HEADLINE_BACKBONES, ROWS
from fairfr.paper.printed import QUANTITIES, TABLE_NAMES, PrintedNumber, printed_headline
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.tables.notes import RunsOfTable
from fairfr.report.tables.places import Place
from fairfr.stored.order import MethodRow
from fairfr.stored.results import Results

COLUMNS = ("ours", "paper", "difference")
ONE_PRINTED = Note(
    "one_printed",
    "The paper prints one AC-Density, against which both of our forms stand. Counts and the summary take the form of "
    "its text alone.",
)


def companions(results: Results) -> list[Grid]:
    """One table for each headline quantity: a panel for each data set, three columns for each backbone.

    Data sets, backbones and methods without a number of ours are left out, and so are tables without any: there is
    nothing to compare, which the summary says.
    """
    compared = compare_all_forms(results)
    covered = {key[0] for key in compared}
    return [
        _companion(name, quantity, compared, results) for name, quantity in QUANTITIES.items() if quantity in covered
    ]


def _companion(name: str, quantity: Quantity, compared: Mapping[Key, Compared], results: Results) -> Grid:
    own = {printed_key(p): p for p in printed_headline() if p.quantity == quantity}
    printed = own | {printed_key(p): p for p in other_forms() if p.quantity == quantity}
    here = [key for key in printed if key in compared]
    datasets_here = {dataset for _, dataset, _, _ in here}
    backbones_here = {backbone for _, _, backbone, _ in here}
    backbones = [backbone for backbone in HEADLINE_BACKBONES if backbone in backbones_here]
    rows = _rows_among(method for _, _, _, method in here)
    sections = []
    for dataset, label in DATASETS.items():
        if dataset in datasets_here:
            lines = [_line(row, quantity, dataset, backbones, printed, compared) for row in rows]
            sections.append(Section(label, tuple(lines), panel=True))
    unit = ""
    if quantity.group == LIFTED:
        unit = " group(s)"
    bare = Grid(
        id=f"against_paper_{name}",
        title=f"Against the paper: {quantity.label} ({TABLE_NAMES[quantity]})",
        corner=("Method",),
        spanners=tuple(Spanner(HEADLINE_BACKBONES[backbone], COLUMNS) for backbone in backbones),
        sections=tuple(sections),
        notes=(_summary([compared[key] for key in own if key in compared], len(own)), ONE_PRINTED),
        about=(
            *synthetic_warning(results),
            f"Difference: ours - paper; marked beyond {TOLERANCE[quantity]:g}{unit}.",
        ),
        chapter=CHAPTER,
    )
    wanted = _rows_among(method for _, _, _, method in printed)
    provenance = RunsOfTable(results, rows, HEADLINE, [Place("", quantity=quantity)], wanted, exact=True)
    return provenance.annotate(bare)


def _rows_among(methods: Iterable[str]) -> tuple[MethodRow, ...]:
    """The rows of these methods, in the paper's order."""
    chosen = set(methods)
    return tuple(row for row in ROWS if row.id in chosen)


def _line(
    row: MethodRow,
    quantity: Quantity,
    dataset: str,
    backbones: Sequence[str],
    printed: Mapping[Key, PrintedNumber],
    compared: Mapping[Key, Compared],
) -> Line:
    entries: list[Entry] = []
    for backbone in backbones:
        key = (quantity, dataset, backbone, row.id)
        ours = Entry()
        theirs = Entry()
        difference = Entry()
        if key in compared:
            ours = compared[key].ours
            difference = compared[key].difference_entry
        if key in printed:
            theirs = Entry(printed[key].text, printed[key].value, printed=printed[key].value)
        entries += [ours, theirs, difference]
    return Line(row.label, tuple(entries), row.id in GROUP_AWARE_IDS)


def _summary(covered: Sequence[Compared], printed: int) -> Note:
    if not covered:
        return Note("coverage", f"None of the {printed} numbers is covered by a run.")
    count, median, worst, beyond = (entry.text for entry in difference_summary(covered, printed, covered))
    return Note(
        "coverage",
        f"Covered {count} numbers; median absolute difference {median}, worst {worst} ({largest_difference(covered)}); "
        f"{beyond} beyond the tolerance.",
    )
