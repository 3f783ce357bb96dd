"""A run's numbers as the tables print them, by name, for whoever lists runs: ``paper/worst_auroc``."""

from __future__ import annotations

from typing import Any, get_args

from fairfr.app.results_table import COLUMNS
from fairfr.report.readings import Reading, Result


def listed_metrics(stored: dict[str, Any]) -> dict[str, float]:
    """The columns of the results table in both readings; undefined numbers are left out."""
    result = Result(stored)
    numbers: dict[str, float] = {}
    for reading in get_args(Reading):
        for column in COLUMNS:
            mean = result.mean(column.metric, column.group, reading)
            if mean is not None:
                worst = "worst_" if column.group == "worst" else ""
                numbers[f"{reading}/{worst}{column.metric}"] = mean
    return numbers
