"""What a study is to the report: one declaration, from which its table, its figure and what claims ask of it follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fairfr.core.types import PairRule, Source
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.notes import short_key
from fairfr.report.tables.places import Place, printed_number
from fairfr.stored.order import Setting, TableOrder
from fairfr.stored.reading import Reading
from fairfr.stored.results import Results, Where
from fairfr.stored.run import Number, Run
from fairfr.stored.runs import newest_configurations
from fairfr.stored.selection import OF_STUDY, Selection, made_by_installed_code

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHAPTER = "Studies"
DIGITS = 4  # of the paper's studies
Values: TypeAlias = Mapping[str, tuple[Number | None, ...]]
"""For each method that has run its numbers; None: too few pairs."""


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """One printed row of a paper's study: its label, and the printed means of each method's cell, without their std.

    A cell that prints two numbers (AUROC / Brier) has two.
    """

    label: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]


class StudyRow(NamedTuple):
    """A row of a study's table, in the part that ``section`` heads.

    ``where``: of which runs it is. ``grouping``: whose groups are meant, if not the data set's own. ``paper``: the
    labels of the row that the paper prints of the same thing; None where it prints none.
    """

    heading: str
    where: Where
    section: str = ""
    grouping: str | None = None
    paper: tuple[str, ...] | None = None


def stored_number(results: Results, place: Place) -> Number | None:
    """The number that a run has stored."""
    run = results.find(place.where)
    quantity = place.quantity
    assert run is not None and quantity is not None
    return run.number(quantity.metric, quantity.group, place.grouping)


def row_of_each_setting(results: Results, paper: Mapping[Setting, str]) -> Iterator[StudyRow]:
    """A row for each data set and backbone: those that ``paper`` has labels of in its order, then others by name."""
    for setting in TableOrder(settings=tuple(paper)).sorted(results.settings):
        printed = None
        if setting in paper:
            printed = (paper[setting],)
        yield StudyRow(results.name(setting), {"setting": setting}, paper=printed)


def no_rows(results: Results) -> Iterable[StudyRow]:
    """For a study without such a table."""
    return ()


def no_numbers(results: Results) -> tuple[PrintedRow, ...]:
    """For a study whose numbers no claim needs, or that the paper prints."""
    return ()


def no_tables(results: Results) -> Sequence[Grid]:
    """For a study that has the table of its rows and no other."""
    return ()


def no_figure(results: Results) -> Figure | None:
    """For a study without a figure."""
    return None


@dataclass(frozen=True)
class Study:
    """One study, declared: what it varies, and what is made from its runs.

    Parameters
    ----------
    name : str
        Its yaml in conf/experiment; its table is ``study_<name>``.
    title : str
        Of the table of its rows; empty: there is no such table.
    corner : str
        What heads the labels of the rows.
    methods : mapping of str to str
        The headings of the table's columns by method, as the paper's numbers of the study name them.
    run_as : mapping of str to str
        The methods that run under another id than that.
    numbers : tuple of Place
        What is measured of each method.
    rows : callable
        The rows, from the study's runs. Claims are judged by those that have a ``paper`` label.
    measure : callable
        The number of a place that has runs; it is stored unless the study makes it from several runs or from scores.
    about, notes : tuple
        Of the table.
    printed : tuple of PrintedRow
        The rows that a paper prints of it.
    not_printed : callable
        Of a study that no paper prints: what claims are judged by.
    more_tables : callable
        Tables of another shape, which follow.
    figure : callable
        Its figure, or None.
    in_part : bool
        Whether a claim may be judged although some of the printed rows have no run.
    varies : tuple of str
        The parameters, by the last part of their keys, that it varies besides its protocol and training set. A run
        that differs from its yaml files in others is not shown unless it is asked for.
    rule : {"first", "both"} or None
        Which pairs belong to a group, whatever the reading of the page says; None: what it says.
    """

    name: str
    title: str = ""
    corner: str = ""
    methods: Mapping[str, str] = field(default_factory=dict)
    run_as: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[Place, ...] = ()
    rows: Callable[[Results], Iterable[StudyRow]] = no_rows
    measure: Callable[[Results, Place], Number | None] = stored_number
    about: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    printed: tuple[PrintedRow, ...] = ()
    not_printed: Callable[[Results], tuple[PrintedRow, ...]] = no_numbers
    more_tables: Callable[[Results], Sequence[Grid]] = no_tables
    figure: Callable[[Results], Figure | None] = no_figure
    in_part: bool = False
    varies: tuple[str, ...] = ()
    rule: PairRule | None = None

    def measured(self, results: Results) -> list[tuple[StudyRow, Values]]:
        """Our numbers, row by row."""
        return [(row, self._values(results, row)) for row in self.rows(results)]

    def _values(self, results: Results, row: StudyRow) -> Values:
        values = {}
        for method in self.methods:
            where = {**row.where, "method": self.run_as.get(method, method)}
            if results.every(where):
                place = Place(row.heading, where, grouping=row.grouping)
                values[method] = tuple(self.measure(results, number.within(place)) for number in self.numbers)
        return values

    def tables(self, results: Results) -> list[Grid]:
        """The table of its rows, if it has one, and its other tables."""
        grids: list[Grid] = []
        if self.title:
            grids.append(self._table(results))
        grids.extend(self.more_tables(results))
        return grids

    def as_printed(self, results: Results) -> tuple[PrintedRow, ...]:
        """Our numbers in place of the paper's, in its order and with its digits; empty where some are missing."""
        if not self.printed:
            return self.not_printed(results)
        ours = {row.paper: values for row, values in self.measured(results)}
        rows = []
        for printed in self.printed:
            values = _as_printed(printed, ours.get(printed.label, {}))
            if values is not None:
                rows.append(PrintedRow(printed.label, values))
        if len(rows) < len(self.printed) and not self.in_part:
            return ()
        return tuple(rows)

    def _table(self, results: Results) -> Grid:
        """Ours and, where the paper prints such a row, the paper's to the right of it."""
        measured = self.measured(results)
        paper = {row.label: row.values for row in self.printed}
        beside: set[str] = set()  # methods of which the paper prints a number in one of these rows
        for row, _ in measured:
            beside.update(paper.get(row.paper or (), {}))
        sections = []
        for heading, several in groupby(measured, key=lambda one: one[0].section):
            lines = [self._line(row, values, paper.get(row.paper or (), {}), beside) for row, values in several]
            sections.append(Section(heading, tuple(lines)))
        return Grid(
            id=f"study_{self.name}",
            title=self.title,
            corner=(self.corner,),
            spanners=tuple(Spanner(label, self._headings(method in beside)) for method, label in self.methods.items()),
            sections=tuple(sections),
            notes=(*self.notes, run_keys(results)),
            about=self.about,
            source=results.source,
            chapter=CHAPTER,
        )

    def _headings(self, has_paper: bool) -> tuple[str, ...]:
        """The columns of one method."""
        headings: list[str] = []
        for number in self.numbers:
            headings.append(number.heading)
            if has_paper:
                headings.append("paper")
        return tuple(headings)

    def _line(
        self, row: StudyRow, ours: Values, printed: Mapping[str, tuple[float, ...]], beside: Collection[str]
    ) -> Line:
        """``beside``: the methods that the paper prints."""
        entries: list[Entry] = []
        for method in self.methods:
            for position, place in enumerate(self.numbers):
                digits = place.form.digits
                if method in ours:
                    entries.append(printed_number(ours[method][position], place.form))
                else:
                    entries.append(Entry())
                if method in printed and position < len(printed[method]):
                    entries.append(number_entry(printed[method][position], digits))
                elif method in beside:
                    entries.append(Entry())
        return Line(row.heading, tuple(entries))


