"""A sweep from its cells to its tables: expand, launch, watch, summarise.

Workers compute cells and publish run folders; the process that was started, this one, does everything else.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hydra.core.config_loader import ConfigLoader
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from fairfr.core.errors import ConfigError, FairfrError
from fairfr.runner.located import CellData
from fairfr.store.owner import Owner
from fairfr.store.run_folder import RunFolders
from fairfr.store.sweep_record import SweepRecord
from fairfr.sweep.config import build_store, read_settings
from fairfr.sweep.display import SweepDisplay
from fairfr.sweep.grids import Expansion, Job
from fairfr.sweep.interrupt import end_workers
from fairfr.sweep.launch import Watched, WatchedLauncher
from fairfr.sweep.main import check_writable, logger_of
from fairfr.sweep.sweep import FAILED, RunningSweep
from fairfr.sweep.terminal import Terminal
from fairfr.sweep.workers import asked_threads, divide, share_of


def run_sweep(config: DictConfig, context: HydraContext, task_function: TaskFunction, typed: Sequence[str]) -> None:
    """Run the cells that ``config`` and the ``typed`` overrides ask for; a sweep with a failure ends in SystemExit."""
    try:
        _run_sweep(config, context, task_function, typed)
    except FairfrError as error:  # Hydra would show its traceback
        Terminal().error(error.named())
        sys.exit(FAILED)


def _run_sweep(config: DictConfig, context: HydraContext, task_function: TaskFunction, typed: Sequence[str]) -> None:
    loader = context.config_loader
    jobs = Expansion(loader, config).jobs(config, typed)
    if not jobs:
        raise ConfigError("this sweep has no cells.")
    if config.hydra.sweeper.dry_run:
        Terminal().plan(list(described(loader, config, jobs)))
        return
    check_composes(loader, config, jobs)
    check_writable(config)
    experiment = config.hydra.runtime.choices.get("experiment")
    if experiment is not None:
        Terminal().plan([counted(jobs)])
    folder, store = Path(config.hydra.sweep.dir), build_store(config)
    about = replace(SweepRecord.of(typed, experiment, time.time()), process=Owner.me().as_dict())
    logger, out_root = logger_of(store, config.out_root), Path(config.out_root)
    sweep = RunningSweep(about, folder, out_root, logger, store.report, experiment is not None)
    share = share_of(config.hydra.launcher, asked_threads(typed))
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=context, task_function=task_function, config=config
    )
    display = SweepDisplay(folder, Terminal())
    watched = Watched(sweep.plan, display.watching, folder, go_on=config.get("on_error") != "stop")
    with _summary(sweep, folder):
        sweep.start()
        WatchedLauncher(divide(launcher, share), watched, share.threads).launch(jobs, 0)


@contextmanager
def _summary(sweep: RunningSweep, folder: Path) -> Iterator[None]:
    """However the sweep ends, its summary comes; SystemExit where a cell has no result, or MLflow lacks one."""
    status = None
    try:
        yield
    except BaseException as ending:
        status = "FAILED"
        if isinstance(ending, KeyboardInterrupt):
            end_workers()
            status = "KILLED"
        raise
    finally:
        code = _finished(sweep, folder, status)
    if code:
        sys.exit(code)


def _finished(sweep: RunningSweep, folder: Path, status: str | None) -> int:
    """The exit code of a sweep, after its summary. One that crashes is told: it does not cost the results."""
    try:
        return sweep.finish(status)
    except Exception as error:
        where = folder / "error.txt"
        where.write_text(traceback.format_exc(), encoding="utf-8")
        Terminal().error(f"{type(error).__name__}: {error}\ntraceback: {where}")
        return FAILED


def check_composes(loader: ConfigLoader, config: DictConfig, jobs: Iterable[Job]) -> None:
    """Raise Hydra's error for a name that does not exist, before anything runs; one job for each name is enough."""
    seen: set[str] = set()
    for job in jobs:
        names = {override for override in job if "." not in override.partition("=")[0]}
        if not names <= seen:
            loader.load_sweep_config(master_config=config, sweep_overrides=list(job))
            seen |= names


def counted(jobs: Sequence[Job]) -> str:
    """``485 cells: 320 of appendix, 70 of components``."""
    names = [override.partition("=")[2] for job in jobs for override in job if override.startswith("experiment=")]
    counts = Counter(names)
    total = "1 cell" if len(jobs) == 1 else f"{len(jobs)} cells"
    return f"{total}: {', '.join(f'{count} of {name}' for name, count in counts.items())}"


def described(loader: ConfigLoader, config: DictConfig, jobs: Sequence[Job]) -> Iterator[str]:
    """A line for each cell, with whether it is done, and how many there are."""
    counts: Counter[str] = Counter()
    for job in jobs:
        state, name = _state(loader, config, job)
        counts[state] += 1
        yield f"{state:<6} {name}  {' '.join(job)}"
    yield f"{len(jobs)} cells: " + ", ".join(f"{counts[state]} {state}" for state in ("done", "to do", "fails"))


def _state(loader: ConfigLoader, config: DictConfig, job: Job) -> tuple[str, str]:
    """Whether a cell is done, and what it is called."""
    composed = loader.load_sweep_config(master_config=config, sweep_overrides=list(job))
    with open_dict(composed):
        composed.pop("hydra", None)
    try:
        settings, _ = read_settings(composed)
        name = f"{settings.dataset.label} x {settings.backbone.label} x {settings.method.label}"
        key = CellData.of(settings).key(settings)
        is_done = not settings.force and RunFolders(Path(settings.out_root)).completed(key) is not None
    except FairfrError as error:
        return "fails", error.named()
    return ("done" if is_done else "to do"), name
