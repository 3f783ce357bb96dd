"""Runs of one data source in one reading, each found by what it is: its data set, its row, or any parameter."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from fairfr.core.errors import FairfrError
from fairfr.core.run_key import Parameters, variant_label
from fairfr.core.types import Source
from fairfr.stored.aside import LeftAside
from fairfr.stored.order import Block, MethodRow, Setting, TableOrder
from fairfr.stored.reading import STRICT, Reading
from fairfr.stored.run import Run
from fairfr.stored.runs import choose, runs_of_page
from fairfr.stored.selection import OF_METHOD, Selection, made_by_installed_code

OTHER_HEADING = "Other methods that have run"
NUMBER = re.compile(r"((?<==)-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")  # a value of a parameter
RESCORE = "fairfr rescore (in a checkout: python scripts/rescore.py)"
MAX_LISTED_CELLS = 5  # cells of each version in a message

Where: TypeAlias = Mapping[str, Any]
"""What a run is, by the names that ``Run.value`` knows: ``{"setting": ("rfw", "magface"), "row": "GST"}``."""
ANY: Where = MappingProxyType({})


class MixedVersionsError(FairfrError):
    """Runs whose numbers do not mean the same thing: other metrics, or other results."""


class Results:
    """Runs of one data source, all in one reading, each in the row of a table that shows it.

    A row of the ``order`` is filled by the method that it asks for, else by the plain one; every other run is in a row
    of its own, and those rows are ``others``. No two rows have one label.

    ``shared`` are parameters that differ from the yaml in every run, ``aside`` says which runs are not here, and why.
    """

    def __init__(
        self, runs: Iterable[Run], source: Source, reading: Reading = STRICT, order: TableOrder | None = None
    ) -> None:
        self.source = source
        self.reading = reading
        self.order = order or TableOrder()
        self.shared: Parameters = {}
        self.aside: Sequence[LeftAside] = ()
        self._runs = [run.read(reading) for run in runs]
        self._by: dict[tuple[str, ...], dict[tuple[Any, ...], list[Run]]] = {}
        self.others = self._fill_rows()
        own = {}
        for run in self._runs:
            for named in (run.result.dataset, run.result.backbone):
                own[named.id] = named.label
        self._labels = {**own, **self.order.datasets, **self.order.backbones}

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def find(self, where: Where) -> Run | None:
        """The run that is so; of several, the one that differs least from its yaml files."""
        return min(self.every(where), key=lambda run: len(run.differs), default=None)

    def exact(self, setting: Setting, id: str) -> Run | None:
        """The run of the method that the order's row of this id asks for; the plain method does not take its place.

        An id that is no row's is that of a method.
        """
        return self.find({"setting": setting, "method": self.order.method(id, self.reading)})

    def every(self, where: Where = ANY) -> list[Run]:
        """All runs that are so."""
        keys = tuple(where)
        if keys not in self._by:
            self._by[keys] = defaultdict(list)
            for run in self._runs:
                self._by[keys][tuple(map(run.value, keys))].append(run)
        return self._by[keys].get(tuple(where.values()), [])

    def values(self, key: str, where: Where = ANY) -> list[Any]:
        """What these runs are, each value once, in ascending order; None is left out."""
        found = {run.value(key) for run in self.every(where)}
        return sorted(found - {None})

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Data sets with backbones that have runs: a user's own first, by name, then the order's."""
        found = self.order.sorted(self.values("setting"))
        own = [setting for setting in found if setting not in self.order.settings]
        return (*own, *(setting for setting in found if setting in self.order.settings))

    @cached_property
    def stale(self) -> set[tuple[str, str, str]]:
        """The cells whose run is known to be made by other code than is installed now."""
        return {run.cell for run in self if made_by_installed_code(run) is False}

    def heading(self, row: MethodRow) -> str:
        """What a row is called beside variants of its method: with the values that these change."""
        default = next((run for run in self.every({"row": row.label}) if not run.variant), None)
        if default is None:
            return row.label
        keys: dict[str, Any] = {}
        for run in self:
            if run.result.method.id == default.result.method.id:
                keys.update(run.variant)
        own = {key: value for key, value in default.parameters.items() if key in keys and key.startswith(OF_METHOD)}
        return variant_label(row.label, own)

    def label(self, id: str) -> str:
        """What a data set or backbone is called in print."""
        return self._labels.get(id, id)

    def name(self, setting: Setting) -> str:
        """Data set and backbone in words."""
        return " x ".join(map(self.label, setting))

    def blocks(
        self, settings: Collection[Setting], *, without: Collection[str] = (), only_run: bool = False
    ) -> list[Block]:
        """The order's blocks of rows, then ours and other methods that have run in one of the settings.

        ``without``: methods that a table leaves out. ``only_run``: nor are there rows of the order without a run.
        """
        beyond = tuple(row for row in self.others if row.id.partition(" ")[0] in self.order.beyond)
        rest = tuple(row for row in self.others if row not in beyond)
        blocks = [(heading, rows, only_run) for heading, rows in self.order.blocks]
        blocks += [(self.order.beyond_heading, beyond, True), (OTHER_HEADING, rest, True)]
        kept: list[Block] = []
        for heading, rows, needs_run in blocks:
            rows = tuple(row for row in rows if row.id not in without)
            if needs_run:
                rows = tuple(row for row in rows if self._has_run(row, settings))
            if rows:
                kept.append((heading, rows))
        return kept

    def _has_run(self, row: MethodRow, settings: Iterable[Setting]) -> bool:
        return any(self.every({"setting": setting, "row": row.label}) for setting in settings)

    def _fill_rows(self) -> tuple[MethodRow, ...]:
        """Give each run its row; returns the rows beyond those of the order, by id."""
        rest: dict[tuple[str, str, str], list[Run]] = {}
        for run in self._runs:
            rest.setdefault(run.cell, []).append(run)
        for setting in {cell[:2] for cell in rest}:
            for row in self.order.rows:
                cells = [(*setting, method) for method in row.methods(self.reading)]
                filled = next((cell for cell in cells if cell in rest), None)
                if filled is not None:
                    _put(row, rest.pop(filled))
        labels = {cell[2]: several[-1].label for cell, several in rest.items()}
        taken = Counter([row.label for row in self.order.rows] + list(labels.values()))
        others = []
        for method, label in sorted(labels.items(), key=lambda item: _by_value(item[0])):
            if taken[label] > 1:
                label = f"{label} ({method})"
            others.append(MethodRow(method, label, method, method))
        by_method = {row.id: row for row in others}
        for cell, several in rest.items():
            _put(by_method[cell[2]], several)
        return tuple(others)


