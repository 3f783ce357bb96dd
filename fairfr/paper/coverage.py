"""Against the paper in one table: how many numbers are covered, how far apart they are, and whether ranks agree."""

from __future__ import annotations

from collections.abc import Sequence

from fairfr.paper.comparison import (
    CHAPTER,
    MIN_RANKED,
    TOLERANCE,
    Compared,
    compare_with_printed,
    difference_summary,
    largest_difference,
    spearman,
    synthetic_warning,
)
from fairfr.paper.order import DATASETS, HEADLINE, HEADLINE_BACKBONES, ORDER, ROWS
from fairfr.paper.printed import QUANTITIES, printed_headline
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.run import Reading
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.layout import Layout
from fairfr.report.tables.order import Setting
from fairfr.report.tables.table_notes import TableNotes


def coverage(runs: SelectedRuns, reading: Reading) -> Grid:
    """A row for each headline quantity, and one for all."""
    compared = compare_with_printed(runs, reading)
    by_quantity: dict[Quantity, list[Compared]] = {quantity: [] for quantity in QUANTITIES.values()}
    for one in compared:
        by_quantity[one.published.quantity].append(one)
    here = {(c.published.dataset, c.published.backbone) for c in compared}
    shown = [setting for setting in HEADLINE if setting in here]
    lines = tuple(_line(quantity, mine, shown) for quantity, mine in by_quantity.items())
    rates = [c for c in compared if c.published.quantity.group != LIFTED]
    overall = Line("All", (*difference_summary(compared, len(printed_headline()), rates), *(Entry() for _ in shown)))
    apart = "; ".join(f"{quantity.label} {largest_difference(mine)}" for quantity, mine in by_quantity.items() if mine)
    sections: tuple[Section, ...] = ()
    if compared:
        sections = (Section("", lines), Section("", (overall,)))
    notes = [
        Note(
            "units",
            "Differences of LU-AUROC and LD-TPR are in groups; the last row's median and worst leave them out. No "
            f"rank correlation: fewer than {MIN_RANKED} methods, or all equal on one side.",
        )
    ]
    if apart:
        notes.append(Note("farthest", f"{apart}.", "Farthest apart"))
    datasets = dict.fromkeys(dataset for dataset, _ in shown)
    bare = Grid(
        id="against_paper",
        title="Against the paper, summary",
        corner=("Table",),
        spanners=(
            Spanner("Absolute difference", ("covered", "median", "worst", "beyond")),
            *(_spanner(dataset, shown) for dataset in datasets),
        ),
        sections=sections,
        about=(
            *synthetic_warning(runs),
            f"{len(compared)} of its {len(printed_headline())} headline numbers are covered.",
            "Right: rank correlation (Spearman) of the methods' values, ours and the paper's, in each column.",
        ),
        notes=tuple(notes),
        chapter=CHAPTER,
    )
    alphas = frozenset(quantity.alpha for quantity in QUANTITIES.values() if quantity.alpha is not None)
    provenance = TableNotes(Layout(runs, reading, ORDER), ROWS, HEADLINE, alphas, exact=True, group_brier=True)
    return provenance.annotate(bare)


def _spanner(dataset: str, shown: Sequence[Setting]) -> Spanner:
    return Spanner(DATASETS[dataset], tuple(HEADLINE_BACKBONES[backbone] for of, backbone in shown if of == dataset))


def _line(quantity: Quantity, mine: Sequence[Compared], shown: Sequence[Setting]) -> Line:
    printed = sum(p.quantity == quantity for p in printed_headline())
    correlations = []
    for setting in shown:
        column = [c for c in mine if (c.published.dataset, c.published.backbone) == setting]
        rho = spearman([c.ours.value or 0.0 for c in column], [c.published.value for c in column])
        if rho is None:
            correlations.append(Entry())
        else:
            correlations.append(number_entry(rho, 2))
    label = f"{quantity.label} (tolerance {TOLERANCE[quantity]:g})"
    return Line(label, (*difference_summary(mine, printed, mine), *correlations))
