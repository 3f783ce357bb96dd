"""A second Python process that imports MLflow, which takes seconds: they pass while a cell computes."""

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

from fairfr.store.mlflow.client import MlflowError

PACKAGE = Path(__file__).parents[2]
SENDING, CLOSING, ENDING = 1.0, 10.0, 1.0  # seconds

# The same fairfr as here, and nothing from the working directory: a yaml.py there is not ours to run.
START = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("fairfr", sys.argv[1] + "/__init__.py")
sys.modules["fairfr"] = fairfr = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fairfr)
from fairfr.store.mlflow.server import serve
serve()
"""


class MlflowEndedError(MlflowError):
    """The process that runs MLflow has ended; a new one may succeed."""


class MlflowProcess:
    """Runs ``server.serve`` for one experiment of one store. A request is one line of JSON, as is its answer.

    ``patience``: seconds that opening the store may take there.
    """

    def __init__(self, uri: str, experiment: str, artifact_root: Path | None, patience: float) -> None:
        self._uri = uri
        self._asked, self._is_given_up = 0, False
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  a pipe nobody reads would fill up
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START, str(PACKAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"},
            start_new_session=True,  # Ctrl-C is for the sweep, which still has to record in MLflow that it was stopped
        )
        threading.Thread(target=self._read_answers, daemon=True).start()
        place = {"uri": uri, "experiment": experiment, "artifact_root": str(artifact_root or "")}
        # not as arguments, which everybody on the machine can list: the uri may hold a password
        self._send({**place, "parent": os.getpid(), "patience": patience})

    def request(self, call: str, arguments: Mapping[str, Any], timeout: float) -> Any:
        """The answer of ``Writer.<call>``; MlflowError if it fails, or has none within ``timeout`` seconds."""
        self._asked += 1
        self._send({"number": self._asked, "call": call, "arguments": arguments})
        deadline = time.monotonic() + timeout
        answer: dict[str, Any] = {"number": 0}
        while answer["number"] != self._asked:  # Ctrl-C left an older one unread
            try:
                answer = json.loads(self._answers.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                self._give_up()
                raise MlflowError(f"{self._uri}: no answer within {timeout:.0f} s.") from None
            except ValueError:
                raise MlflowEndedError(f"the MLflow process ended early ({self._error_message()}).") from None
        if "error" in answer:
            raise MlflowError(f"{self._uri}: {answer['error']}")
        return answer["ok"]

    def close(self) -> None:
        """Let the process end; one that had no request, or did not answer, is not waited for."""
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

    def _send(self, message: Mapping[str, Any]) -> None:
        """In a thread: a process that does not read would stop the writer as soon as the pipe is full."""
        pipe = self._process.stdin
        assert pipe is not None

        def write() -> None:
            try:
                pipe.write(json.dumps(message) + "\n")
                pipe.flush()
            except (OSError, ValueError):  # the process has ended, as the missing answer will show
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
        """Ask the process to end. One that is creating its database finishes that first: half of it is useless."""
        self._is_given_up = True
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)

    def _error_message(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)
        self._stderr.seek(0)
        return (self._stderr.read().strip().splitlines() or ["no message"])[-1]


def _shut(pipe: IO[str] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):  # what was not sent yet has nobody to read it
            pipe.close()
