"""What a study is to the report, and the table in which its numbers stand beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from fairfr.core.types import Source
from fairfr.report.configurations import newest_configurations
from fairfr.report.readings import Reading, Run
from fairfr.report.selection import OF_STUDY, Selection
from fairfr.report.study_runs import StudyRuns
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.provenance import short_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHAPTER = "Studies"
DIGITS = 4  # of the paper's studies


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
class Study:
    """One study: ``name`` is its yaml in conf/experiment, and its table is ``study_<name>``.

    ``tables`` and ``figure`` are made from its runs. ``printed`` are the rows that a paper prints of it, ``rows`` our
    numbers by which its claims are judged, those with a ``paper`` label; ``in_part``: a claim may be judged although
    some of the printed rows have no run. ``varies``: the parameters, by the last part of their keys, that it varies
    besides its protocol and training set. A run that differs from its yaml files in others is not shown unless it is
    asked for.
    """

    name: str
    tables: Callable[[StudyRuns], list[Grid]]
    rows: Callable[[StudyRuns], Sequence[StudyRow]] = lambda runs: ()
    figure: Callable[[StudyRuns], Figure | None] = lambda runs: None
    in_part: bool = False
    varies: tuple[str, ...] = ()
    printed: tuple[PrintedRow, ...] = ()

    def as_printed(self, runs: StudyRuns) -> tuple[PrintedRow, ...]:
        """Our numbers in place of the paper's, in its order and with its digits; empty where some are missing.

        Of a study that the paper does not have: all of our rows.
        """
        if not self.printed:
            return tuple(_in_full(row) for row in self.rows(runs))
        ours = {row.paper: row for row in self.rows(runs) if row.paper is not None}
        found = [(row, ours[row.label]) for row in self.printed if row.label in ours]
        rows = tuple(_in_print(printed, own) for printed, own in found if _is_full(printed, own))
        return rows if self.in_part or len(rows) == len(self.printed) else ()


@dataclass(frozen=True, slots=True)
class StudyTable:
    """How a table of ``rows`` beside the paper's looks.

    ``corner`` heads the labels, ``methods`` maps the columns to their headings, ``shown`` are the quantities of each.
    """

    name: str
    title: str
    corner: tuple[str, ...]
    methods: Mapping[str, str]
    shown: tuple[ColumnSpec, ...]
    about: tuple[str, ...] = ()
    notes: tuple[Note, ...] = field(default=())
    printed: tuple[PrintedRow, ...] = ()

    def grid(self, runs: StudyRuns, rows: Sequence[StudyRow]) -> Grid:
        """Ours and, where the paper prints such a row, the paper's to the right of it."""
        paper = {row.label: row for row in self.printed}
        beside = {method for row in rows if row.paper in paper for method in paper[row.paper].values}
        sections = tuple(
            Section(heading, tuple(self._line(row, paper.get(row.paper or ()), beside) for row in several))
            for heading, several in groupby(rows, key=lambda row: row.section)
        )
        keys = ", ".join(sorted(short_key(run.stored["key"]) for run in runs))
        return Grid(
            id=f"study_{self.name}",
            title=self.title,
            corner=self.corner,
            spanners=tuple(Spanner(label, self._heads(method in beside)) for method, label in self.methods.items()),
            sections=sections,
            notes=(*self.notes, Note("keys", f"{keys}.", "Run keys", for_print=False)),
            about=self.about,
            source=runs.source,
            chapter=CHAPTER,
        )

    def _heads(self, has_paper: bool) -> tuple[str, ...]:
        """The columns of one method."""
        return tuple(head for shown in self.shown for head in ((shown.heading, "paper")[: 1 + has_paper]))

    def _line(self, row: StudyRow, printed: PrintedRow | None, beside: Collection[str]) -> Line:
        """``beside``: the methods that the paper prints."""
        entries: list[Entry] = []
        for method in self.methods:
            theirs = () if printed is None else printed.values.get(method, ())
            for at, shown in enumerate(self.shown):
                entries.append(_entry(row.values.get(method, ()), at, shown))
                if method in beside:
                    entries.append(number_entry(theirs[at], shown.digits) if at < len(theirs) else Entry())
        return Line(", ".join(row.label), tuple(entries))


def _entry(numbers: Sequence[Measurement], at: int, shown: ColumnSpec) -> Entry:
    if at >= len(numbers):
        return Entry()
    number = numbers[at]
    spread = "" if number.std is None else f"±{number.std:.{shown.digits}f}"
    return number_entry(number.value, shown.digits, spread=spread)


def _is_full(printed: PrintedRow, ours: StudyRow) -> bool:
    return all(
        len(ours.values.get(method, ())) >= len(numbers)
        and all(number.value is not None for number in ours.values[method][: len(numbers)])
        for method, numbers in printed.values.items()
    )


def _in_full(ours: StudyRow) -> PrintedRow:
    values = {m: tuple(n.value for n in numbers if n.value is not None) for m, numbers in ours.values.items()}
    return PrintedRow((ours.section, *ours.label), MappingProxyType(values))


def _in_print(printed: PrintedRow, ours: StudyRow) -> PrintedRow:
    values = {
        method: tuple(round(n.value, DIGITS) for n in ours.values[method][: len(numbers)] if n.value is not None)
        for method, numbers in printed.values.items()
    }
    return PrintedRow(printed.label, MappingProxyType(values))


def runs_by_study(
    studies: Iterable[Study], results: Iterable[Run], source: Source, reading: Reading, selection: Selection
) -> dict[str, StudyRuns]:
    """The runs of each study by its name, those that ``selection`` admits; runs of other studies are left out.

    Of several configurations of a setting, such as two groupings, the newest counts.
    """
    completed = [run for run in results if run.stored["source"] == source and run.stored["status"] == "completed"]
    found: dict[str, StudyRuns] = {}
    for study in studies:
        own = [run for run in completed if run.stored.get("study") == study.name]
        runs, _ = newest_configurations(selection.select_ignoring((*OF_STUDY, *study.varies), own))
        if runs:
            found[study.name] = StudyRuns(study.name, source, reading, runs)
    return found
