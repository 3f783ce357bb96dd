"""Results made by hand: every number in a table can be read off the call that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import pytest

from fairfr.metrics.catalogue import METRIC_BY_ID
from fairfr.report.grid import Cell, Grid, Line
from fairfr.report.readings import Result
from fairfr.report.runs import Runs

Numbers: TypeAlias = Mapping[str, float | None]
NEEDS_GROUPS = ("gst", "demonorm", "oracle")
WITHOUT_PROBABILITY = ("baseline", "falcon", "fsn", "demonorm")


def made_result(
    method: str,
    setting: str = "rfw/magface",
    overall: Numbers | None = None,
    worst: Numbers | None = None,
    groups: Mapping[str, Numbers] | None = None,
    **changes: Any,
) -> Result:
    """``overall``, ``worst`` and ``groups`` hold fold means by metric; both pair rules get the same."""
    dataset, backbone = setting.split("/")
    plain = method.removesuffix("_paper")
    native = plain not in WITHOUT_PROBABILITY
    groups = groups or {}
    options = {"folds": 2, "n_diff": 100_000, "std": 0.01, "source": "files", "needs": None, **changes}
    rows = _rows("all", ("all",), "all", overall or {}, native, options)
    for group, numbers in (("worst", worst or {}), *groups.items()):
        rows += _rows("ethnicity", ("both", "first"), group, numbers, native, options)
    needs = options["needs"]
    stored = {
        "key": options.get("key", f"{options['source']}-{dataset}{backbone}{method}"),
        "status": options.get("status", "completed"),
        "source": options["source"],
        "finished": options.get("finished", "2026-01-01T00:00:00+00:00"),
        "dataset": {"id": dataset, "label": dataset.upper()},
        "backbone": {"id": backbone, "label": backbone.title()},
        "method": {
            "id": method,
            "label": options.get("label", method.replace("_", " ").title()),
            "needs": list(needs) if needs is not None else ["groups"] if plain in NEEDS_GROUPS else [],
            "native_probability": native,
        },
        "data": {
            "folds": [str(i) for i in range(options["folds"])],
            "grouping": "ethnicity",
            "groups": {"ethnicity": list(groups)},
        },
        "metrics": rows,
    }
    return Result(stored)


def _rows(
    grouping: str, rules: Iterable[str], group: str, numbers: Numbers, native: bool, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    counts = {"folds": options["folds"], "folds_total": options["folds"], "n_same": 100, "n_diff": options["n_diff"]}
    place = {"grouping": grouping, "group": group, **counts}
    rows = []
    for metric, mean in numbers.items():
        twin = f"{metric}_on_probability"
        names = [metric, twin] if native and twin in METRIC_BY_ID and twin not in numbers else [metric]
        rows += [
            {**place, "rule": rule, "metric": name, "mean": mean, "std": options["std"]}
            for rule in rules
            for name in names
        ]
    return rows


@pytest.fixture
def result() -> Callable[..., Result]:
    return made_result


@pytest.fixture
def runs() -> Callable[..., Runs]:
    """``runs(result, result, ...)``, of one data source."""

    def make(*results: Result, source: Any = "files") -> Runs:
        return Runs(results, source)

    return make


@pytest.fixture
def find() -> Callable[..., Any]:
    """``find(grids, id)``, ``find(grids, id, row)`` and ``find(grids, id, row, column)``."""

    def look(grids: Iterable[Grid], id: str, row: str | None = None, column: int | None = None) -> Grid | Line | Cell:
        grid = next(grid for grid in grids if grid.id == id)
        if row is None:
            return grid
        line = next(line for section in grid.sections for line in section.lines if line.label == row)
        return line if column is None else line.cells[column]

    return look
