"""A model of one cell's configuration, fitted on all its pairs, that knows what the method did on held-out ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import DataError
from fairfr.core.run_result import MetricSummary, RunResult
from fairfr.core.threads import limit_threads, resolve_threads
from fairfr.core.types import VerificationSet
from fairfr.data.cohort_file import locate_cohort, read_cohort
from fairfr.data.files import DataFile
from fairfr.data.locate import locate
from fairfr.library.expected import KEY, expected_of
from fairfr.library.method_classes import as_model
from fairfr.library.method_state import parameters_of
from fairfr.library.model import Model
from fairfr.pairs.table import PairTable
from fairfr.runner.settings import CellSettings
from fairfr.store.run_folder import RunFolders
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

KEPT = ("auroc", "tpr_at_fpr_1e-3", "brier", "ece_15")
GROUPS = ("all", "worst")


def fit_on_all_folds(settings: CellSettings) -> Model:
    """Fit on the pairs of all folds. The cell itself must have run: its held-out summary goes with the model."""
    root, cohort = Path(settings.data_root), None
    located = locate(settings.dataset, settings.backbone, root, settings.source)
    if settings.cohort is not None:
        cohort = locate_cohort(settings.cohort, settings.backbone.id, root)
    key = settings.key(located.source, located.digest, cohort_digest=None if cohort is None else cohort.digest)
    runs = RunFolders(Path(settings.out_root))
    result = runs.completed(key)
    if result is None:
        raise DataError(f"no completed run {key} below {settings.out_root}: run it first, with fairfr run.")
    threads = resolve_threads(settings.threads)
    limit_threads(threads)
    data = located.load()
    method = settings.method.unfitted
    model = as_model(type(method))(**parameters_of(method))
    groups = tuple(settings.dataset.grouping) if "groups" in method.needs else ()
    model.fit_table(PairTable(data, threads), _context(settings, data, cohort, threads), groups)
    model.origin_ = held_out_summary(result)
    scores = RunScores.if_available(Run(result, runs.path(key)))
    if scores is not None:
        model.origin_[KEY] = expected_of(scores)
    return model


def held_out_summary(result: RunResult) -> dict[str, Any]:
    """What a model keeps of the run that held its pairs out, fold by fold."""
    return {
        "run": {
            "dataset": result.dataset.id,
            "backbone": result.backbone.id,
            "method": result.method.id,
            "key": result.key,
        },
        "source": result.source,
        "data": result.data.digest,
        "folds": len(result.data.folds),
        "held_out": [_kept(row) for row in result.metrics if row["metric"] in KEPT and _is_overview(row, result)],
    }


def _kept(row: MetricSummary) -> MetricSummary:
    return {name: row[name] for name in ("metric", "group", "rule", "mean", "std", "pooled")}


def _is_overview(row: MetricSummary, result: RunResult) -> bool:
    """All pairs, and the worst group of the data set's own grouping."""
    return row["group"] in GROUPS and row["grouping"] in ("all", result.data.grouping)


def _context(settings: CellSettings, data: VerificationSet, cohort: DataFile | None, threads: int) -> FitContext:
    return FitContext(
        seed=settings.seed,
        dataset=settings.dataset.id,
        backbone=settings.backbone.id,
        fold="all",
        threads=threads,
        grouping=data.grouping,
        cache=Path(settings.out_root) / "cache",
        cohort=None if cohort is None else read_cohort(cohort),
    )
