"""Ours beside the paper's: a companion to each headline table, and how far apart the two are on the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfr.core.types import F64
from fairfr.report.paper.numbers import DIGITS, GROUP_AWARE_IDS, RunNumbers
from fairfr.report.paper.published import (
    AUROC,
    BRIER,
    LD_TPR,
    LEVELS,
    LU_AUROC,
    QUANTITIES,
    TABLE_NAMES,
    TPR,
    WORST_AUROC,
    WORST_BRIER,
    WORST_TPR,
    Published,
    Quantity,
    headline,
)
from fairfr.report.readings import Reading
from fairfr.report.runs import Runs
from fairfr.report.tables.book import Book
from fairfr.report.tables.captions import Story
from fairfr.report.tables.grid import Cell, ColumnGroup, Grid, Line, Section
from fairfr.report.tables.order import DATASETS, HEADLINE, HEADLINE_BACKBONES, PAPER_ROWS, ROWS, Row

# What another seed, k-means start or embedding file moves. TPR at 1e-3 rests on about one false match in an RFW fold.
TOLERANCE = {
    AUROC: 0.005,
    WORST_AUROC: 0.010,
    BRIER: 0.005,
    WORST_BRIER: 0.010,
    TPR: 0.030,
    WORST_TPR: 0.050,
    LU_AUROC: 1.0,  # groups
    LD_TPR: 1.0,
}
MIN_RANKED = 3
ONE_PRINTED = (
    "The paper prints one AC-Density, against which both of our forms stand. Counts and the summary take the form of "
    "its text alone."
)
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Compared:
    """A printed cell of the paper and ours.

    ``difference`` is between the printed values; of two K/N it is in groups, of the paper's N.
    """

    published: Published
    ours: float
    text: str
    difference: float

    @property
    def beyond(self) -> bool:
        return abs(self.difference) > TOLERANCE[self.published.quantity] + _ROUNDING


def compare(runs: Runs, reading: Reading) -> list[Compared]:
    """Every headline cell of the paper for which there is a run with that number."""
    return _compare(runs, reading, headline())


def _compare(runs: Runs, reading: Reading, printed: Sequence[Published]) -> list[Compared]:
    numbers = RunNumbers(runs, reading)
    found = (_ours(numbers, published) for published in printed)
    return [compared for compared in found if compared is not None]


def _other_forms() -> list[Published]:
    """The printed cells against which a second form of a method stands too, under that form's id."""
    forms = [row for row in ROWS if row not in PAPER_ROWS]
    return [replace(cell, method=form.id) for form in forms for cell in headline() if cell.method == form.printed]


def companions(runs: Runs, reading: Reading) -> list[Grid]:
    """One grid for each headline table: ours, the paper's and the difference, cell by cell."""
    by_cell = {_where(c.published): c for c in _compare(runs, reading, [*headline(), *_other_forms()])}
    return [_companion(name, quantity, by_cell, runs, reading) for name, quantity in QUANTITIES.items()]


