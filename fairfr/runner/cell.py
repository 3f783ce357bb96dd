"""One cell: a data set, a backbone, a method and a protocol, from files to a stored result."""

from __future__ import annotations

import contextlib
import logging
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import FairfrError
from fairfr.core.findings import Finding
from fairfr.core.provenance import peak_memory_mb, reset_peak_memory
from fairfr.core.run_key import RunKey
from fairfr.core.run_result import RunResult
from fairfr.core.storage import translate_os_errors
from fairfr.core.threads import import_what_fits_use, limit_threads, resolve_threads
from fairfr.core.types import F32, FoldSplit
from fairfr.data.cohort_file import read_cohort
from fairfr.runner.cell_data import CellData
from fairfr.runner.held_out import (
    HeldOutScores,
    build_splits,
    check_needs,
    check_training_set,
    score_held_out,
    split_findings,
)
from fairfr.runner.record import begin_result, completed_result, failed_result, measure_scores
from fairfr.runner.settings import CellSettings
from fairfr.runner.table_cache import table_cache
from fairfr.store.parquet_files import METRICS_FILE, SCORES_FILE, write_metrics, write_scores
from fairfr.store.result_file import read_result
from fairfr.store.run_folder import RunFolders
from fairfr.store.secrets import mask_config

if TYPE_CHECKING:
    from fairfr.pairs.table import PairTable
    from fairfr.runner.cell_bar import CellProgress

log = logging.getLogger("fairfr")


@dataclass(frozen=True, slots=True)
class FinishedCell:
    """How a cell ended. ``error`` is the message of a failed one; ``is_user_error``: of one in the input, which says
    itself what to do, so that the traceback is not needed.

    Of a forced rerun that failed, ``folder`` is outside ``runs/``, where the completed run stands.
    """

    status: Literal["completed", "skipped", "failed"]
    key: RunKey
    folder: Path
    result: RunResult
    error: str | None = None
    is_user_error: bool = False


def run_cell(
    settings: CellSettings,
    config: dict[str, Any],
    progress: CellProgress,
    before_fitting: Callable[[], object] = lambda: None,
    defaults: Callable[[], CellSettings] | None = None,
) -> FinishedCell:
    """Run one cell, or return its stored result when a completed run has the same key.

    ``defaults`` gives the settings as the yaml files have them, to tell a default configuration from a variant (None:
    these settings are the default). If another process computes the same run now, wait for it and take its result.
    ``before_fitting`` is called when the data has been read, and not where there is a mistake in it.
    Raises FairfrError for mistakes found before a key exists (unknown keys, missing files). Whatever goes wrong
    afterwards is stored as a failed run and returned.
    """
    method = settings.method.unfitted  # a wrong target is the user's mistake, reported before anything is read
    check_training_set(settings)
    located = CellData.of(settings)
    key = located.key(settings)
    runs = RunFolders(Path(settings.out_root))
    stored = None if settings.force else runs.completed(key, lambda damage: progress.warn(_computed_anew(damage)))
    if stored is not None:
        return FinishedCell("skipped", key, runs.path(key), stored)
    # with the code as it is now, before anybody edits it
    begun = begin_result(settings, settings if defaults is None else defaults(), located, key, method)
    with translate_os_errors(runs.out_root), runs.locked(key, lambda: progress.wait_for("another process")):
        runs.look_again(key)
        stored = None if settings.force else runs.completed(key)
        if stored is not None:
            return FinishedCell("skipped", key, runs.path(key), stored)
        if located.test.warning:
            progress.warn(located.test.warning)
        with runs.draft(key) as draft, _run_log(draft / "run.log"):
            log.info("%s / %s / %s, key %s, source %s", key.dataset, key.backbone, key.method, key, key.source)
            try:
                result = _compute(settings, located, begun, _Workspace(draft, progress, before_fitting))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a method that calls sys.exit ends its own cell, not the sweep
                return _store_failure(runs, draft, begun, config, error)
            _write_config(draft, config)
            folder = runs.publish(draft, key, result)
            return FinishedCell("completed", key, folder, read_result(folder) or result)


def _computed_anew(damage: str) -> Finding:
    return Finding("damaged-run", "warning", f"{damage} It is computed again.")


class _Workspace(NamedTuple):
    """What a running cell writes to: its draft folder, what shows its progress, and who is told before it fits."""

    draft: Path
    progress: CellProgress
    before_fitting: Callable[[], object]