def _by_value(method: str) -> tuple[tuple[int, float, str], ...]:
    """To sort methods by name and their variants by value: ``(k=2)`` before ``(k=10)``."""
    parts = []
    for position, part in enumerate(NUMBER.split(method)):
        if position % 2:  # what is split at
            parts.append((0, float(part), ""))
        else:
            parts.append((1, 0.0, part))
    return tuple(parts)


def _put(row: MethodRow, runs: Iterable[Run]) -> None:
    for run in runs:
        run.row = row.label


def shown_results(
    runs: Sequence[Run],
    source: Source,
    selection: Selection | None = None,
    belongs: Callable[[Run], bool] | None = None,
    reading: Reading = STRICT,
    order: TableOrder | None = None,
) -> Results:
    """One run for each cell, all of one data source. Runs of a study fill no row, unless ``selection`` asks for them.

    Parameters
    ----------
    runs : sequence of Run
        All runs that there are, of other sources and of studies too.
    source : {"synthetic", "files"}
        Whose runs are meant.
    selection : Selection, optional
        Which variants and configurations; None: the default ones.
    belongs : callable, optional
        Which runs are meant at all; None: every one.
    reading : Reading
        In which each is read.
    order : TableOrder, optional
        The rows that they fill.

    Raises
    ------
    MixedVersionsError
        If metrics or results of several versions would stand in one table.
    """
    chosen = choose(runs_of_page(runs, source, belongs), runs, selection or Selection())
    results = Results(chosen.shown.values(), source, reading, order)
    results.shared = chosen.shared
    results.aside = chosen.aside
    _check_metrics(results)
    _check_versions(results)
    return results


def _check_metrics(results: Results) -> None:
    """Numbers of one table must mean the same thing."""
    by_version: Counter[str] = Counter()
    for run in results:
        by_version[str(run.result.metrics_version)] += 1
    if len(by_version) > 1:
        counts = ", ".join(f"{n} by version {version}" for version, n in sorted(by_version.items()))
        raise MixedVersionsError(
            f"the runs were measured by different versions of the metrics ({counts}). "
            f"Recompute them without refitting: {RESCORE}"
        )


def _check_versions(results: Results) -> None:
    """A new version of the results means that numbers of the older one no longer stand for what they say."""
    by_version: dict[Any, list[str]] = defaultdict(list)
    for run in results:
        by_version[run.result.identity.get("results_version")].append(" x ".join(run.cell))
    if len(by_version) > 1:
        listed = "; ".join(
            f"version {version}: {', '.join(cells[:MAX_LISTED_CELLS])}" for version, cells in by_version.items()
        )
        raise MixedVersionsError(
            f"the runs were computed by different versions of fairfr ({listed}). Run the older ones again, or remove "
            "their folders."
        )
