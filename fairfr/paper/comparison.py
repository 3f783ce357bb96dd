"""Ours against the paper's, number by number and in one table: how far apart, and whether by more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from fairfr.core.types import F64
from fairfr.paper.numbers import DIGITS, RunNumbers
from fairfr.paper.order import DATASETS, HEADLINE, HEADLINE_BACKBONES, PAPER_ROWS, ROWS
from fairfr.paper.printed import (
    AUROC,
    BRIER,
    LD_TPR,
    LU_AUROC,
    QUANTITIES,
    TPR,
    WORST_AUROC,
    WORST_BRIER,
    WORST_TPR,
    PrintedNumber,
    printed_headline,
)
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, Tone, fraction_entry, number_entry
from fairfr.report.tables.notes import RunsOfTable
from fairfr.report.tables.places import Place
from fairfr.stored.order import Setting
from fairfr.stored.results import Results

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
CHAPTER = "Against the paper"
MIN_RANKED = 3
_ROUNDING = 1e-9

Key: TypeAlias = tuple[Quantity, str, str, str]
"""Quantity, data set, backbone and method of a printed number."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A printed number of the paper and ours.

    ``difference`` is between the printed values; of two K/N it is in groups, of the paper's N.
    """

    published: PrintedNumber
    ours: Entry
    difference: float

    @property
    def beyond(self) -> bool:
        return abs(self.difference) > TOLERANCE[self.published.quantity] + _ROUNDING

    @property
    def difference_entry(self) -> Entry:
        """The difference as printed, marked where it is beyond the tolerance."""
        digits = DIGITS
        if self.published.quantity.group == LIFTED and self.difference.is_integer():
            digits = 0
        tone: Tone = "plain"
        if self.beyond:
            tone = "beyond"
        return number_entry(self.difference, digits, sign="+", tone=tone)


def compare_with_printed(runs: Results) -> list[Compared]:
    """Every headline number of the paper for which there is a run that gives it."""
    return _compare(runs, printed_headline())


def compare_all_forms(runs: Results) -> dict[Key, Compared]:
    """As ``compare_with_printed``, also the second form of a method, under that form's id."""
    return {printed_key(c.published): c for c in _compare(runs, [*printed_headline(), *other_forms()])}


def _compare(runs: Results, printed: Sequence[PrintedNumber]) -> list[Compared]:
    numbers = RunNumbers(runs)
    found = (_ours(numbers, published) for published in printed)
    return [compared for compared in found if compared is not None]


def other_forms() -> list[PrintedNumber]:
    """The printed numbers that a second form of a method is compared with too, under that form's id."""
    found = []
    for form in ROWS:
        if form not in PAPER_ROWS:
            same_method = [one for one in printed_headline() if one.method == form.printed]
            found += [replace(one, method=form.id) for one in same_method]
    return found


def printed_key(published: PrintedNumber) -> Key:
    """By what a printed number is looked up."""
    return published.quantity, published.dataset, published.backbone, published.method


def _ours(numbers: RunNumbers, published: PrintedNumber) -> Compared | None:
    quantity = published.quantity
    where = (published.dataset, published.backbone, published.method)
    value = numbers.value(quantity, *where)
    if value is None:
        return None
    if quantity.group != LIFTED:
        spread = numbers.instead_of_ties(quantity, *where)
        return Compared(published, number_entry(value, DIGITS, spread=spread), round(value - published.value, DIGITS))
    level = numbers.level(quantity, *where)
    assert level is not None
    difference = round((value - published.value) * published.groups, DIGITS)
    return Compared(published, fraction_entry(level.lifted, level.groups), difference)


def difference_summary(covered: Sequence[Compared], printed: int, measured: Sequence[Compared]) -> tuple[Entry, ...]:
    """Numbers covered, median and worst absolute difference of ``measured``, numbers beyond the tolerance."""
    sizes = [abs(c.difference) for c in measured]
    median = Entry()
    worst = Entry()
    if sizes:
        median = number_entry(float(np.median(sizes)), DIGITS)
        worst = number_entry(max(sizes), DIGITS)
    beyond = sum(c.beyond for c in covered)
    return fraction_entry(len(covered), printed), median, worst, number_entry(beyond, 0)


def largest_difference(compared: Sequence[Compared]) -> str:
    """Where the two are farthest apart."""
    one = max(compared, key=lambda c: abs(c.difference)).published
    label = next(row.label for row in ROWS if row.id == one.method)
    return f"{label}, {DATASETS[one.dataset]} {HEADLINE_BACKBONES[one.backbone]}"


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties at their mean rank; None where it is undefined."""
    if len(first) < MIN_RANKED or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> F64:
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: F64 = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def synthetic_warning(runs: Results) -> tuple[str, ...]:
    """What a caption must say when our side was not computed on faces."""
    if runs.source == "files":
        return ()
    return ("This compares a SIMULATION with the paper: agreement or difference says nothing about its results.",)


def coverage(results: Results) -> Grid:
    """A row for each headline quantity, and one for all."""
    compared = compare_with_printed(results)
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
            *synthetic_warning(results),
            f"{len(compared)} of its {len(printed_headline())} headline numbers are covered.",
            "Right: rank correlation (Spearman) of the methods' values, ours and the paper's, in each column.",
        ),
        notes=tuple(notes),
        chapter=CHAPTER,
    )
    numbers = [Place("", quantity=quantity) for quantity in QUANTITIES.values()]
    return RunsOfTable(results, ROWS, HEADLINE, numbers, exact=True).annotate(bare)


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
