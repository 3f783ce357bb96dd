"""Workers on other machines: run folders that are gathered afterwards, or a tracking server that all can reach."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairfr.commands.sync import sync
from fairfr.store.mlflow.client import default_uri
from fairfr.store.settings import StoreSettings
from fairfr.sweep.mirror import Mirror

pytestmark = pytest.mark.slow
PATIENCE = 100.0


def runs_in(uri: str) -> dict[str, Any]:
    """The runs of cells and of sweeps that MLflow has, by key or sweep."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("fairfr")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id], max_results=1000)
    names = [run.data.tags.get("run_key") or run.data.tags["sweep_id"] for run in found]
    assert len(names) == len(set(names)), "none twice"
    return dict(zip(names, found, strict=True))


def test_run_folders_of_other_machines_are_gathered(
    run_py: Any, small: tuple[str, ...], out: Path, store: StoreSettings, tmp_path: Path
) -> None:
    """Two machines without a database; their folders are copied into one, and their own places are gone."""
    sweep = ("-m", *small, "dataset.grouping=[]", "store=folder")
    machines = {"one": ("method=platt", "seed=0,1"), "two": ("method=beta,platt", "seed=1")}
    for name, cells in machines.items():
        done = run_py(*sweep, *cells, f"out_root={tmp_path / name}")
        assert done.returncode == 0, done.stdout
        for part in ("runs", "hydra"):
            shutil.copytree(tmp_path / name / part, out / part, dirs_exist_ok=True)
        shutil.rmtree(tmp_path / name)
    said = sync(Mirror(store, out))
    assert "3 runs logged, 0 were there; 2 sweeps rebuilt" in said, "one cell was computed on both machines"
    found = runs_in(default_uri(out))
    assert len(found) == 5 and {run.info.status for run in found.values()} == {"FINISHED"}
    parents = [run for run in found.values() if "sweep_id" in run.data.tags]
    assert [run.data.metrics["sweep/cells"] for run in parents] == [2.0, 2.0]
    assert all(run.data.tags["dataset"] == "lfw" for run in parents), "their cells are found where they are now"
    assert "0 runs logged, 3 were there" in sync(Mirror(store, out))


@pytest.fixture
def server(tmp_path: Path, template: Path) -> Iterator[str]:
    """The address of an MLflow server on this machine, with a database of its own."""
    folder = tmp_path / "server"
    folder.mkdir()
    shutil.copy(template, folder / "mlflow.db")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    store = (
        "--backend-store-uri",
        f"sqlite:///{folder / 'mlflow.db'}",
        "--artifacts-destination",
        str(folder / "files"),
    )
    command = [sys.executable, "-m", "mlflow", "server", *store, "--host", "127.0.0.1", "--port", str(port)]
    env = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        started = subprocess.Popen(
            [*command, "--workers", "1"], cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_for(address, started, folder / "log")
        yield address
    finally:
        os.killpg(started.pid, 15)
        started.wait(60)


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(log.read_text())


@pytest.mark.server
def test_machines_that_share_nothing_but_a_server(
    run_py: Any, small: tuple[str, ...], server: str, tmp_path: Path
) -> None:
    """Each has its own output folder and two workers; the server has every cell and both sweeps, each once."""
    sweep = ("-m", *small, "dataset.grouping=[]", "method=platt", f"store.tracking_uri={server}")
    for name, seeds in (("one", "0,1"), ("two", "1,2")):
        parallel = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2", f"out_root={tmp_path / name}")
        done = run_py(*sweep, f"seed={seeds}", *parallel)
        assert done.returncode == 0, done.stdout + done.stderr
        assert server in done.stdout and not (tmp_path / name / "mlflow.db").exists()
    found = runs_in(server)
    assert len(found) == 5 and {run.info.status for run in found.values()} == {"FINISHED"}
    store = StoreSettings("mlflow", tracking_uri=server, patience=PATIENCE)
    assert "0 runs logged, 2 were there; 0 sweeps rebuilt, 1 were there" in sync(Mirror(store, tmp_path / "one"))
