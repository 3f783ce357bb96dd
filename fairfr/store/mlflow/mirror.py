"""Keeps MLflow in step with the run folders, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from fairfr.store.mlflow.client import EXPERIMENT, MlflowError, database_file, default_uri
from fairfr.store.mlflow.marks import Marks
from fairfr.store.mlflow.process import MlflowEndedError, MlflowProcess
from fairfr.store.reading import Result
from fairfr.store.secrets import masked
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import Sweep, SweepEnd

Metrics: TypeAlias = Mapping[str, Sequence[float | None]]
"""Values of each metric by step; a metric that is one number has one step. None: no value at that step."""


class Mirror:
    """MLflow for the runs of one ``out_root``. Its process starts on first need.

    MLflow may be slow, silent or gone: all requests together may spend ``settings.patience`` seconds on failures. After
    that ``has_given_up``, and every further request raises MlflowError at once. A successful request resets the limit.
    """

    def __init__(self, settings: StoreSettings, out_root: Path) -> None:
        self._uri = settings.tracking_uri or default_uri(out_root)
        self.is_elsewhere = settings.tracking_uri is not None
        self._experiment = settings.experiment or EXPERIMENT
        self._artifacts = None if database_file(self._uri) is None else out_root / "mlartifacts"
        self._marks = Marks(out_root, self._uri, self._experiment)
        self._process: MlflowProcess | None = None
        self._patience = self._left = settings.patience
        self._refusal: str | None = None

    @property
    def uri(self) -> str:
        """The store's address without its password."""
        return masked(self._uri)

    @property
    def has_given_up(self) -> bool:
        return self._left <= 0

    def start(self) -> MlflowProcess:
        """Start the process, if it is not running: importing MLflow takes seconds, which pass while a cell computes."""
        if self._process is None:
            self._marks.forget_deleted_database()
            self._process = MlflowProcess(self._uri, self._experiment, self._artifacts, self._patience)
        return self._process

    def wait_until_ready(self) -> None:
        """Return when the database exists."""
        self._request("ready")

    def has(self, result: Result) -> bool:
        """Whether this run was logged to this store, as far as is known here."""
        return self._marks.has_run(result)

    def log(
        self,
        result: Result,
        folder: Path,
        metrics: Metrics | None = None,
        artifacts: Path | None = None,
        sweep: Sweep | None = None,
    ) -> None:
        """Log one run folder, replacing what MLflow has under the same key.

        ``artifacts``: a folder whose files are stored with the run; ``sweep``: its parent run becomes this one's.
        """
        self._marks.clear_run(result)
        self._request(
            "log",
            folder=str(folder),
            metrics=dict(metrics or {}),
            artifacts=None if artifacts is None else str(artifacts),
            sweep=None if sweep is None else sweep.as_dict(),
        )
        self._marks.set_run(result)

    def logged(self) -> dict[str, list[str]]:
        """What MLflow itself has: by run key or sweep id, when its runs finished."""
        known: dict[str, list[str]] = self._request("logged")
        return known

    def tidy(self) -> int:
        """Remove runs that were never finished, and older ones of a key; returns how many."""
        return int(self._request("tidy"))

    def open_sweep(self, sweep: Sweep) -> None:
        """Create the sweep's parent run, if there is none."""
        self._request("open_sweep", sweep=sweep.as_dict())

    def has_sweep(self, sweep: Sweep, end: SweepEnd | None = None) -> bool:
        """Whether the sweep's parent run was finished in this store (with the same status and cells as ``end``)."""
        return self._marks.has_sweep(sweep, end)

    def close_sweep(self, sweep: Sweep, end: SweepEnd, artifacts: Path | None = None) -> None:
        """Finish the parent run, and link the cells that were logged before."""
        self._marks.clear_sweep(sweep)
        files = None if artifacts is None else str(artifacts)
        self._request("close_sweep", sweep=sweep.as_dict(), end=end.as_dict(), artifacts=files)
        self._marks.set_sweep(sweep, end)

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _request(self, call: str, **arguments: Any) -> Any:
        """One call of ``Writer``, within the time left; a process that has ended is started again, once."""
        if self.has_given_up:
            raise MlflowError(self._refusal or f"{self.uri}: given up.")
        deadline = time.monotonic() + self._left
        try:
            try:
                answer = self._try(call, arguments, deadline)
            except MlflowEndedError:
                answer = self._try(call, arguments, deadline)
        except MlflowError as error:
            self._left, self._refusal = deadline - time.monotonic(), error.args[0]
            raise
        self._left = self._patience
        return answer

    def _try(self, call: str, arguments: Mapping[str, Any], deadline: float) -> Any:
        process = self.start()
        try:
            return process.request(call, arguments, max(0.0, deadline - time.monotonic()))
        except MlflowError:
            self.close()  # one that could not open its store never will: the next request starts another
            raise
