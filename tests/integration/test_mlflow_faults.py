"""MLflow that is down, silent, locked, shared or hostile: the results are there, and nothing waits or leaks for it."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import filelock
import pytest

from fairfr.store.locks import this_machine
from fairfr.store.mlflow.client import MlflowError, default_uri, read_results
from fairfr.store.mlflow.log import MlflowWriter
from fairfr.store.result_file import DamagedRunError, write_result
from fairfr.store.settings import StoreSettings
from fairfr.sweep.mirror import Mirror
from fairfr.sweep.mlflow_metrics import describe_run

pytestmark = pytest.mark.slow

PATIENCE = 100.0  # seconds: importing MLflow on a busy machine is no fault
NOBODY = 2**30  # no process has this number


@pytest.fixture
def silent_server() -> Iterator[str]:
    """A server that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def held_lock(out: Path) -> Iterator[Path]:
    path = out / "mlflow.db.lock"
    with filelock.FileLock(path):
        yield path


@pytest.fixture
def dripping_server() -> Iterator[str]:
    """A server that answers one byte at a time, each before any timeout, and never ends."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not over.wait(0.1):
                    connection.sendall(b" ")

        threading.Thread(target=drip, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()


def refusal(uri: str, out_root: Path, patience: float = PATIENCE) -> str:
    """What is said about a run that was to be logged to this store."""
    mirror = Mirror(StoreSettings("mlflow", uri, patience=patience), out_root)
    mirror.bring(out_root)
    refused = mirror.finish()
    assert refused is not None
    return refused


@pytest.mark.server
def test_a_server_that_never_answers_is_given_up(silent_server: str, tmp_path: Path) -> None:
    assert "not finished within 1 s" in refusal(silent_server, tmp_path, patience=1.0)


@pytest.mark.server
def test_a_server_that_answers_byte_by_byte_is_given_up(dripping_server: str, tmp_path: Path) -> None:
    assert "not finished within 1 s" in refusal(dripping_server, tmp_path, patience=1.0)


def test_a_server_that_is_down_says_so_long_before_mlflow_would(unused_port: int, tmp_path: Path) -> None:
    assert f"port={unused_port}" in refusal(f"http://127.0.0.1:{unused_port}", tmp_path)


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return int(closed.getsockname()[1])


def test_a_lock_that_somebody_holds_is_not_waited_for_and_named(
    out: Path, held_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = refusal(default_uri(out), out, patience=2.0)
    assert f"another process has held {held_lock}" in said
    monkeypatch.setattr("fairfr.store.mlflow.client.PATIENCE", 0.1)
    with pytest.raises(MlflowError, match=f"another process has held {re.escape(str(held_lock))}"):
        read_results(default_uri(out))


def test_a_database_that_cannot_be_opened_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").mkdir()
    assert "unable to open database file" in refusal(default_uri(tmp_path), tmp_path)


def test_a_database_below_a_file_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "mlflow.db" in refusal(default_uri(tmp_path / "file"), tmp_path)


def test_a_database_that_another_program_has_locked_is_told(out: Path) -> None:
    with closing(sqlite3.connect(out / "mlflow.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "database is locked" in refusal(default_uri(out), out)


@pytest.mark.server
def test_a_silent_server_costs_neither_the_results_nor_the_sweep(
    run_py: Any, small: tuple[str, ...], silent_server: str, tmp_path: Path
) -> None:
    """The cells run in two other processes, which do not talk to MLflow."""
    store = (f"store.tracking_uri={silent_server}", "store.patience=1")
    launcher = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    done = run_py("-m", *small, "dataset.grouping=[]", "method=baseline,platt", *store, *launcher)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "2 runs: 2 computed, 0 already done, 0 failed" in done.stdout
    assert done.stdout.count("not finished within 1 s") == 1 and "the numbers are safe" in done.stdout
    assert len(list((tmp_path / "out").glob("runs/*/*/*/*/result.json"))) == 2


PROCESSES = pytest.param(("-m", "hydra/launcher=submitit_local"), id="pickled jobs", marks=pytest.mark.launcher)


@pytest.mark.parametrize("sweep", [pytest.param((), id="one cell"), pytest.param(("-m",), id="sweep"), PROCESSES])
def test_a_password_in_the_address_stands_nowhere(
    run_py: Any, small: tuple[str, ...], unused_port: int, tmp_path: Path, sweep: tuple[str, ...]
) -> None:
    address = f"http://me:s3cret@127.0.0.1:{unused_port}"
    store = (f"store.tracking_uri={address}", "store.patience=15")
    done = run_py(*sweep, *small, "dataset.grouping=[]", "method=baseline", *store)
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"http://me:***@127.0.0.1:{unused_port}" in done.stdout and "s3cret" not in done.stdout + done.stderr
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any(path.name.endswith(("overrides.yaml", "_result.pkl")) for path in files) and any(
        "runs" in path.parts for path in files
    )
    assert [path for path in files if b"s3cret" in path.read_bytes()] == []


def client_of(out: Path) -> tuple[Any, str]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(default_uri(out))
    return client, client.get_experiment_by_name("fairfr").experiment_id


def runs_in(out: Path) -> list[Any]:
    client, experiment = client_of(out)
    return list(client.search_runs([experiment]))


def test_a_failed_run_leaves_the_completed_one_of_a_colleague(
    cell: Any, small: tuple[str, ...], out: Path, writer: MlflowWriter, tmp_path: Path
) -> None:
    """Two people, one store, the same cell: it succeeds for one and fails for the other; then it succeeds for both."""
    good = cell(*small, "dataset.grouping=[]", "method=platt")
    writer.log_run(good.folder, describe_run)
    (first,) = runs_in(out)
    assert first.data.tags["mlflow.source.git.commit"] == good.result.code["commit"]
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "config.yaml").write_text((good.folder / "config.yaml").read_text())
    later = {"finished": "2031-01-01T00:00:00+00:00", "seconds": None, "peak_memory_mb": None}
    failed = replace(good.result, status="failed", error="no room", threads=1, metric_warnings=(), **later)
    write_result(folder, failed)
    for _ in range(2):
        writer.log_run(folder, describe_run)
    assert sorted(run.info.status for run in runs_in(out)) == ["FAILED", "FINISHED"]
    (only,) = read_results(default_uri(out))
    assert only.to_json() == good.result.to_json()
    logged = writer.runs_by_key()[good.result.key]
    assert {run.data.tags["finished"] for run in logged} == {good.result.finished, failed.finished}
    writer.log_run(good.folder, describe_run)
    (last,) = runs_in(out)
    assert last.info.status == "FINISHED" and last.info.run_id != first.info.run_id


def test_runs_that_nobody_will_finish_are_removed(
    cell: Any, small: tuple[str, ...], out: Path, writer: MlflowWriter
) -> None:
    outcome = cell(*small, "dataset.grouping=[]", "method=platt")
    writer.log_run(outcome.folder, describe_run)
    client, experiment = client_of(out)
    unfinished = {
        "dead": (f"{this_machine()} {NOBODY}", time.time()),
        "old": (f"elsewhere {NOBODY}", time.time() - 7200),
        "alive": (f"{this_machine()} {os.getpid()}", time.time()),
        "away": (f"elsewhere {NOBODY}", time.time()),
    }
    for name, (by, at) in unfinished.items():
        tags = {"run_key": outcome.result.key, "writer": by, "logged_at": str(at)}
        client.create_run(experiment, run_name=name, tags=tags)
    assert writer.delete_unfinished() == 2
    left = {run.info.run_name for run in runs_in(out) if run.info.status == "RUNNING"}
    assert left == {"alive", "away"} and len(runs_in(out)) == 3


def test_a_run_carries_its_key_from_its_first_moment(
    cell: Any, small: tuple[str, ...], out: Path, writer: MlflowWriter
) -> None:
    """Logging stops half-way, at a configuration that cannot be read."""
    outcome = cell(*small, "dataset.grouping=[]", "method=platt")
    (outcome.folder / "config.yaml").write_text("{")
    with pytest.raises(DamagedRunError):
        writer.log_run(outcome.folder, describe_run)
    (run,) = runs_in(out)
    assert run.info.status == "RUNNING" and run.data.tags["run_key"] == outcome.result.key
    assert run.data.tags["writer"] == f"{this_machine()} {os.getpid()}"
