"""Which runs fill which rows, in one reading and one order of methods, and the commands for runs that are missing."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fairfr.core.run_key import override_text
from fairfr.core.storage import open_regular
from fairfr.report.tables.columns import Column
from fairfr.report.tables.grid import Entry, Line, Section, mark_best
from fairfr.report.tables.order import BASELINE, Block, MethodRow, Setting, TableOrder, rows_of
from fairfr.stored.reading import Reading
from fairfr.stored.run import Run
from fairfr.stored.runs import SelectedRuns

OTHER_HEADING = "Other methods that have run"

DEFAULT_DATA_ROOT = "data"
Absent: TypeAlias = Mapping[Setting, Sequence[str]]
"""The methods that have not run, by data set and backbone."""


class SettingColumn(NamedTuple):
    """What one column of a table shows: a quantity of a data set and backbone."""

    setting: Setting
    column: Column


@dataclass(frozen=True)
class Layout:
    """Runs in one reading. Every method and every chosen variant that has run has a row."""

    runs: SelectedRuns
    order: TableOrder

    @property
    def reading(self) -> Reading:
        """In which its runs are read."""
        return self.runs.reading

    def run(self, setting: Setting, row: MethodRow) -> Run | None:
        """The run that fills a row; where the paper's variant has not run, that of the plain method.

        A run that fills a row of the paper fills no other.
        """
        for method in row.methods(self.reading):
            run = self.runs.get(*setting, method)
            if run is None:
                continue
            if row in self.order.rows or id(run) not in self._filling:
                return run
            return None
        return None

    @cached_property
    def _filling(self) -> set[int]:
        """The runs that fill a row of the paper."""
        filling: set[int] = set()
        for setting in self.runs.settings:
            filling.update(id(self.run(setting, row)) for row in self.order.rows)
        return filling

    def replaced(self, rows: Iterable[MethodRow], settings: Collection[Setting]) -> dict[MethodRow, list[Setting]]:
        """Rows that a plain method fills because the paper's variant has not run, and where."""
        found = {}
        for row in rows:
            where = [setting for setting in settings if self._is_replaced(setting, row)]
            if where:
                found[row] = where
        return found

    def _is_replaced(self, setting: Setting, row: MethodRow) -> bool:
        run = self.run(setting, row)
        return run is not None and run.cell[2] != row.method(self.reading)

    @cached_property
    def others(self) -> tuple[MethodRow, ...]:
        """Methods and variants with a run that fills no row of the paper, by id; no two rows have one label."""
        found = {run.cell[2]: run.label for run in self.runs if id(run) not in self._filling}
        taken = Counter([row.label for row in self.order.rows] + list(found.values()))
        rows = []
        for method, label in sorted(found.items()):
            if taken[label] > 1:
                label = f"{label} ({method})"
            rows.append(MethodRow(method, label, method, method))
        return tuple(rows)

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Data sets with backbones that have runs: a user's own first, by name, then the paper's in its order."""
        found = self.order.sorted(self.runs.settings)
        own = [setting for setting in found if setting not in self.order.settings]
        return (*own, *(setting for setting in found if setting in self.order.settings))

    @cached_property
    def _labels(self) -> dict[str, str]:
        own = {}
        for run in self.runs:
            for named in (run.result.dataset, run.result.backbone):
                own[named.id] = named.label
        return {**own, **self.order.datasets, **self.order.backbones}

    def label(self, id: str) -> str:
        """What a data set or backbone is called in print."""
        return self._labels.get(id, id)

    def any_run(self, setting: Setting) -> Run | None:
        """Any run of a setting: they share its data."""
        return next((run for run in self.runs if run.cell[:2] == setting), None)

    def line(self, row: MethodRow, places: Sequence[SettingColumn]) -> Line:
        """One row of entries; the dagger comes from what the runs declare, or from the paper where there are none."""
        entries = []
        declared = []
        for place in places:
            run = self.run(place.setting, row)
            if run is None:
                entries.append(Entry())
            else:
                baseline = self.run(place.setting, BASELINE)
                entries.append(place.column.entry(run, baseline))
                declared.append(run.needs_groups)
        dagger = row in self.order.group_aware
        if declared:
            dagger = any(declared)
        return Line(row.label, tuple(entries), dagger)

    def blocks(
        self, settings: Collection[Setting], *, without: Iterable[str] = (), only_run: bool = False
    ) -> list[Block]:
        """The paper's blocks of rows, then ours and other methods that have run in one of the settings.

        ``without``: methods that a table leaves out. ``only_run``: nor are there rows of the paper without a run.
        """
        beyond = tuple(row for row in self.others if row.id.partition(" ")[0] in self.order.beyond)
        rest = tuple(row for row in self.others if row not in beyond)
        blocks = [(heading, rows, only_run) for heading, rows in self.order.blocks]
        blocks += [(self.order.beyond_heading, beyond, True), (OTHER_HEADING, rest, True)]
        left_out = set(without)
        kept: list[Block] = []
        for heading, rows, needs_run in blocks:
            rows = tuple(row for row in rows if row.id not in left_out)
            if needs_run:
                rows = tuple(row for row in rows if self._has_run(row, settings))
            if rows:
                kept.append((heading, rows))
        return kept

    def _has_run(self, row: MethodRow, settings: Collection[Setting]) -> bool:
        return any(self.run(setting, row) is not None for setting in settings)

    def sections(
        self, places: Sequence[SettingColumn], blocks: Sequence[Block], panel: str = ""
    ) -> tuple[Section, ...]:
        """The rows of the blocks, the best label-free value of each column in bold; ``panel`` heads the first."""
        lines = [self.line(row, places) for row in rows_of(blocks)]
        marked = mark_best(lines, [place.column.higher_is_better for place in places])
        sections = []
        start = 0
        for heading, rows in blocks:
            end = start + len(rows)
            sections.append(Section(heading, tuple(marked[start:end])))
            start = end
        if panel and sections:
            first = sections[0]
            heading = panel
            if first.heading:
                heading = f"{panel}; {first.heading}"
            sections[0] = replace(first, heading=heading, panel=True)
        return tuple(sections)


def is_called(wanted: str, *names: str) -> bool:
    """Whether a method or variant that a person typed is one of these names, apart from capitals and blanks."""
    return _bare(wanted) in map(_bare, names)


def _bare(name: str) -> str:
    return "".join(name.casefold().split())


def missing_run_commands(absent: Absent, layout: Layout) -> tuple[str, ...]:
    """As few sweeps as run exactly the absent methods: equal lists of methods share a command."""
    by_dataset: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for setting, methods in absent.items():
        if methods:
            by_dataset[setting[0], tuple(methods), _options(setting, layout)].append(_backbone(setting, layout))
    together: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for (dataset, wanted, options), backbones in by_dataset.items():
        together[tuple(backbones), wanted, options].append(dataset)
    commands = []
    for (shared, wanted, options), datasets in together.items():
        choices = [
            f"dataset={','.join(datasets)}",
            f"backbone={','.join(shared)}",
            f"method={','.join(wanted)}",
        ]
        commands.append(shlex.join(["fairfr", "run", "-m", *choices, *options]))
    return tuple(commands)


def experiment_command(layout: Layout, experiment: str, setting: Setting) -> str:
    """A named sweep that has this setting, on files below the same root as the runs."""
    return shlex.join(["fairfr", "run", "-m", f"experiment={experiment}", *_options(setting, layout)])


def _backbone(setting: Setting, layout: Layout) -> str:
    """Its name; ``scores`` for a matcher with scores only, which is chosen by its column."""
    if _column(layout.any_run(setting)) is None:
        return setting[1]
    return "scores"


def _column(run: Run | None) -> str | None:
    column: str | None = _identity(run, "backbone").get("column")
    return column


def _options(setting: Setting, layout: Layout) -> tuple[str, ...]:
    """What must be typed beside names so that a new run can be compared with those that exist."""
    run = layout.any_run(setting)
    options = {key: override_text(value) for key, value in layout.runs.shared.items()}
    grouping = _identity(run, "dataset").get("grouping")
    column = _column(run)
    if setting[0] not in layout.order.datasets and grouping:
        options.setdefault("dataset.grouping", override_text(grouping))
    if column is not None:
        options["backbone.column"] = column
    root = _data_root(run or next(iter(layout.runs), None))
    if layout.runs.source == "files" and root != DEFAULT_DATA_ROOT:
        options["data_root"] = root
    return (*(f"{key}={value}" for key, value in options.items()), f"source={layout.runs.source}")


def _identity(run: Run | None, noun: str) -> dict[str, Any]:
    if run is None:
        return {}
    found: dict[str, Any] = run.result.origin.configuration.get(noun, {})
    return found


def _data_root(run: Run | None) -> str:
    """Where the files of a run lie, as its configuration says; the default where there is no folder."""
    if run is None or run.folder is None:
        return DEFAULT_DATA_ROOT
    return _configured_root(run.folder)


@cache
def _configured_root(folder: Path) -> str:
    import yaml

    try:
        with open_regular(folder / "config.yaml") as file:
            config = yaml.safe_load(file)
        return str(config["data_root"])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return DEFAULT_DATA_ROOT
