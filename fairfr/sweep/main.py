"""From a composed configuration to cells, and what a person sees of them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from fairfr.core.errors import FairfrError, StorageError
from fairfr.core.storage import translate_os_errors
from fairfr.runner.cell import FinishedCell, run_cell
from fairfr.store.mlflow.log import MlflowLogger
from fairfr.store.secrets import mask_files
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import SweepRecord, write_outcome
from fairfr.sweep.arguments import prepare
from fairfr.sweep.config import default_settings, read_settings
from fairfr.sweep.interrupt import Interruption, end_workers
from fairfr.sweep.launch import end_with_sweep
from fairfr.sweep.mlflow_metrics import describe_run
from fairfr.sweep.progress import ProgressFile
from fairfr.sweep.sweep import FAILED, NOT_MIRRORED
from fairfr.sweep.terminal import Terminal

INTERRUPTED = "interrupted. Finished cells are kept; the same command goes on from there."
LEAST_ROOM = 2**17  # bytes: Hydra's own files and a failed run need some of it


def guarded(main: Callable[[], Any], arguments: Sequence[str], conf: Path) -> None:
    """Run Hydra's main so that a user's mistake ends in one message and a non-zero exit code."""
    interruption = Interruption(lambda: Terminal().error(INTERRUPTED))
    try:
        sys.argv[1:] = prepare(arguments, conf)
        main()
    except FairfrError as error:
        Terminal().error(error.named())
        sys.exit(1)
    except (SystemExit, KeyboardInterrupt) as ending:
        if isinstance(ending, SystemExit) and not interruption.came:  # Ray turns a SIGTERM into a SystemExit
            raise
        interruption.tell()
        end_workers()
        sys.exit(interruption.exit_code)


def run_job(config: DictConfig) -> None:
    """One cell: compute or skip, show, log. In a sweep the process that started it shows and logs what cells leave."""
    terminal = Terminal()
    in_sweep, folder = HydraConfig.get().mode == RunMode.MULTIRUN, Path(HydraConfig.get().runtime.output_dir)
    shown_by_parent = in_sweep and SweepRecord.read(Path(HydraConfig.get().sweep.dir)) is not None
    mask_files(folder / (HydraConfig.get().output_subdir or ""))
    noted: dict[str, Any] = {"status": "failed", "choices": _choices(), "error": None}
    logger: MlflowLogger | None = None
    if shown_by_parent:
        end_with_sweep(folder.parent)
    try:
        settings, plain = read_settings(config)
        title = f"{settings.dataset.label} x {settings.backbone.label} x {settings.method.label}"
        if not in_sweep:
            logger = logger_of(settings.store, settings.out_root)
        with nullcontext(ProgressFile(folder, title)) if shown_by_parent else terminal.cell(title) as progress:
            before_fitting = logger.start if logger else lambda: None
            finished = run_cell(settings, plain, progress, before_fitting, lambda: default_settings(config))
            progress.stored()
        noted |= {"status": finished.status, "folder": str(finished.folder), "error": finished.error}
        noted["is_for_mlflow"] = finished.status != "skipped" and finished.is_current and not finished.is_user_error
        if not shown_by_parent:
            _show(finished, in_sweep, terminal)
        if logger is not None and noted["is_for_mlflow"]:
            logger.log_run(finished.folder)
    except FairfrError as error:
        noted |= {"status": "failed", "error": error.named()}
        if not shown_by_parent:
            terminal.failed(_choices(), error.named())
    try:
        write_outcome(folder, noted)
    except OSError as error:  # of a cell without an outcome the summary says that it did not end
        terminal.failed(_choices(), f"{type(error).__name__}: {error}")
    is_last = not in_sweep or config.get("on_error") == "stop"
    code = FAILED if noted["status"] == "failed" and is_last else 0
    if logger is not None:
        code = _finish_logging(logger, code, str(config.out_root), terminal)
    if code:
        sys.exit(code)


def _finish_logging(logger: MlflowLogger, code: int, out_root: str, terminal: Terminal) -> int:
    """Wait for MLflow, and say where the run can be seen or why it is not there; returns the exit code."""
    refusal = logger.finish()
    if refusal is not None:
        terminal.not_mirrored(refusal, Path(out_root), logger.uri)
        return code or NOT_MIRRORED
    if code == 0:
        terminal.mlflow_hint(out_root, logger)
    return code


def _show(finished: FinishedCell, in_sweep: bool, terminal: Terminal) -> None:
    """``in_sweep``: in one that nobody watches, because its configuration has another callback."""
    status, stored, error = finished.status, finished.result.to_json(), finished.error
    if in_sweep:
        terminal.cell_line(status, stored, error)
    else:
        terminal.cell_report(status, stored, finished.folder, error, finished.is_user_error)


def logger_of(store: StoreSettings, out_root: str) -> MlflowLogger | None:
    """What logs to the store that the settings name; None for run folders alone."""
    return None if store.id == "folder" else MlflowLogger(store, Path(out_root), describe_run)


def _choices() -> str:
    chosen = HydraConfig.get().runtime.choices
    return " / ".join(str(chosen.get(noun)) for noun in ("dataset", "backbone", "method"))


class JobCallback(Callback):
    """What Hydra calls around each job."""

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Before Hydra itself writes below out_root, and shows a traceback when it cannot."""
        check_writable(config)

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """A worker's answer goes through a pipe. The configuration makes it so long that it is written in pieces, and a
        worker that is killed between two of them leaves joblib waiting for the rest for ever. Nobody reads it."""
        job_return.cfg = job_return.hydra_cfg = None


def check_writable(config: DictConfig) -> None:
    """One line and exit code 1 where nothing can be written below out_root."""
    out_root = Path(str(config.out_root))
    try:
        with translate_os_errors(out_root):
            out_root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=out_root) as probe:
                probe.write(bytes(LEAST_ROOM))
                probe.flush()
    except StorageError as error:
        Terminal().error(error.named())
        sys.exit(1)
