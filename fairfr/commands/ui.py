"""Open the MLflow page over the runs of an output folder.

  fairfr ui
  fairfr ui --out-root my_runs --port 5001

The page is for this machine alone (127.0.0.1): it has no password.

next: fairfr tables
"""

import argparse
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.store.mlflow.client import EXPERIMENT, MlflowError, default_uri, ui_pages

HOST = "127.0.0.1"  # the page has no password
BETWEEN_TRIES, CLOSING = 0.3, 10.0  # seconds
LAST_LINES = 5


def main() -> None:
    """Run the MLflow server, on loopback, and print the addresses that show metrics at once when it answers."""
    arguments = parse(make_parser())
    database = (arguments.out_root / "mlflow.db").resolve()
    if not database.exists():
        sys.exit(
            f"{database} does not exist yet. Run something first, for example: make demo. "
            "Runs are elsewhere? Name their folder: fairfr ui --out-root DIR, or make ui OUT=DIR"
        )
    if importlib.util.find_spec("mlflow") is None:
        raise ModuleNotFoundError("No module named 'mlflow'", name="mlflow")  # before a server is started
    uri = default_uri(arguments.out_root)
    print(f"Starting MLflow over {database} ...", flush=True)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    with contextlib.suppress(KeyboardInterrupt), _server(uri, arguments.port) as (server, output):
        try:
            listed = ui_pages(uri, arguments.mlflow_experiment)
        except MlflowError as error:
            sys.exit(str(error))
        if _answers(server, arguments.port):
            print("Open (stop with Ctrl-C):")
            for title, page in listed:
                print(f"  {title}\n      http://{HOST}:{arguments.port}/#{page}")
            sys.stdout.flush()
            server.wait()
        output.seek(0)
        said = "\n".join(output.read().strip().splitlines()[-LAST_LINES:])
        sys.exit(f"The MLflow server ended (exit code {server.returncode}). Its last lines:\n{said}")


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(**pattern("[options]", __doc__ or ""), add_help=False)
    show_help_option(parser)
    add = parser.add_argument_group("input").add_argument
    add("--out-root", type=Path, default=Path("outputs"), metavar="DIR", help="folder of runs/ (default: outputs)")
    add("--mlflow-experiment", "--experiment", default=EXPERIMENT, metavar="NAME", help="in MLflow (default: fairfr)")
    add("--port", type=int, default=5000, metavar="N", help="on this machine (default: 5000)")
    return parser


@contextlib.contextmanager
def _server(uri: str, port: int) -> Iterator[tuple["subprocess.Popen[str]", IO[str]]]:
    """The server and its output, which is shown only if it fails; it ends with the block."""
    environment = {
        **os.environ,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # for language models: more processes, a slow start
        "PYTHONSAFEPATH": "1",  # the server and its workers import nothing from the working directory
    }
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri, "--host", HOST]
    command += ["--port", str(port), "--workers", "1", "--uvicorn-opts", "--log-level warning"]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        server = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, text=True, start_new_session=True
        )
        try:
            yield server, output
        finally:
            _end(server)


def _end(server: "subprocess.Popen[str]") -> None:
    """The server and its workers, which are one process group."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(server.pid, ending)
            server.wait(CLOSING)


def _answers(server: "subprocess.Popen[str]", port: int) -> bool:
    """Wait until the server answers; False if it ends before that."""
    while server.poll() is None:
        try:
            with urlopen(f"http://{HOST}:{port}/health", timeout=1):
                return server.poll() is None
        except (URLError, OSError):
            time.sleep(BETWEEN_TRIES)
    return False
