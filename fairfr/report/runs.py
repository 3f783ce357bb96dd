"""The completed runs that a report speaks about, found by data set, backbone and method."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from fairfr.core.types import Source
from fairfr.report.readings import Result


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

    def get(self, dataset: str, backbone: str, method: str) -> Result | None:
        return self._by_cell.get((dataset, backbone, method))


def read_results(out_root: Path) -> list[Result]:
    """Every result.json below ``<out_root>/runs``."""
    return [
        Result(json.loads(path.read_text(encoding="utf-8")), path.parent)
        for path in sorted((out_root / "runs").glob("*/*/*/*/result.json"))
    ]
