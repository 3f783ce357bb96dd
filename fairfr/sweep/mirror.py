"""MLflow as a mirror of the run folders: runs, sweeps and ``fairfr sync`` bring it what it lacks, in one way.

What has a run folder is given to the mirror, whenever it was computed, and nothing happens where MLflow has it. So what
a kill, a full disk, a server that was down or ``store=folder`` left out, the same command brings later.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fairfr.core.errors import FairfrError
from fairfr.core.run_result import RunResult
from fairfr.store.mlflow.client import MlflowError, import_mlflow, mlflow_errors, store_uri
from fairfr.store.mlflow.describe import measured_at
from fairfr.store.mlflow.ledger import Ledger
from fairfr.store.mlflow.log import MlflowWriter, id_as_new, whole_result
from fairfr.store.result_file import DamagedRunError, StoredRun, read_without_metrics, stored_runs
from fairfr.store.run_folder import FAILED
from fairfr.store.secrets import mask_passwords
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import CellOutcome, SweepRecord, SweepSummary, stored_sweeps
from fairfr.sweep.mlflow_metrics import describe_run
from fairfr.sweep.sweep_report import write_sweep_report

INVALID_CONTENT = "INVALID_PARAMETER_VALUE"  # MLflow's code for a name or a value that it does not take
Task: TypeAlias = "Callable[[MlflowWriter], object]"


class Brought(NamedTuple):
    """What ``fairfr sync`` did."""

    runs: int = 0
    runs_there: int = 0
    sweeps: int = 0
    sweeps_there: int = 0
    removed: int = 0


class Mirror:
    """Brings run folders and sweeps to one MLflow store.

    ``bring`` and ``bring_sweep`` leave it to a daemon thread, within one time limit: the folders are published, so
    MLflow may be slow, silent or gone, and nothing of it is raised. After a refusal nothing more is tried, unless it
    was of one run's content; ``finish`` returns the first. ``bring_all`` waits.

    Parameters
    ----------
    store : StoreSettings
        Where to log. ``patience`` is how many seconds ``finish`` waits in all.
    out_root : Path
        The folder that has the runs, and the database if the settings name no other store.
    config_dirs : tuple of Path
        The user's own configurations, as for ``Run``: ``bring_all`` makes reports.
    """

    def __init__(self, store: StoreSettings, out_root: Path, config_dirs: tuple[Path, ...] = ()) -> None:
        self._store = store
        self._out_root = out_root
        self._config_dirs = config_dirs
        self.uri = mask_passwords(store_uri(store, out_root))
        self._ledger = Ledger(store, out_root)
        self._measured: dict[tuple[str, ...], str] = {}  # when, of each run that was given, by its place
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_imported = threading.Event()
        self._n_tasks = 0
        self._refusal: str | None = None
        self._refused_content: str | None = None  # of the first run that MLflow does not take as it is

    def start(self) -> None:
        """Start the thread, once: importing MLflow and opening the store take seconds, while a cell computes."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mlflow", daemon=True)
            self._thread.start()

    def bring(self, folder: Path, sweep: SweepRecord | None = None) -> None:
        """Log one published run folder, soon; ``sweep``: its parent run becomes this one's.

        Nothing happens where MLflow has taken this run, and with a failed repetition of a run that is complete.
        """
        if folder.is_relative_to(self._out_root / FAILED):
            return
        with contextlib.suppress(DamagedRunError):  # the thread says so
            result = read_without_metrics(folder)
            if result is not None:
                self._remember(folder, result)
                if self._ledger.has(result.key, measured_at(result)):
                    return
        self._add(lambda writer: self._log_soon(writer, folder, sweep))

    def lacks_sweep(self, sweep: SweepRecord, outcomes: Sequence[CellOutcome]) -> bool:
        """Whether MLflow has not taken this sweep with the runs that it has now; one without a run is not for it."""
        return self._has_runs(outcomes) and not self._ledger.has(sweep.id, self._state(sweep, outcomes))

    def bring_sweep(self, sweep: SweepRecord, outcomes: Sequence[CellOutcome], report: Path | None = None) -> None:
        """Finish the sweep's parent run, soon; its cells were given before.

        ``report``: a folder with files to log with it, kept until ``finish`` returns.
        """
        self._add(lambda writer: self._close(writer, sweep, outcomes, report))

    @property
    def refusal(self) -> str | None:
        """Why MLflow takes nothing, as soon as that is known: nothing more is tried."""
        return self._refusal

    def wait_for_import(self) -> None:
        """Wait until MLflow is imported, if that has begun.

        matplotlib asks IPython about its terminal, and fails where MLflow, in the thread, has imported half of it.
        """
        if self._thread is not None:
            self._is_imported.wait()

    def finish(self, limit: float | None = None) -> str | None:
        """Wait until all is logged, ``store.patience`` or ``limit`` seconds in all; returns why something was not.

        Without anything to log there is no wait but for the end of MLflow's import, which would not survive the end of
        the process. Nothing can be logged afterwards.
        """
        if self._thread is None:
            return None
        if self._n_tasks == 0:
            self.wait_for_import()
            return None
        seconds = self._store.patience if limit is None else limit
        self._tasks.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive() and self._refusal is None:
            return MlflowError(f"{self.uri}: logging was not finished within {seconds:g} s.").named()
        return self._refusal or self._refused_content

    def bring_all(
        self,
        on_refusal: Callable[[str], object],
        on_damage: Callable[[str], object],
        track: Callable[[list[StoredRun]], Iterable[StoredRun]] = iter,
    ) -> Brought:
        """Bring every run and sweep below ``out_root``, whatever the ledger has, and remove what was never finished.

        What MLflow refuses is told, and the others follow, until it has refused everything for ``store.patience``
        seconds: then its error is raised. ``track``: shows how far this is.
        """
        with mlflow_errors(self.uri):
            writer = MlflowWriter(self._store, self._out_root)
            removed = writer.delete_unfinished()
            known = writer.runs_by_key()
        patience = _Patience(self._store.patience, on_refusal)
        runs: list[bool] = []  # of each that MLflow has now, whether it is new there
        sweeps: list[bool] = []
        for run in track(list(stored_runs(self._out_root, on_damage))):
            self._remember(run.folder, run.result)
            with patience.for_one(str(run.folder)), mlflow_errors(self.uri):
                runs.append(self._log(writer, run.folder, None, known.get(run.result.key, [])))
        for sweep, outcomes in stored_sweeps(self._out_root):
            if self._has_runs(outcomes):
                with patience.for_one(f"sweep {sweep.first_name}"):
                    sweeps.append(self._rebuild(writer, sweep, outcomes))
        return Brought(runs.count(True), runs.count(False), sweeps.count(True), sweeps.count(False), removed)

    def _remember(self, folder: Path, result: RunResult) -> None:
        self._measured[_place(folder)] = measured_at(result)

    def _has_runs(self, outcomes: Iterable[CellOutcome]) -> bool:
        return any(outcome.folder is not None and _place(outcome.folder) in self._measured for outcome in outcomes)

    def _state(self, sweep: SweepRecord, outcomes: Iterable[CellOutcome]) -> str:
        """A digest of how a sweep ended and of the runs that it has: the same when it is repeated."""
        cells: list[Sequence[str]] = []
        for outcome in outcomes:
            place = () if outcome.folder is None else _place(outcome.folder)
            cells.append((*place, self._measured.get(place, outcome.status), outcome.choices))
        return hashlib.sha256(json.dumps([sweep.status, sorted(cells)]).encode()).hexdigest()[:16]

    def _add(self, task: Task) -> None:
        self._n_tasks += 1
        self._tasks.put(task)
        self.start()

    def _run(self) -> None:
        """What the thread does until ``finish`` is called or the first refusal."""
        try:
            with mlflow_errors(self.uri):
                try:
                    import_mlflow(self._store.patience / 4)
                finally:
                    self._is_imported.set()
                writer = MlflowWriter(self._store, self._out_root)
                task = self._tasks.get()
                while task is not None:
                    task(writer)
                    task = self._tasks.get()
        except FairfrError as error:
            self._refusal = error.named()

    def _log_soon(self, writer: MlflowWriter, folder: Path, sweep: SweepRecord | None) -> None:
        """Log a run; a refusal is raised unless it is of this run's content alone: the others follow."""
        try:
            with mlflow_errors(self.uri):
                self._log(writer, folder, sweep)
        except FairfrError as error:
            is_content = getattr(error.__cause__, "error_code", None) == INVALID_CONTENT
            if not is_content and not isinstance(error, DamagedRunError):
                raise
            if self._refused_content is None:
                self._refused_content = f"{error.named()} Not logged: {folder}."

    def _log(
        self, writer: MlflowWriter, folder: Path, sweep: SweepRecord | None, known: Sequence[Any] | None = None
    ) -> bool:
        """Log a run unless MLflow has it as new or newer; returns whether it is new there.

        ``known``: the runs of this key that MLflow has; None: look them up.
        """
        result = whole_result(folder)
        run_id = id_as_new(result, writer.runs_of(result.key) if known is None else known)
        is_new = run_id is None
        if run_id is None:
            run_id = writer.log_run(folder, describe_run, sweep)
        self._ledger.add(result.key, measured_at(result), run_id)
        return is_new

    def _close(
        self, writer: MlflowWriter, sweep: SweepRecord, outcomes: Sequence[CellOutcome], report: Path | None
    ) -> None:
        state = self._state(sweep, outcomes)
        parent = writer.close_sweep(sweep, SweepSummary.of(sweep, outcomes), state, report)
        self._ledger.add(sweep.id, state, parent)

    def _rebuild(self, writer: MlflowWriter, sweep: SweepRecord, outcomes: Sequence[CellOutcome]) -> bool:
        """Finish a sweep's parent run with its report, unless MLflow has it like this; returns whether it was new."""
        state = self._state(sweep, outcomes)
        with mlflow_errors(self.uri):
            parent = writer.closed_sweep(sweep, state)
            if parent is not None:
                writer.link(sweep, parent, SweepSummary.of(sweep, outcomes).keys)
                self._ledger.add(sweep.id, state, parent)
                return False
        with tempfile.TemporaryDirectory() as report:
            write_sweep_report(outcomes, Path(report), self._config_dirs)
            with mlflow_errors(self.uri):
                self._close(writer, sweep, outcomes, Path(report))
        return True


def _place(folder: Path) -> tuple[str, ...]:
    """A run folder by its key alone: data set, backbone, method and digest."""
    return folder.parts[-4:]


class _Patience:
    """How long MLflow may refuse one run after the other: one that takes nothing any more would cost hours."""

    def __init__(self, seconds: float, on_refusal: Callable[[str], object]) -> None:
        self._seconds = seconds
        self._on_refusal = on_refusal
        self._last_logged = time.monotonic()

    @contextmanager
    def for_one(self, what: str) -> Iterator[None]:
        """Tell a refusal, and raise it if the last thing that MLflow took was too long ago."""
        try:
            yield
        except FairfrError as error:
            if time.monotonic() - self._last_logged > self._seconds:
                raise
            self._on_refusal(f"not logged: {what}: {error}")
        else:
            self._last_logged = time.monotonic()
