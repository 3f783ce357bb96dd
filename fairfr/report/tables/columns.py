"""What one column prints of a run: a metric with its scale and digits, or a count of lifted groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from fairfr.metrics.catalogue import ALPHAS, METRIC_BY_ID
from fairfr.report.readings import Reading, Result
from fairfr.report.tables.grid import Cell
from fairfr.report.tables.levels import level

CellOf: TypeAlias = Callable[[Result, Result | None, Reading], Cell]


class Measure(NamedTuple):
    """``cell_of(result, baseline, reading)`` prints a run; ``alpha``: the FPR on which the number hangs, if any."""

    heading: str
    cell_of: CellOf
    higher_is_better: bool | None
    alpha: str | None = None
    against_baseline: bool = False


def number(
    heading: str, metric: str, group: str = "all", *, percent: bool = False, digits: int = 3, spread: bool = False
) -> Measure:
    """The fold mean of a metric; ``spread`` adds the std over folds, ``percent`` multiplies by 100."""
    scale = 100 if percent else 1

    def cell_of(result: Result, _: Result | None, reading: Reading) -> Cell:
        row = result.row(metric, group, reading)
        mean = None if row is None else row["mean"]
        if row is None or mean is None or math.isnan(mean):
            return Cell()
        text = f"{scale * mean:.{digits}f}"
        if spread and row.get("std") is not None:
            text += f"±{scale * row['std']:.{digits}f}"
        return Cell(text, mean)

    better = METRIC_BY_ID[metric].better
    return Measure(heading, cell_of, None if better is None else better == "higher", _alpha(metric))


def lifted(heading: str, metric: str) -> Measure:
    """K/N of levels.py: groups of the worst-served prefix that improve on the Baseline."""

    def cell_of(result: Result, baseline: Result | None, reading: Reading) -> Cell:
        if baseline is None or result is baseline:
            return Cell()
        found = level(result, baseline, metric, reading)
        return Cell() if found is None else Cell(str(found), found.lifted / found.groups)

    return Measure(heading, cell_of, True, _alpha(metric), against_baseline=True)


def _alpha(metric: str) -> str | None:
    return next((text for text in ALPHAS if metric.endswith(f"at_fpr_{text}")), None)
