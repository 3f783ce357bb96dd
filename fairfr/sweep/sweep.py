"""A sweep from its plan to its summary: what the process that started it does besides launching the cells."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from fairfr.core.errors import FairfrError
from fairfr.paper.reading import reading_shared_by
from fairfr.report.readings import STRICT, Run
from fairfr.report.selection import Selection
from fairfr.store.mlflow.log import MlflowLogger
from fairfr.store.result_file import read_json
from fairfr.store.sweep_record import Outcome, SweepRecord, SweepSummary, read_outcome, read_outcomes
from fairfr.sweep.progress import read_state
from fairfr.sweep.terminal import Terminal

INTERVAL = 0.5  # seconds between two looks for cells that have ended
AFTER_CTRL_C = 0.5  # seconds that MLflow has when a sweep is interrupted
FAILED, NOT_MIRRORED = 1, 3  # exit codes: something has no result; all has, but MLflow does not have it all


class RunningSweep:
    """One sweep; ``folder`` is where its jobs leave their outcomes, ``logger`` None where there is no MLflow.

    Cells are logged while others compute, each when it has left its outcome, whatever process computed it. MLflow is
    not touched where every cell was done before.

    ``is_named``: it is an experiment with a yaml, at whose end the tables are written.
    """

    def __init__(
        self,
        sweep: SweepRecord,
        folder: Path,
        out_root: Path,
        logger: MlflowLogger | None,
        with_report: bool = True,
        is_named: bool = False,
    ) -> None:
        self._sweep, self._folder, self._out_root, self._logger = sweep, folder, out_root, logger
        self._with_report, self._is_named = with_report, is_named
        self._ended: set[int] = set()
        self._is_in_mlflow = False  # whether any of its cells goes there now
        self._over, self._follower = threading.Event(), threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        """Write down that the sweep runs, and follow its cells."""
        self._sweep.write(self._folder)
        if self._logger is not None:
            self._follower.start()

    def _follow(self) -> None:
        while not self._over.wait(INTERVAL):
            self.log_ended()

    def log_ended(self) -> None:
        """Log the cells that have ended since the last call. MLflow is imported as soon as one of them is fitted."""
        assert self._logger is not None
        for job in set(range(len(self._sweep.planned))) - self._ended:
            outcome = read_outcome(self._folder / str(job))
            if outcome is None:
                state = read_state(self._folder / str(job))
                if state is not None and state.folds is not None:
                    self._logger.start()
                continue
            self._ended.add(job)
            if outcome.get("is_for_mlflow"):
                self._is_in_mlflow = True
                self._logger.log_run(Path(outcome["folder"]), self._sweep)

    def plan(self, first: int, jobs: Sequence[Sequence[str]]) -> Sequence[str]:
        """Write down which jobs there will be, and return their names: what did not run is known only by that."""
        self._sweep = self._sweep.with_jobs(first, jobs)
        self._sweep.write(self._folder)
        return self._sweep.planned[first:]

    def finish(self, status: str | None = None) -> int:
        """Show the summary and finish the parent run; returns the exit code.

        ``status``: FAILED or KILLED for a sweep that was cut short.
        """
        terminal = Terminal()
        outcomes = read_outcomes(self._folder, self._sweep.planned)
        failed = bool(outcomes) and terminal.sweep_report(outcomes, self._out_root) > 0
        over = self._sweep.over(time.time(), status, outcomes)
        with contextlib.suppress(OSError):  # on a full disk, which the missing cells show
            over.write(self._folder)
        if self._is_named and status != "KILLED":
            self._write_tables(outcomes, terminal)
        if self._logger is None:
            return FAILED if failed else 0
        made, refusal = self._log_end(self._logger, over, outcomes, terminal)
        if refusal is None:
            terminal.mlflow_hint(str(self._out_root), self._logger)
        else:
            terminal.not_mirrored(refusal, self._out_root, self._logger.uri)
        if failed or not made:
            return FAILED
        return 0 if refusal is None else NOT_MIRRORED

    def _write_tables(self, outcomes: Sequence[Outcome], terminal: Terminal) -> None:
        """The tables of all runs below ``out_root`` that share what the sweep's own runs share.

        Of studies only those that it belongs to: intervals of others would be drawn anew. ``fairfr tables`` makes all.
        Where older runs stand in the way, that is said: the sweep itself has not failed.
        """
        from fairfr.paper.definition import PAPER
        from fairfr.report.runs import read_runs
        from fairfr.report.write import ReportOptions, write_report

        try:
            results, _ = read_runs(self._out_root)
            keys = {read["key"] for o in outcomes if "folder" in o and (read := read_json(Path(o["folder"])))}
            own = [run for run in results if run.stored["key"] in keys]
            names = frozenset(str(run.stored.get("study")) for run in own)
            studies = [study for study in PAPER.studies if study.name in names]
            chosen = Selection.shared_by(own, [name for study in studies for name in study.varies])
            pages = write_report(results, self._out_root, None, ReportOptions(selection=chosen, studies=names), PAPER)
        except FairfrError as error:
            terminal.error(f"no tables: {error.named()}")
            return
        terminal.tables([page.folder for page in pages])

    def _log_end(
        self, logger: MlflowLogger, over: SweepRecord, outcomes: Sequence[Outcome], terminal: Terminal
    ) -> tuple[bool, str | None]:
        """Finish the parent run; whether the report could be made, and why MLflow does not have all, if so."""
        self._over.set()
        if self._follower.is_alive():
            self._follower.join()
        self.log_ended()
        limit = AFTER_CTRL_C if over.status == "KILLED" else None
        if not self._is_in_mlflow or logger.refusal is not None:
            return True, logger.finish(limit)
        made = True
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            try:
                if self._with_report and over.status != "KILLED":
                    write_sweep_report(outcomes, Path(name))
            except Exception as error:  # a report that fails must not cost the parent run its end
                terminal.error(f"the sweep's report could not be made: {type(error).__name__}: {error}")
                made = False
            logger.close_sweep(over, SweepSummary.of(over, outcomes), Path(name))
            return made, logger.finish(limit)


def write_sweep_report(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Tables, claims and figures of these cells alone, in the reading that all of them share: they take seconds.

    Of the paper's settings alone there are strict tables too.
    """
    from fairfr.paper.definition import PAPER
    from fairfr.report.write import ReportOptions, write_report

    folders = dict.fromkeys(Path(outcome["folder"]) for outcome in outcomes if "folder" in outcome)
    stored = [(read_json(path), path) for path in folders]
    results = [Run(result, path) for result, path in stored if result is not None]
    shared = reading_shared_by(run.stored for run in results)
    for reading in dict.fromkeys((shared, STRICT)):
        wanted = ReportOptions(figures=reading == shared, selection=Selection(everything=True))
        write_report(results, folder, reading, wanted, PAPER)
