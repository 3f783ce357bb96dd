"""One job of Hydra's: a cell, from its composed configuration to its outcome.

A single run shows its cell and logs it to MLflow. A job of a sweep writes how it ended into its folder; the conductor,
which started the sweep, shows and logs it.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from fairfr.core.errors import FairfrError, StorageError
from fairfr.core.storage import translate_os_errors
from fairfr.runner.cell import run_cell
from fairfr.runner.settings import CellSettings
from fairfr.store.locks import locked
from fairfr.store.secrets import mask_files
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import CellOutcome, SweepRecord, write_outcome
from fairfr.sweep.compose import default_settings, read_settings
from fairfr.sweep.mirror import Mirror
from fairfr.sweep.progress import ProgressFile
from fairfr.sweep.terminal import Terminal
from fairfr.sweep.workers import JOB_LOCK, end_with_conductor

EXIT_FAILED = 1  # something has no result
EXIT_NOT_LOGGED = 3  # everything has a result, but MLflow does not have it all
LEAST_ROOM = 2**17  # bytes: Hydra's own files and a failed run need some of it


def run_job(config: DictConfig, is_last: bool = True) -> None:
    """Compute or skip one cell; SystemExit if it fails, unless a sweep goes on without it.

    ``is_last``: nothing follows on the screen, so that the next command is named.
    """
    hydra = HydraConfig.get()
    folder = Path(hydra.runtime.output_dir)
    mask_files(folder / (hydra.output_subdir or ""))
    is_sweep = hydra.mode == RunMode.MULTIRUN
    sweep_folder = Path(hydra.sweep.dir)
    if is_sweep and SweepRecord.read(sweep_folder) is not None:
        end_with_conductor(sweep_folder)
        with locked(folder / JOB_LOCK):
            is_failed = _run_for_conductor(config, folder)
        if is_failed and config.get("on_error") == "stop":
            sys.exit(EXIT_FAILED)
    elif is_sweep:
        _run_in_other_sweep(config)
    else:
        code = _run_alone(config)
        if code:
            sys.exit(code)
        if is_last:
            Terminal().next_step(str(config.out_root))


def _run_for_conductor(config: DictConfig, folder: Path) -> bool:
    """Compute a cell of a sweep, and write its outcome into the job's folder; returns whether it failed."""
    outcome = CellOutcome("failed", _choices())
    try:
        settings, plain = read_settings(config)
        progress = ProgressFile(folder, _title(settings))
        finished = run_cell(settings, plain, progress, defaults=lambda: default_settings(config))
        progress.stored()
        outcome = replace(outcome, status=finished.status, error=finished.error, folder=finished.folder)
    except FairfrError as error:
        outcome = replace(outcome, error=error.named())
    except Exception as error:  # not a mistake of the user's: the traceback says more
        message = f"{type(error).__name__}: {error} (traceback: {folder / 'error.txt'})"
        outcome = replace(outcome, error=message)
        (folder / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
    try:
        with translate_os_errors(folder):
            write_outcome(folder, outcome)
    except StorageError as error:  # of a cell without an outcome the summary says that it did not end
        Terminal().failed(_choices(), error.named())
    return outcome.status == "failed"


def _run_alone(config: DictConfig) -> int:
    """Compute a single cell, show it and log it; returns the exit code."""
    terminal = Terminal()
    mirror: Mirror | None = None
    code = 0
    try:
        settings, plain = read_settings(config)
        mirror = mirror_of(settings.store, settings.out_root)
        with terminal.cell(_title(settings), notes_below=True) as progress:
            before_fitting = mirror.start if mirror else lambda: None
            finished = run_cell(settings, plain, progress, before_fitting, lambda: default_settings(config))
        stored = finished.result
        terminal.cell_report(finished.status, stored, finished.folder, finished.error, finished.is_user_error)
        if finished.status == "failed":
            code = EXIT_FAILED
        if mirror is not None:
            mirror.bring(finished.folder)
    except FairfrError as error:
        terminal.failed(_choices(), error.named())
        code = EXIT_FAILED
    if mirror is None:
        return code
    return _finish_logging(mirror, code, str(config.out_root), terminal)


def _run_in_other_sweep(config: DictConfig) -> None:
    """Compute a cell of a sweep with another sweeper (hydra/sweeper=basic), which has no display, and show it."""
    terminal = Terminal()
    try:
        settings, plain = read_settings(config)
        with terminal.cell(_title(settings)) as progress:
            finished = run_cell(settings, plain, progress, defaults=lambda: default_settings(config))
        terminal.cell_line(finished.status, finished.result, finished.error)
        is_failed = finished.status == "failed"
    except FairfrError as error:
        terminal.failed(_choices(), error.named())
        is_failed = True
    if is_failed and config.get("on_error") == "stop":
        sys.exit(EXIT_FAILED)


def _finish_logging(mirror: Mirror, code: int, out_root: str, terminal: Terminal) -> int:
    """Wait for MLflow, and say where the run can be seen or why it is not there; returns the exit code."""
    refusal = mirror.finish()
    if refusal is not None:
        code = code or EXIT_NOT_LOGGED
        terminal.not_mirrored(refusal, Path(out_root), mirror.uri, code)
        return code
    if code == 0:
        terminal.mlflow_hint(out_root, mirror.uri)
    return code


def mirror_of(store: StoreSettings, out_root: str) -> Mirror | None:
    """What brings runs to the store that the settings name; None for run folders alone."""
    if store.id == "folder":
        return None
    return Mirror(store, Path(out_root))


def _title(settings: CellSettings) -> str:
    return f"{settings.dataset.label} x {settings.backbone.label} x {settings.method.label}"


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
        worker that is killed between two of them leaves joblib waiting for the rest for ever. It is not needed."""
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
        sys.exit(EXIT_FAILED)
