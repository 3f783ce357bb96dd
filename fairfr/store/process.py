"""The other process that knows MLflow: importing it takes seconds, which pass while a cell computes.

mirror = MlflowMirror(uri, experiment, artifact_root)   # starts python -m fairfr.store.mlflow_log
mirror.log(run_folder)                                  # one run in MLflow for each run folder
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairfr.core.errors import FairfrError
from fairfr.store.sweep import Sweep, SweepEnd


class MlflowError(FairfrError):
    """MLflow could not be reached or refused a run. The run folder is complete all the same."""


def default_uri(out_root: Path) -> str:
    """The sqlite database beside the runs."""
    return f"sqlite:///{(out_root / 'mlflow.db').resolve()}"


class MlflowMirror:
    """A process that logs run folders to one MLflow experiment. Each request is one line of JSON, as is its answer."""

    def __init__(self, uri: str, experiment: str, artifact_root: Path | None = None) -> None:
        self.uri = uri
        self._asked = 0
        command = [sys.executable, "-m", "fairfr.store.mlflow_log", uri, experiment, str(artifact_root or "")]
        environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "OMP_NUM_THREADS": "1"}
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  a pipe nobody reads would fill up
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the sweep, which then still tells MLflow that it was stopped
        )

    def wait_until_ready(self) -> None:
        """Return when the database exists: parallel workers must not race to make it."""
        self._ask({"do": "ready"})

    def log(self, run_folder: Path, metrics: Mapping[str, float] | None = None, sweep: Sweep | None = None) -> str:
        """Log one run folder, replacing what MLflow has under the same key; returns the run's id.

        ``metrics`` come on top of those in result.json; ``sweep`` makes it a child of that sweep's parent run.
        """
        about = None if sweep is None else sweep.as_dict()
        return self._ask({"do": "log", "folder": str(run_folder), "metrics": dict(metrics or {}), "sweep": about})

    def open_sweep(self, sweep: Sweep) -> str:
        """The id of the sweep's parent run, which is made if there is none."""
        return self._ask({"do": "open", "sweep": sweep.as_dict()})

    def close_sweep(self, sweep: Sweep, end: SweepEnd, artifacts: Path | None = None) -> str:
        """Finish the parent run, and link the cells that were there before."""
        where = None if artifacts is None else str(artifacts)
        return self._ask({"do": "close", "sweep": sweep.as_dict(), "end": end.as_dict(), "artifacts": where})

    def logged(self) -> dict[str, str]:
        """Which run keys the experiment has, and when each of these runs finished."""
        known: dict[str, str] = json.loads(self._ask({"do": "logged"}))
        return known

    def close(self) -> None:
        self._process.communicate()
        self._stderr.close()

    def _ask(self, request: Mapping[str, Any]) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._asked += 1
        try:
            self._process.stdin.write(json.dumps({**request, "number": self._asked}) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline() or "null")
            while answer is not None and answer["number"] != self._asked:  # Ctrl-C left an older one unread
                answer = json.loads(self._process.stdout.readline() or "null")
        except (BrokenPipeError, json.JSONDecodeError):
            answer = None
        if answer is None:
            self._process.wait()
            self._stderr.seek(0)
            stderr = self._stderr.read().strip().splitlines()
            raise MlflowError(f"the MLflow process ended early ({stderr[-1] if stderr else 'no message'}).")
        if "error" in answer:
            raise MlflowError(f"{self.uri}: {answer['error']}")
        return str(answer["ok"])