def _compute(settings: CellSettings, located: CellData, begun: RunResult, space: _Workspace) -> RunResult:
    started = time.perf_counter()
    reset_peak_memory()
    threads = resolve_threads(settings.threads)
    limit_threads(threads)
    table, training = _tables(settings, located, threads, space.progress)
    import_what_fits_use(settings.method.unfitted)
    space.before_fitting()
    cohort = None if located.cohort is None else read_cohort(located.cohort)
    held_out = _score(settings, (table, training), cohort, threads, space.progress)
    measured = measure_scores(table, held_out, settings.dataset.min_pairs, threads)
    write_scores(space.draft / SCORES_FILE, measured.columns())
    write_metrics(space.draft / METRICS_FILE, measured.rows)
    seconds = round(time.perf_counter() - started, 3)
    log.info("done in %.1f s", seconds)
    took = replace(begun, threads=threads, seconds=seconds, peak_memory_mb=peak_memory_mb())
    result = completed_result(took, measured, settings.dataset.min_pairs)
    for finding in result.metric_warnings:
        if finding.severity != "note":
            space.progress.warn(finding)
    return result


def _tables(
    settings: CellSettings, located: CellData, threads: int, progress: CellProgress
) -> tuple[PairTable, PairTable | None]:
    """Of the set to test, and of the set to fit on where that is another one."""
    tables = []
    for table in table_cache.of(located.sets, threads):
        _warn(table.data.warnings, progress)
        check_needs(settings.method.unfitted, settings.method.id, table.data)
        tables.append(table)
    return tables[0], tables[1] if len(tables) > 1 else None


def _warn(findings: Iterable[Finding], progress: CellProgress) -> None:
    for finding in findings:
        log.warning(finding.text)
        progress.warn(finding)


def _score(
    settings: CellSettings,
    tables: tuple[PairTable, PairTable | None],
    cohort: F32 | None,
    threads: int,
    progress: CellProgress,
) -> HeldOutScores:
    """``tables`` as of ``_tables``."""
    table, training = tables
    splits = build_splits(settings, table.data, None if training is None else training.data)
    of_splits = split_findings(splits)
    _warn(of_splits, progress)
    progress.start(len(splits))

    def context(fold: str) -> FitContext:
        return FitContext(
            seed=settings.seed,
            dataset=settings.dataset.id,
            backbone=settings.backbone.id,
            fold=fold,
            threads=threads,
            grouping=(training or table).data.grouping,
            cache=Path(settings.out_root) / "cache",
            cohort=cohort,
        )

    def scored(split: FoldSplit) -> None:
        log.info("fold %s: fitted on %d pairs, scored %d", split.id, len(split.train_rows()), len(split.test))
        progress.fold_done(split.id)

    thresholds = settings.training_thresholds
    held_out = score_held_out(table, splits, settings.method.build, context, scored, training, thresholds)
    _warn(held_out.findings[len(of_splits) :], progress)
    return held_out


def _store_failure(
    runs: RunFolders, draft: Path, begun: RunResult, config: dict[str, Any], error: BaseException
) -> FinishedCell:
    """Keep the traceback with the run; a user's own mistake needs only its message on the screen."""
    log.exception("the run failed")
    for leftover in draft.glob("*.parquet"):
        leftover.unlink()
    (draft / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
    _write_config(draft, config)
    is_user_error = isinstance(error, FairfrError)
    said = f"the method called sys.exit({error.code})" if isinstance(error, SystemExit) else str(error)
    message = " ".join([f"{type(error).__name__}: {said}", *getattr(error, "__notes__", [])])
    key = begun.run_key
    result = failed_result(begun, message)
    is_current = runs.completed(key) is None  # a forced rerun that fails must not destroy the good run
    folder = runs.publish(draft, key, result) if is_current else runs.keep_failed(draft, key, result)
    return FinishedCell("failed", key, folder, result, message, is_user_error)


def _write_config(draft: Path, config: dict[str, Any]) -> None:
    import yaml

    (draft / "config.yaml").write_text(yaml.safe_dump(mask_config(config), sort_keys=False), encoding="utf-8")


class _LogFile(logging.FileHandler):
    """A log that a full disk cuts short: the run says itself what it could not write, without logging's tracebacks."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Lose the record."""

    def close(self) -> None:
        """Lose what is left to write, too."""
        with contextlib.suppress(OSError):
            super().close()


@contextmanager
def _run_log(path: Path) -> Iterator[None]:
    """Everything that fairfr logs meanwhile, in the run's own file."""
    handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()
