"""A sweep from its cells to its tables: expand, launch, watch, log, summarise.

Workers compute cells and publish run folders; the process that was started, this one, does everything else from those
folders.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from fairfr.core.errors import ConfigError, FairfrError
from fairfr.core.storage import translate_os_errors
from fairfr.store.sweep_record import DIED, STOPPED, CellOutcome, SweepRecord, claim_folder, read_outcomes
from fairfr.sweep.compose import build_store, hide_address, without_address
from fairfr.sweep.dry_run import count_by_experiment, describe_cells, split_unreadable
from fairfr.sweep.grids import GridExpander, Job
from fairfr.sweep.job import EXIT_FAILED, EXIT_NOT_LOGGED, check_writable, mirror_of
from fairfr.sweep.recovery import RecoveringLauncher
from fairfr.sweep.sweep_report import write_sweep_report, write_tables
from fairfr.sweep.terminal import Terminal
from fairfr.sweep.watch import SweepWatcher
from fairfr.sweep.workers import (
    LaunchInBatches,
    WorkerBudget,
    asked_threads,
    conducting,
    end_with_conductor,
    launcher_name,
    limit_launcher,
    with_threads,
    worker_budget,
)

AFTER_CTRL_C = 0.5  # seconds that MLflow has when a sweep is interrupted
CUT_SHORT = "Finished runs are kept; the same command goes on from there."


def run_sweep(config: DictConfig, context: HydraContext, task_function: TaskFunction, typed: Sequence[str]) -> None:
    """Run the cells that a configuration and a command line ask for; a sweep with a failure ends in SystemExit.

    Parameters
    ----------
    config : DictConfig
        The composed configuration; its ``hydra.sweeper`` has the grids.
    context : HydraContext
        What Hydra gives a sweeper.
    task_function : callable
        What runs one job.
    typed : sequence of str
        The overrides of the command line.
    """
    try:
        code = _run_sweep(config, context, task_function, typed)
    except FairfrError as error:  # Hydra would show its traceback
        Terminal().error(error.named())
        code = EXIT_FAILED
    if code:
        sys.exit(code)


def _run_sweep(config: DictConfig, context: HydraContext, task_function: TaskFunction, typed: Sequence[str]) -> int:
    loader = context.config_loader
    terminal = Terminal()
    jobs, unreadable = split_unreadable(loader, config, GridExpander(loader, config).jobs(config, typed))
    for finding in unreadable:
        terminal.warn(finding)
    if not jobs:
        raise ConfigError("this sweep has no runs.")
    if config.hydra.sweeper.dry_run:
        terminal.plan(list(describe_cells(loader, config, jobs)))
        return 0
    check_writable(config)
    if config.hydra.runtime.choices.get("experiment") is not None:
        terminal.plan([count_by_experiment(jobs)])
    _take_own_folder(config)
    budget = worker_budget(config.hydra.launcher, asked_threads(typed))
    limit_launcher(config.hydra.launcher, budget)
    conductor = Conductor(config, typed, [without_address(job) for job in jobs], terminal)
    address = build_store(config).tracking_uri
    if address is not None:
        hide_address(config, address)
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=context, task_function=task_function, config=config
    )
    code = conductor.run(adapt_launcher(launcher, config, budget), budget.threads)
    return EXIT_FAILED if unreadable else code


def _take_own_folder(config: DictConfig) -> None:
    """Make the folder of this sweep, and name it in the configuration if it is another than the one that was wanted."""
    wanted = Path(config.hydra.sweep.dir)
    with translate_os_errors(wanted):
        folder = claim_folder(wanted)
    if folder == wanted:
        return
    quoted = str(folder).replace("'", r"\'")
    with open_dict(config):
        config.hydra.sweep.dir = str(folder)
        config.hydra.overrides.hydra.append(f"hydra.sweep.dir='{quoted}'")  # of which jobs are composed


def adapt_launcher(launcher: Any, config: DictConfig, budget: WorkerBudget) -> Launcher:
    """What two launchers have no key for: a number of jobs at once, and workers that end with the conductor."""
    name = launcher_name(config.hydra.launcher)
    if name == "LocalLauncher":
        return LaunchInBatches(launcher, budget.n_jobs or 1)
    if name == "JoblibLauncher":
        # joblib starts another worker by itself; of one that was killed the sweep speaks in its own words
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor", UserWarning)
        # its process that removes what others left tells after Ctrl-C what it found, as the last word of all
        silenced = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, silenced))
        launcher.joblib["initializer"] = functools.partial(end_with_conductor, Path(config.hydra.sweep.dir))
    return launcher  # type: ignore[no-any-return]


class Conductor:
    """Runs the jobs of one sweep, and does what belongs to the sweep as a whole.

    Parameters
    ----------
    config : DictConfig
        The composed configuration.
    typed : sequence of str
        The command line, by which the same sweep is recognised.
    jobs : sequence of list of str
        The overrides of each job.
    terminal : Terminal
        Where the sweep is shown.
    """

    def __init__(self, config: DictConfig, typed: Sequence[str], jobs: Sequence[Job], terminal: Terminal) -> None:
        self._experiment = config.hydra.runtime.choices.get("experiment")
        self._folder = Path(config.hydra.sweep.dir)
        self._out_root = Path(config.out_root)
        self._stop_at_error = config.get("on_error") == "stop"
        self._jobs = jobs
        self._terminal = terminal
        self._store = build_store(config)
        self._mirror = mirror_of(self._store, config.out_root)
        self._record = SweepRecord.of(typed, self._experiment, time.time()).with_jobs(0, jobs)

    def run(self, launcher: Launcher, threads: int | None) -> int:
        """Run all jobs with the launcher, and summarise them; returns the exit code.

        ``threads``: of each job that does not name a number itself.
        """
        status = None
        try:
            self._launch(launcher, [with_threads(job, threads) for job in self._jobs])
        except OSError as error:
            self._terminal.error(f"the sweep was cut short: {type(error).__name__}: {error}. {CUT_SHORT}")
            status = "FAILED"
        except FairfrError as error:
            self._terminal.error(f"the sweep was cut short: {error} {CUT_SHORT}")
            status = "FAILED"
        except KeyboardInterrupt:
            self._finish("KILLED")
            raise
        except BaseException:
            self._finish("FAILED")
            raise
        return self._finish(status)

    def _launch(self, launcher: Launcher, jobs: Sequence[Job]) -> None:
        with conducting(self._folder) as process:
            self._record = replace(self._record, process=process)
            self._record.write(self._folder)
            watcher = SweepWatcher(self._folder, len(jobs), self._terminal, self._start_logging, self._log)
            with watcher.watching():
                RecoveringLauncher(launcher, self._folder, jobs, self._record.planned).run(self._stop_at_error)

    def _start_logging(self) -> None:
        """MLflow is imported as soon as a cell is fitted, and not where all are done or end in mistakes."""
        if self._mirror is not None:
            self._mirror.start()

    def _log(self, outcome: CellOutcome) -> None:
        """Give a cell that has just ended to MLflow, from its run folder."""
        if self._mirror is not None and outcome.folder is not None:
            self._mirror.bring(outcome.folder, self._record)

    def _finish(self, status: str | None) -> int:
        """Summarise; returns the exit code. A summary that crashes is told: it does not cost the results."""
        try:
            return self._summarise(status)
        except Exception as error:
            path = self._folder / "error.txt"
            path.write_text(traceback.format_exc(), encoding="utf-8")
            self._terminal.error(f"{type(error).__name__}: {error}\ntraceback: {path}")
            return EXIT_FAILED

    def _summarise(self, status: str | None) -> int:
        """Show the summary, write the tables, finish the parent run in MLflow; returns the exit code.

        ``status``: FAILED or KILLED for a sweep that was cut short.
        """
        missing = STOPPED if status == "KILLED" else DIED
        outcomes = read_outcomes(self._folder, self._record.planned, missing)
        is_failed = self._terminal.sweep_report(outcomes, self._out_root) > 0
        record = self._record.over(time.time(), status, outcomes)
        with contextlib.suppress(OSError):  # on a full disk, which the missing cells show
            record.write(self._folder)
        if self._mirror is not None and status != "KILLED":
            self._mirror.wait_for_import()  # before figures are drawn
        if self._experiment is not None and status != "KILLED":
            write_tables(self._out_root, outcomes, self._terminal)
        if self._mirror is None:
            self._name_next(status)
            return EXIT_FAILED if is_failed else 0
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as report:
            is_failed = not self._bring_sweep(record, outcomes, Path(report)) or is_failed
            refusal = self._mirror.finish(AFTER_CTRL_C if status == "KILLED" else None)
        code = 0 if refusal is None else EXIT_NOT_LOGGED
        if is_failed:
            code = EXIT_FAILED
        if refusal is None:
            self._terminal.mlflow_hint(str(self._out_root), self._mirror.uri)
        elif status != "KILLED":  # the same command, which is all that is to be done, brings MLflow what it lacks
            self._terminal.not_mirrored(refusal, self._out_root, self._mirror.uri, code)
        self._name_next(status)
        return code

    def _name_next(self, status: str | None) -> None:
        """The next command, unless this one has to be repeated first."""
        if status != "KILLED":
            self._terminal.next_step(str(self._out_root))

    def _bring_sweep(self, record: SweepRecord, outcomes: Sequence[CellOutcome], report: Path) -> bool:
        """Finish the parent run in MLflow; returns whether its report could be made, if one is wanted."""
        mirror = self._mirror
        if mirror is None or mirror.refusal is not None or not mirror.lacks_sweep(record, outcomes):
            return True
        is_made = True
        try:
            if self._store.report and record.status != "KILLED":
                write_sweep_report(outcomes, report)
        except Exception as error:  # a report that fails must not cost the parent run its end
            self._terminal.error(f"the sweep's report could not be made: {type(error).__name__}: {error}")
            is_made = False
        mirror.bring_sweep(record, outcomes, report)
        return is_made