def coverage(runs: Runs, reading: Reading) -> Grid:
    """How many headline cells are covered, how far apart they are, and whether the methods stand in the same order."""
    compared = compare(runs, reading)
    by_quantity = {q: [c for c in compared if c.published.quantity == q] for q in QUANTITIES.values()}
    lines = tuple(_coverage_line(quantity, mine) for quantity, mine in by_quantity.items())
    rates = [c for c in compared if c.published.quantity.group != LEVELS]
    overall = Line("All", (*_counts(compared, len(headline()), rates), *(Cell() for _ in HEADLINE)))
    sections = (Section("", lines), Section("", (overall,)))
    farthest = "; ".join(f"{quantity.label} {_farthest(mine)}" for quantity, mine in by_quantity.items() if mine)
    story = Story(Book(runs, reading), ROWS, HEADLINE)
    return Grid(
        id="against_paper",
        caption=story.caption(
            "Against the paper, summary",
            *simulation(runs),
            f"{len(compared)} of its {len(headline())} headline cells are covered.",
            "Right: rank correlation (Spearman) of the methods' values, ours and the paper's, in each column.",
        ),
        corner=("Table",),
        groups=(
            ColumnGroup("Absolute difference", ("covered", "median", "worst", "beyond")),
            *(ColumnGroup(label, tuple(HEADLINE_BACKBONES.values())) for label in DATASETS.values()),
        ),
        sections=sections,
        notes=story.notes(
            sections,
            "Differences of LU-AUROC and LD-TPR are in groups; the last row's median and worst leave them out.",
            f"No rank correlation: fewer than {MIN_RANKED} methods, or all equal on one side.",
            f"Farthest apart: {farthest}." if farthest else "",
        ),
    )


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties at their mean rank; None where it is undefined."""
    if len(first) < MIN_RANKED or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> F64:
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: F64 = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def _ours(numbers: RunNumbers, published: Published) -> Compared | None:
    quantity, where = published.quantity, (published.dataset, published.backbone, published.method)
    value = numbers.value(quantity, *where)
    if value is None:
        return None
    if quantity.group != LEVELS:
        return Compared(published, value, f"{value:.{DIGITS}f}", round(value - published.value, DIGITS))
    level = numbers.level(quantity, *where)
    assert level is not None
    groups = int(published.text.split("/")[1])
    return Compared(published, value, str(level), round((value - published.value) * groups, DIGITS))


def _where(published: Published) -> tuple[Quantity, str, str, str]:
    return published.quantity, published.dataset, published.backbone, published.method


def _companion(
    name: str,
    quantity: Quantity,
    by_cell: dict[tuple[Quantity, str, str, str], Compared],
    runs: Runs,
    reading: Reading,
) -> Grid:
    own = {_where(p): p for p in headline() if p.quantity == quantity}
    printed = own | {_where(p): p for p in _other_forms() if p.quantity == quantity}
    covered = [by_cell[where] for where in own if where in by_cell]
    methods = {where[3] for where in printed}
    rows = tuple(row for row in ROWS if row.id in methods)
    sections = tuple(_method_section(row, quantity, printed, by_cell) for row in rows)
    unit = " group(s)" if quantity.group == LEVELS else ""
    story = Story(Book(runs, reading), rows, HEADLINE, by_group=quantity.group != "all")
    return Grid(
        id=f"against_paper_{name}",
        caption=story.caption(
            f"Against the paper: {quantity.label} ({TABLE_NAMES[quantity]})",
            *simulation(runs),
            f"Difference: ours - paper; marked beyond {TOLERANCE[quantity]:g}{unit}.",
        ),
        corner=("Method",),
        groups=tuple(ColumnGroup(label, tuple(HEADLINE_BACKBONES.values())) for label in DATASETS.values()),
        sections=sections,
        notes=story.notes(sections, _summary(covered, len(own)), ONE_PRINTED),
    )


def _method_section(
    row: Row,
    quantity: Quantity,
    printed: dict[tuple[Quantity, str, str, str], Published],
    by_cell: dict[tuple[Quantity, str, str, str], Compared],
) -> Section:
    ours, paper, difference = [], [], []
    for dataset, backbone in HEADLINE:
        where = (quantity, dataset, backbone, row.id)
        published, compared = printed.get(where), by_cell.get(where)
        paper.append(Cell() if published is None else Cell(published.text, published.value))
        ours.append(Cell() if compared is None else Cell(compared.text, compared.ours))
        difference.append(Cell() if compared is None else _difference(compared))
    rows = {"ours": ours, "paper": paper, "difference": difference}
    dagger = row.id in GROUP_AWARE_IDS
    return Section("", tuple(Line(f"{row.label}, {what}", tuple(cells), dagger) for what, cells in rows.items()))


def _difference(compared: Compared) -> Cell:
    digits = "+g" if compared.published.quantity.group == LEVELS else f"+.{DIGITS}f"
    # 0.0 + turns a negative zero into zero
    text = f"{0.0 + compared.difference:{digits}}"
    return Cell(text, compared.difference, tone="beyond" if compared.beyond else "plain")


def _summary(covered: Sequence[Compared], cells: int) -> str:
    if not covered:
        return f"None of the {cells} cells is covered by a run."
    count, median, worst, beyond = (cell.text for cell in _counts(covered, cells, covered))
    return (
        f"Covered {count} cells; median absolute difference {median}, worst {worst} ({_farthest(covered)}); "
        f"{beyond} beyond the tolerance."
    )


def _counts(covered: Sequence[Compared], cells: int, measured: Sequence[Compared]) -> tuple[Cell, ...]:
    """Cells covered, median and worst absolute difference of ``measured``, cells beyond the tolerance."""
    sizes = [abs(c.difference) for c in measured]
    spread = (float(np.median(sizes)), max(sizes)) if sizes else ()
    beyond = sum(c.beyond for c in covered)
    return (
        Cell(f"{len(covered)}/{cells}", len(covered) / cells),
        *([Cell(f"{size:.{DIGITS}f}", size) for size in spread] or [Cell(), Cell()]),
        Cell(str(beyond), beyond),
    )


def _farthest(compared: Sequence[Compared]) -> str:
    cell = max(compared, key=lambda c: abs(c.difference)).published
    label = next(row.label for row in ROWS if row.id == cell.method)
    return f"{label}, {DATASETS[cell.dataset]} {HEADLINE_BACKBONES[cell.backbone]}"


def _coverage_line(quantity: Quantity, mine: Sequence[Compared]) -> Line:
    cells = sum(p.quantity == quantity for p in headline())
    correlations = []
    for dataset, backbone in HEADLINE:
        column = [c for c in mine if (c.published.dataset, c.published.backbone) == (dataset, backbone)]
        rho = spearman([c.ours for c in column], [c.published.value for c in column])
        # 0.0 + turns a negative zero into zero
        correlations.append(Cell() if rho is None else Cell(f"{0.0 + round(rho, 2):.2f}", rho))
    label = f"{quantity.label} (tolerance {TOLERANCE[quantity]:g})"
    return Line(label, (*_counts(mine, cells, mine), *correlations))


def simulation(runs: Runs) -> tuple[str, ...]:
    """What a caption must say when our side was not computed on faces."""
    if runs.source == "files":
        return ()
    return ("This compares a SIMULATION with the paper: agreement or difference says nothing about its results.",)
