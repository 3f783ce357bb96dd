"""The completed runs that a report speaks about, found by data set, backbone and method."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from fairfr.core.types import Source
from fairfr.report.order import SETTINGS
from fairfr.report.readings import Result

METRICS_FOLLOW = ' "metrics": [\n'
"""The line of result.json (indented by one) after which only metrics come."""


class Runs:
    """One run for each cell, all of one data source; of several with different keys, the newest.

    ``replaced`` lists the cells that had more than one, so that a caption can say so.
    """

    def __init__(self, results: Iterable[Result], source: Source) -> None:
        self.source = source
        self.replaced: set[tuple[str, str, str]] = set()
        self._by_cell: dict[tuple[str, str, str], Result] = {}
        for result in sorted(results, key=lambda r: (r.stored["finished"], r.stored["key"])):
            if result.stored["source"] != source or result.stored["status"] != "completed":
                continue
            cell = result.cell
            if cell in self._by_cell:
                self.replaced.add(cell)
            self._by_cell[cell] = result

    def __len__(self) -> int:
        return len(self._by_cell)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._by_cell.values())

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Data sets with backbones that have runs, each once: the paper's in its order, then others by name."""
        found = {result.cell[:2] for result in self}
        return (*(setting for setting in SETTINGS if setting in found), *sorted(found - set(SETTINGS)))

    def get(self, dataset: str, backbone: str, method: str) -> Result | None:
        return self._by_cell.get((dataset, backbone, method))


def read_results(out_root: Path) -> list[Result]:
    """Every result.json below ``<out_root>/runs``, each without its metrics until they are asked for."""
    return [_read(path) for path in sorted((out_root / "runs").glob("*/*/*/*/result.json"))]


def _read(path: Path) -> Result:
    """Read up to the metrics, which stand last and are nearly all of the file: thousands of runs open in a second."""
    head: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line == METRICS_FOLLOW:
                break
            head.append(line)
        else:
            return Result(json.loads("".join(head)), path.parent)
    stored = json.loads("".join(head).rstrip().removesuffix(",") + "}")
    return Result(stored, path.parent, lambda: json.loads(path.read_text(encoding="utf-8"))["metrics"])
