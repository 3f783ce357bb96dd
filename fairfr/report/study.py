"""What a study is to the report: a declaration, and the runs that carry its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fairfr.core.types import PairRule, Source
from fairfr.report.study_runs import StudyRuns
from fairfr.report.study_table import PrintedRow, StudyRow, StudyTable
from fairfr.report.tables.grid import Grid
from fairfr.stored.reading import Reading
from fairfr.stored.run import Run
from fairfr.stored.runs import newest_configurations
from fairfr.stored.selection import OF_STUDY, Selection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIGITS = 4  # of the paper's studies


def no_rows(runs: StudyRuns) -> Sequence[StudyRow]:
    """For a study whose numbers no claim needs."""
    return ()


def no_tables(runs: StudyRuns) -> Sequence[Grid]:
    """For a study that has the table of its rows and no other."""
    return ()


def no_figure(runs: StudyRuns) -> Figure | None:
    """For a study without a figure."""
    return None


@dataclass(frozen=True, slots=True)
class Study:
    """One study, declared: what it is called, what it varies, and what is made from its runs.

    Parameters
    ----------
    name : str
        Its yaml in conf/experiment; its table is ``study_<name>``.
    table : StudyTable or None
        How the table of ``rows`` looks; None: there is no such table.
    rows : callable
        Our numbers, row by row. Claims are judged by those that have a ``paper`` label.
    printed : tuple of PrintedRow
        The rows that a paper prints of it.
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
    table: StudyTable | None = None
    rows: Callable[[StudyRuns], Sequence[StudyRow]] = no_rows
    printed: tuple[PrintedRow, ...] = ()
    more_tables: Callable[[StudyRuns], Sequence[Grid]] = no_tables
    figure: Callable[[StudyRuns], Figure | None] = no_figure
    in_part: bool = False
    varies: tuple[str, ...] = ()
    rule: PairRule | None = None

    def tables(self, runs: StudyRuns) -> list[Grid]:
        """The table of its rows, if it has one, and its other tables."""
        grids: list[Grid] = []
        if self.table is not None:
            grids.append(self.table.grid(runs, self.rows(runs), self.printed))
        grids.extend(self.more_tables(runs))
        return grids

    def as_printed(self, runs: StudyRuns) -> tuple[PrintedRow, ...]:
        """Our numbers in place of the paper's, in its order and with its digits; empty where some are missing.

        Of a study that the paper does not have: all of our rows.
        """
        if not self.printed:
            return tuple(_in_full(row) for row in self.rows(runs))
        ours = {row.paper: row for row in self.rows(runs) if row.paper is not None}
        rows = []
        for printed in self.printed:
            own = ours.get(printed.label)
            if own is not None and _is_full(printed, own):
                rows.append(_in_print(printed, own))
        if len(rows) < len(self.printed) and not self.in_part:
            return ()
        return tuple(rows)


def _is_full(printed: PrintedRow, ours: StudyRow) -> bool:
    """Whether ours has every number that is printed."""
    for method, numbers in printed.values.items():
        own = ours.values.get(method, ())[: len(numbers)]
        if len(own) < len(numbers) or any(number.value is None for number in own):
            return False
    return True


def _in_full(ours: StudyRow) -> PrintedRow:
    values = {}
    for method, numbers in ours.values.items():
        values[method] = tuple(number.value for number in numbers if number.value is not None)
    return PrintedRow((ours.section, *ours.label), MappingProxyType(values))


def _in_print(printed: PrintedRow, ours: StudyRow) -> PrintedRow:
    values = {}
    for method, numbers in printed.values.items():
        own = ours.values[method][: len(numbers)]
        values[method] = tuple(round(number.value, DIGITS) for number in own if number.value is not None)
    return PrintedRow(printed.label, MappingProxyType(values))


def runs_by_study(
    studies: Iterable[Study], results: Iterable[Run], source: Source, reading: Reading, selection: Selection
) -> dict[str, StudyRuns]:
    """The runs of each study by its name, those that ``selection`` admits; runs of other studies are left out.

    Of several configurations of a setting, such as two groupings, the newest counts.
    """
    completed = [run for run in results if run.result.source == source and run.result.is_completed]
    found: dict[str, StudyRuns] = {}
    for study in studies:
        own = [run for run in completed if run.result.study == study.name]
        runs, _ = newest_configurations(selection.select_ignoring((*OF_STUDY, *study.varies), own))
        if runs:
            own_reading = replace(reading, rule=study.rule or reading.rule)
            found[study.name] = StudyRuns(study.name, source, own_reading, runs)
    return found
