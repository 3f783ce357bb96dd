"""The rows of a study, and the table that shows them beside those that a paper prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from fairfr.report.study_runs import StudyRuns
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.notes import short_key
from fairfr.stored.run import Number, Run

CHAPTER = "Studies"


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """One printed row of a paper's study: its label, and the printed means of each method's cell, without their std.

    A cell that prints two numbers (AUROC / Brier) has two.
    """

    label: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]


class Measurement(NamedTuple):
    """A number of ours, in the paper's unit, with its spread over folds where that is shown."""

    value: float | None
    std: float | None = None

    @classmethod
    def of(cls, number: Number | None, with_std: bool = False) -> Measurement:
        """From a stored number, if there is one."""
        if number is None:
            return cls(None)
        if with_std:
            return cls(number.mean, number.std)
        return cls(number.mean)


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A row of a study's table: its labels, and for each method one number or several (AUROC and Brier).

    ``section``: its heading, such as a data set with its backbone. ``paper``: the labels of the row that the
    paper prints of the same thing; None where it prints none.
    """

    label: tuple[str, ...]
    values: Mapping[str, tuple[Measurement, ...]]
    section: str = ""
    paper: tuple[str, ...] | None = None


class ColumnSpec(NamedTuple):
    """A quantity of a table: its heading and its digits."""

    heading: str
    digits: int = 4


@dataclass(frozen=True, slots=True)
class StudyTable:
    """How the table of a study's rows looks.

    ``corner`` heads the labels, ``methods`` maps the columns to their headings, ``columns`` are the quantities of each.
    """

    title: str
    corner: tuple[str, ...]
    methods: Mapping[str, str]
    columns: tuple[ColumnSpec, ...]
    about: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def grid(self, runs: StudyRuns, rows: Sequence[StudyRow], printed: Sequence[PrintedRow]) -> Grid:
        """Ours and, where the paper prints such a row, the paper's to the right of it."""
        paper = {row.label: row for row in printed}
        beside: set[str] = set()  # methods of which the paper prints a number in one of these rows
        for row in rows:
            if row.paper in paper:
                beside.update(paper[row.paper].values)
        sections = []
        for heading, several in groupby(rows, key=lambda row: row.section):
            lines = [self._line(row, paper.get(row.paper or ()), beside) for row in several]
            sections.append(Section(heading, tuple(lines)))
        keys = ", ".join(sorted(short_key(run.result.key) for run in runs))
        return Grid(
            id=f"study_{runs.name}",
            title=self.title,
            corner=self.corner,
            spanners=tuple(Spanner(label, self._headings(method in beside)) for method, label in self.methods.items()),
            sections=tuple(sections),
            notes=(*self.notes, Note("keys", f"{keys}.", "Run keys", for_print=False)),
            about=self.about,
            source=runs.source,
            chapter=CHAPTER,
        )

    def _headings(self, has_paper: bool) -> tuple[str, ...]:
        """The columns of one method."""
        headings: list[str] = []
        for column in self.columns:
            headings.append(column.heading)
            if has_paper:
                headings.append("paper")
        return tuple(headings)

    def _line(self, row: StudyRow, printed: PrintedRow | None, beside: Collection[str]) -> Line:
        """``beside``: the methods that the paper prints."""
        entries: list[Entry] = []
        for method in self.methods:
            ours = row.values.get(method, ())
            theirs: Sequence[float] = ()
            if printed is not None:
                theirs = printed.values.get(method, ())
            for position, column in enumerate(self.columns):
                entries.append(_our_entry(ours, position, column))
                if method in beside:
                    entries.append(_printed_entry(theirs, position, column))
        return Line(", ".join(row.label), tuple(entries))


def _our_entry(numbers: Sequence[Measurement], position: int, column: ColumnSpec) -> Entry:
    if position >= len(numbers):
        return Entry()
    number = numbers[position]
    spread = ""
    if number.std is not None:
        spread = f"±{number.std:.{column.digits}f}"
    return number_entry(number.value, column.digits, spread=spread)


def _printed_entry(numbers: Sequence[float], position: int, column: ColumnSpec) -> Entry:
    if position >= len(numbers):
        return Entry()
    return number_entry(numbers[position], column.digits)


def measure_methods(
    methods: Iterable[str], find: Callable[[str], Run | None], measure: Callable[[Run], tuple[Measurement, ...]]
) -> dict[str, tuple[Measurement, ...]]:
    """``measure`` of the run that ``find`` gives for each method; a method without a run is left out."""
    values = {}
    for method in methods:
        run = find(method)
        if run is not None:
            values[method] = measure(run)
    return values
