"""What MLflow shows of a run: its numbers as the tables read them, and its reliability.

``auroc``, ``worst_auroc``, ``brier``, ...                              means over folds, in the reading of tables
``paper/auroc``, ``paper/worst_brier``, ``strict/eo_gap_at_fpr_1e-3``   these and more, in both readings
``fold/paper/auroc``                                                    by fold: the step is the fold's position
``group/paper/auroc/asian``                                             means over folds, by group
``seconds``, ``peak_memory_mb``

Everything is a fraction; the tables print gaps in percentage points.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairfr.core.run_result import RunResult
from fairfr.core.storage import is_regular
from fairfr.metrics.catalogue import METRICS, Metric, OverGroups, OwnTprAt, RateAt
from fairfr.metrics.differentials import max_min_gap, max_min_ratio
from fairfr.store.mlflow.describe import metric_name
from fairfr.store.parquet_files import METRICS_FILE, MetricId, fold_values
from fairfr.stored.reading import READINGS, reading_of
from fairfr.stored.run import Run

log = logging.getLogger("fairfr")

DETAILED = ("auroc", "tpr_at_fpr_1e-3", "brier")
"""Also by fold, by group, and under names that are short enough for the columns of a view."""
PER_POINT = 0.01


def is_listed(metric: Metric) -> bool:
    """Metrics with a direction; a reading chooses between a score's and a probability's. Of groups: gaps and ratios."""
    if metric.better is None or metric.id.endswith(("_on_probability", "_raw")):
        return False
    if isinstance(metric.compute, OverGroups):
        return metric.compute.spread in (max_min_gap, max_min_ratio)
    return not isinstance(metric.compute, OwnTprAt)


LISTED = tuple(metric for metric in METRICS if is_listed(metric))


def describe_run(stored: RunResult, folder: Path, artifacts: Path) -> dict[str, list[float | None]]:
    """What MLflow gets with a run folder: its numbers, and in ``artifacts`` its figure."""
    _draw_reliability(stored, folder, artifacts)
    return listed_metrics(stored, folder)


def listed_metrics(stored: RunResult, folder: Path) -> dict[str, list[float | None]]:
    """Values of each metric by step; undefined numbers are left out."""
    result = Run(stored, reading=reading_of(stored))
    by_fold = {}
    if is_regular(folder / METRICS_FILE):
        by_fold = fold_values(folder)
    numbers: dict[str, list[float | None]] = {name: [value] for name, value in _headline(result) if value is not None}
    for reading in READINGS.values():
        read = result.read(reading)
        numbers |= {name: [value] for name, value in _means(read) if value is not None}
        numbers |= {name: [value] for name, value in _by_group(read) if value is not None}
        numbers |= dict(_by_fold(read, by_fold))
    if stored.seconds is not None:
        numbers["seconds"] = [stored.seconds]
    if stored.peak_memory_mb is not None:
        numbers["peak_memory_mb"] = [stored.peak_memory_mb]
    return numbers


def _headline(run: Run) -> Iterator[tuple[str, float | None]]:
    """In the reading that the tables of this setting have: one column shows all methods on it, read in the same way."""
    for metric in DETAILED:
        yield metric_name(metric), run.mean(metric)
        yield metric_name(f"worst_{metric}"), run.mean(metric, "worst")


def _means(run: Run) -> Iterator[tuple[str, float | None]]:
    reading = run.reading.name
    for metric in LISTED:
        if isinstance(metric.compute, OverGroups):
            number = run.mean(metric.id, "gap")
            if number is not None and metric.compute.spread is max_min_gap:
                number *= PER_POINT
            yield metric_name(reading, metric.id), number
            continue
        if metric.better == "higher" or not isinstance(metric.compute, RateAt):  # an FPR of all pairs is the wanted one
            yield metric_name(reading, metric.id), run.mean(metric.id)
        yield metric_name(reading, f"worst_{metric.id}"), run.mean(metric.id, "worst")


def _by_group(run: Run) -> Iterator[tuple[str, float | None]]:
    for metric in DETAILED:
        for group in run.groups:
            yield metric_name("group", run.reading.name, metric, group), run.mean(metric, group)


def _by_fold(run: Run, values: Mapping[MetricId, list[float | None]]) -> Iterator[tuple[str, list[float | None]]]:
    for metric in DETAILED:
        for group, name in (("all", metric), ("worst", f"worst_{metric}")):
            number = run.number(metric, group)
            if number is not None and number.stored in values:
                yield metric_name("fold", run.reading.name, name), values[number.stored]


def _draw_reliability(stored: RunResult, folder: Path, into: Path) -> None:
    """``reliability.png``, where the run has scores. Whatever goes wrong here must not cost MLflow the run."""
    from fairfr.report.figures.reliability import run_reliability_figure
    from fairfr.stored.scores import RunScores

    try:
        scores = RunScores.if_available(Run(stored, folder, reading_of(stored)))
        if scores is not None:
            run_reliability_figure(scores).savefig(into / "reliability.png", dpi=110)
    except Exception as error:
        log.warning("no reliability figure of %s: %s: %s", folder, type(error).__name__, error)
