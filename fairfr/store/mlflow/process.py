"""The other process that knows MLflow: importing it takes seconds, which pass while a cell computes.

mirror = MlflowMirror(uri, experiment, artifact_root)   # starts a Python that runs mlflow_log.serve
mirror.log(run_folder)                                  # one run in MLflow for each run folder
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import fairfr
from fairfr.core.errors import FairfrError
from fairfr.store.secrets import masked
from fairfr.store.settings import PATIENCE
from fairfr.store.sweep import Sweep, SweepEnd

SENDING, CLOSING, ENDING = 1.0, 10.0, 1.0  # seconds

# The very fairfr that asks, and nothing from the working directory: a yaml.py there is not ours to run.
START = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("fairfr", sys.argv[1] + "/__init__.py")
sys.modules["fairfr"] = fairfr = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fairfr)
from fairfr.store.mlflow.writer import serve
serve()
"""


class MlflowError(FairfrError):
    """MLflow could not be reached or refused a run. The run folder is complete all the same."""

    def __init__(self, message: str) -> None:
        super().__init__(masked(message))


class MlflowEndedError(MlflowError):
    """The process that knows MLflow is gone; another one may do better."""


def default_uri(out_root: Path) -> str:
    """The sqlite database beside the runs."""
    return f"sqlite:///{(out_root / 'mlflow.db').resolve()}"


class MlflowMirror:
    """A process that logs run folders to one MLflow experiment. Each request is one line of JSON, as is its answer.

    ``patience``: seconds until a request without an answer is an MlflowError, and the process is given up.
    """

    def __init__(
        self, uri: str, experiment: str, artifact_root: Path | None = None, patience: float = PATIENCE
    ) -> None:
        self.uri, self.patience = uri, patience
        self._asked, self._is_given_up = 0, False
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  a pipe nobody reads would fill up
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START, str(Path(fairfr.__file__).parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"},
            start_new_session=True,  # Ctrl-C is for the sweep, which then still tells MLflow that it was stopped
        )
        threading.Thread(target=self._read_answers, daemon=True).start()
        place = {"uri": uri, "experiment": experiment, "artifact_root": str(artifact_root or "")}
        # not as arguments, which everybody on the machine can list: the uri may hold a password
        self._send({**place, "parent": os.getpid(), "patience": patience})

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

    def logged(self) -> dict[str, list[str]]:
        """Which run keys the experiment has, and when the runs of each finished."""
        known: dict[str, list[str]] = json.loads(self._ask({"do": "logged"}))
        return known

    def tidy(self) -> int:
        """Remove runs that were never finished, and older ones of a key; returns how many."""
        return int(self._ask({"do": "tidy"}))

    def close(self) -> None:
        """Let the process end; one that was asked nothing, or did not answer, is not waited for."""
        if self._asked == 0:
            self._give_up()
        elif not self._is_given_up:
            _shut(self._process.stdin)
            try:
                self._process.wait(CLOSING)
            except subprocess.TimeoutExpired:
                self._give_up()
        if not self._sender.is_alive():  # else it closes the pipe itself, when nobody is left to read
            _shut(self._process.stdin)
        self._stderr.close()

    def _ask(self, request: Mapping[str, Any]) -> str:
        self._asked += 1
        self._send({**request, "number": self._asked})
        deadline = time.monotonic() + self.patience
        answer: dict[str, Any] = {"number": 0}
        while answer["number"] != self._asked:  # Ctrl-C left an older one unread
            try:
                line = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
                answer = json.loads(line)
            except queue.Empty:
                self._give_up()
                raise MlflowError(f"{self.uri}: no answer within {self.patience:.0f} s.") from None
            except ValueError:
                raise MlflowEndedError(f"the MLflow process ended early ({self._last_words()}).") from None
        if "error" in answer:
            raise MlflowError(f"{self.uri}: {answer['error']}")
        return str(answer["ok"])

    def _send(self, request: Mapping[str, Any]) -> None:
        """In a thread: a process that does not read would stop the writer as soon as the pipe is full."""
        pipe = self._process.stdin
        assert pipe is not None

        def write() -> None:
            try:
                pipe.write(json.dumps(request) + "\n")
                pipe.flush()
            except (OSError, ValueError):  # the process is gone, as the missing answer will tell
                _shut(pipe)

        self._sender = threading.Thread(target=write, daemon=True)
        self._sender.start()
        self._sender.join(SENDING)

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                self._answers.put(line)
        self._answers.put("")  # no JSON: the end

    def _give_up(self) -> None:
        """Ask the process to end. One that is making its database finishes that first: half of it would be useless."""
        self._is_given_up = True
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)
        self._stderr.seek(0)
        return (self._stderr.read().strip().splitlines() or ["no message"])[-1]


def _shut(pipe: IO[str] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):  # what was not sent yet has nobody to read it
            pipe.close()
