"""A table is panels x rows x columns of places: together they say of which run an entry is, and which number of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fairfr.core.names import ALL
from fairfr.report.quantity import LIFTED, Quantity, lifted_groups
from fairfr.report.tables.grid import Entry, Line, Section, fraction_entry, mark_best, number_entry, tied_entry
from fairfr.stored.order import BASELINE, MethodRow, Setting
from fairfr.stored.results import Results, Where
from fairfr.stored.run import Number, Run


@dataclass(frozen=True, slots=True)
class Form:
    """How a number is printed.

    ``scale`` multiplies it, ``spread`` adds the std over folds where there are several. ``pooled``: the value over all
    held-out pairs together, not the mean over folds. ``compared``: the best is bold, if the metric has a direction.
    ``mark``: what a table adds to its entries.
    """

    digits: int = 3
    scale: float = 1
    spread: bool = False
    pooled: bool = False
    compared: bool = True
    mark: Callable[[Entry, Run, Quantity], Entry] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """What a panel, a row or a column says of its entries; what it leaves open, the others say.

    Parameters
    ----------
    heading : str
        Stands above or before them.
    where : mapping
        Of which run they are, as ``Results.find`` takes it.
    quantity : Quantity or None
        Which number of the run.
    grouping : str or None
        Whose groups are meant, if not those of the data set's own grouping.
    form : Form
        How the number is printed; it goes with the quantity.
    """

    heading: str
    where: Where = field(default_factory=dict)
    quantity: Quantity | None = None
    grouping: str | None = None
    form: Form = Form()

    def within(self, outer: Place) -> Place:
        """Both together."""
        number = self
        if self.quantity is None:
            number = outer
        return Place(
            self.heading,
            {**outer.where, **self.where},
            number.quantity,
            self.grouping or outer.grouping,
            number.form,
        )

    @property
    def higher_is_better(self) -> bool | None:
        """None: nothing is bold."""
        if self.quantity is None or not self.form.compared:
            return None
        return self.quantity.higher_is_better


Block: TypeAlias = tuple[str, Sequence[Place]]
"""Rows under a heading ("" = none)."""
EVERYWHERE = Place("")


def number(heading: str, metric: str, group: str = ALL, **form: Any) -> Place:
    """``number("AUROC", "auroc", "worst", digits=2)``: a metric, and how it is printed."""
    return Place(heading, quantity=Quantity(metric, group), form=Form(**form))


def percent(heading: str, metric: str, group: str = ALL) -> Place:
    """In percent with two decimals and its spread, as the paper's text quotes it."""
    return number(heading, metric, group, digits=2, scale=100, spread=True)


def at_setting(heading: str, setting: Setting) -> Place:
    """A data set with a backbone."""
    return Place(heading, {"setting": setting})


def row_places(blocks: Iterable[tuple[str, Iterable[MethodRow]]]) -> list[Block]:
    """Blocks of methods as places, each in the row that shows it."""
    found: list[Block] = []
    for heading, rows in blocks:
        found.append((heading, [Place(row.label, {"row": row.label}) for row in rows]))
    return found


RESULT_COLUMNS = (
    number("AUROC", "auroc"),
    number("TPR@1e-3", "tpr_at_fpr_1e-3"),
    number("Brier", "brier"),
    number("ECE", "ece_15"),
    number("worst\nAUROC", "auroc", "worst"),
    number("worst\nTPR@1e-3", "tpr_at_fpr_1e-3", "worst"),
    number("worst\nBrier", "brier", "worst"),
)
"""The few numbers by which runs are listed, in the terminal and elsewhere."""


def entry(run: Run, place: Place, baseline: Run | None = None) -> Entry:
    """What a run prints at a place; the Baseline's run of its setting is there for groups lifted."""
    quantity = place.quantity
    assert quantity is not None
    if quantity.group == LIFTED:
        found = _lifted(run, baseline, quantity.metric)
    else:
        found = _number(run, quantity, place)
    if quantity.alpha is not None and run.is_tied(quantity.alpha):
        found = tied_entry(found)
    if place.form.mark is not None:
        found = place.form.mark(found, run, quantity)
    return found


def _number(run: Run, quantity: Quantity, place: Place) -> Entry:
    printed = printed_number(run.number(quantity.metric, quantity.group, place.grouping), place.form)
    if not printed.text and quantity.group != ALL and not run.has_groups:
        return Entry(missing="no groups")
    return printed


def printed_number(found: Number | None, form: Form) -> Entry:
    """What is printed of a number; None: too few pairs."""
    if found is None:
        return Entry(missing="too few pairs")
    value = found.mean
    if form.pooled:
        value = found.pooled
    spread = ""
    if form.spread and found.folds > 1 and found.std is not None:
        spread = f"±{form.scale * found.std:.{form.digits}f}"
    return number_entry(value, form.digits, scale=form.scale, spread=spread)


def _lifted(run: Run, baseline: Run | None, metric: str) -> Entry:
    if baseline is None or run is baseline:
        return Entry()
    found = lifted_groups(run, baseline, metric)
    if found is not None:
        return fraction_entry(found.lifted, found.groups)
    if run.has_groups:
        return Entry(missing="too few pairs")
    return Entry(missing="no groups")


def line(results: Results, row: Place, columns: Sequence[Place], panel: Place = EVERYWHERE) -> Line:
    """One row of entries. A method's dagger comes from what its runs declare, or from the order where there are none.

    Nothing is printed where there is no run.
    """
    entries = []
    declared = []
    for column in columns:
        place = column.within(row).within(panel)
        run = results.find(place.where)
        if run is None:
            entries.append(Entry())
            continue
        baseline = None
        if place.quantity is not None and place.quantity.group == LIFTED:
            baseline = results.find({**place.where, "row": BASELINE.label})
        entries.append(entry(run, place, baseline))
        declared.append(run.needs_groups)
    return Line(row.heading, tuple(entries), _has_dagger(results, row, declared))


def _has_dagger(results: Results, row: Place, declared: Sequence[bool]) -> bool:
    if "row" not in row.where:
        return False
    if declared:
        return any(declared)
    return row.where["row"] in [aware.label for aware in results.order.group_aware]


def sections(
    results: Results, blocks: Sequence[Block], columns: Sequence[Place], panel: Place = EVERYWHERE
) -> tuple[Section, ...]:
    """The rows of the blocks, the best label-free value of each column in bold; the panel's heading is the first."""
    lines: list[Line] = []
    for _, rows in blocks:
        lines += [line(results, row, columns, panel) for row in rows]
    marked = mark_best(lines, [column.within(panel).higher_is_better for column in columns])
    found = []
    start = 0
    for heading, rows in blocks:
        end = start + len(rows)
        found.append(Section(heading, tuple(marked[start:end])))
        start = end
    if panel.heading and found:
        heading = "; ".join(filter(None, (panel.heading, found[0].heading)))
        found[0] = replace(found[0], heading=heading, panel=True)
    return tuple(found)