def run_keys(results: Results) -> Note:
    """In which runs a table's numbers are found."""
    keys = ", ".join(sorted(short_key(run.result.key) for run in results))
    return Note("keys", f"{keys}.", "Run keys", for_print=False)


def _as_printed(printed: PrintedRow, ours: Values) -> Mapping[str, tuple[float, ...]] | None:
    """Ours of every number that is printed; None where one is missing."""
    values = {}
    for method, numbers in printed.values.items():
        own = ours.get(method, ())[: len(numbers)]
        rounded = [round(number.mean, DIGITS) for number in own if number is not None and number.mean is not None]
        if len(rounded) < len(numbers):
            return None
        values[method] = tuple(rounded)
    return MappingProxyType(values)


def runs_by_study(
    studies: Iterable[Study], runs: Iterable[Run], source: Source, reading: Reading, selection: Selection
) -> dict[str, Results]:
    """The runs of each study by its name, those that ``selection`` admits; runs of other studies are left out.

    Of several configurations of a setting, such as two groupings, the newest counts. Of runs of one configuration the
    one of today's code counts, and of several of these the last.
    """
    completed = [run for run in runs if run.result.source == source and run.result.is_completed]
    found: dict[str, Results] = {}
    for study in studies:
        own = [run for run in completed if run.result.study == study.name]
        kept, _ = newest_configurations(selection.select_ignoring((*OF_STUDY, *study.varies), own))
        kept.sort(key=lambda run: (made_by_installed_code(run) is True, run.result.finished))
        newest: dict[Any, Run] = {_configuration(run): run for run in kept}
        if newest:
            found[study.name] = Results(newest.values(), source, replace(reading, rule=study.rule or reading.rule))
    return found


def _configuration(run: Run) -> Any:
    return (*run.cell[:2], run.result.method.id, repr(sorted(run.parameters.items(), key=str)))
