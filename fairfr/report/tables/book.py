"""What a set of tables is about: which runs, read how, and the rows and settings that they fill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from fairfr.report.readings import Reading, Result
from fairfr.report.runs import Runs
from fairfr.report.tables.columns import Measure
from fairfr.report.tables.grid import Cell, Line, Section, mark_best
from fairfr.report.tables.order import (
    ADAPTIVE,
    BACKBONES,
    BASELINE,
    DATASETS,
    GROUP_AWARE,
    GROUP_AWARE_HEADING,
    LABEL_FREE,
    ROWS,
    Row,
)

Setting: TypeAlias = tuple[str, str]
OTHER_HEADING = "Other methods that have run"


class Place(NamedTuple):
    """What a column shows: a measure of a data set and backbone."""

    setting: Setting
    measure: Measure


@dataclass(frozen=True)
class Book:
    """Runs in one reading. ``all_methods`` adds every other method that has run to the paper's rows.

    Variants that were asked for have a row in any case.
    """

    runs: Runs
    reading: Reading
    all_methods: bool = False

    def result(self, setting: Setting, row: Row) -> Result | None:
        return self.runs.get(*setting, row.method(self.reading))

    @cached_property
    def others(self) -> tuple[Row, ...]:
        """Methods and variants that have run and have no row in the paper, by id."""
        known, taken = {row.method(self.reading) for row in ROWS}, {row.label for row in ROWS}
        found = {result.cell[2]: result.label for result in self.runs if self.all_methods or result.variant}
        return tuple(
            Row(id, f"{label} ({id})" if label in taken else label, id, id)
            for id, label in sorted(found.items())
            if id not in known
        )

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Data sets with backbones that have runs, looked up once."""
        return self.runs.settings

    @cached_property
    def _labels(self) -> dict[str, str]:
        own = {r.stored[noun]["id"]: r.stored[noun]["label"] for r in self.runs for noun in ("dataset", "backbone")}
        return {**own, **DATASETS, **BACKBONES}

    def label(self, id: str) -> str:
        """What a data set or backbone is called in print."""
        return self._labels.get(id, id)

    def some_result(self, setting: Setting) -> Result | None:
        """Any run of a setting: they share its data."""
        return next((result for result in self.runs if result.cell[:2] == setting), None)

    def line(self, row: Row, places: Sequence[Place]) -> Line:
        """One row of cells; the dagger comes from what the runs declare, or from the paper where there are none."""
        results = [self.result(place.setting, row) for place in places]
        cells = [
            Cell()
            if result is None
            else place.measure.cell_of(result, self.result(place.setting, BASELINE), self.reading)
            for result, place in zip(results, places, strict=True)
        ]
        declared = [result.needs_groups for result in results if result is not None]
        return Line(row.label, tuple(cells), any(declared) if declared else row in GROUP_AWARE)

    def blocks(self, without: Iterable[str] = ()) -> list[tuple[str, tuple[Row, ...]]]:
        """The paper's blocks of rows with their headings, less the methods that a table leaves out."""
        left_out = set(without)
        blocks = (
            ("", LABEL_FREE),
            (GROUP_AWARE_HEADING, GROUP_AWARE),
            ("", ADAPTIVE),
            (OTHER_HEADING, self.others),
        )
        kept = [(heading, tuple(row for row in rows if row.id not in left_out)) for heading, rows in blocks]
        return [(heading, rows) for heading, rows in kept if rows]

    def sections(self, places: Sequence[Place], panel: str = "", without: Iterable[str] = ()) -> tuple[Section, ...]:
        """Rows in the paper's blocks, the best label-free value of each column in bold; ``panel`` heads the first."""
        blocks = self.blocks(without)
        lines = [self.line(row, places) for _, rows in blocks for row in rows]
        marked = iter(mark_best(lines, [place.measure.higher_is_better for place in places]))
        sections = [Section(heading, tuple(next(marked) for _ in rows)) for heading, rows in blocks]
        if panel:
            sections[0] = Section(panel, sections[0].lines, panel=True)
        return tuple(sections)
