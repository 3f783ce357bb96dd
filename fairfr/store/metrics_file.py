"""metrics.parquet, read back: the value of each metric in each fold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TypeAlias

from fairfr.core.names import POOLED
from fairfr.store.result_file import DamagedRunError

METRICS_FILE = "metrics.parquet"

MetricId: TypeAlias = tuple[str, str, str, str]
"""Grouping, rule, group and metric: what names one number of a run."""


def fold_values(folder: Path) -> dict[MetricId, list[float | None]]:
    """Values of each metric in the order of the folds, (k,) each; None where a fold has none.

    Raises DamagedRunError.
    """
    from pyarrow import parquet

    columns = ("fold", "grouping", "rule", "group", "metric", "value")
    try:
        table = parquet.read_table(folder / METRICS_FILE, columns=list(columns))
        folds, *names, values = (table[column].to_pylist() for column in columns)
    except (OSError, ValueError, KeyError) as error:  # Arrow's own errors are ValueErrors
        raise DamagedRunError(f"{folder / METRICS_FILE} cannot be read: {error}") from error
    position: dict[str, int] = {}
    for fold in folds:
        if fold != POOLED:
            position.setdefault(fold, len(position))
    found: dict[MetricId, list[float | None]] = {}
    for fold, row, value in zip(folds, zip(*names, strict=True), values, strict=True):
        if fold != POOLED:
            series = found.setdefault(row, [None] * len(position))
            series[position[fold]] = None if value is None or math.isnan(value) else value
    return found
