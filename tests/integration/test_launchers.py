"""Every launcher runs a sweep alike: plan, lines, outcomes, summary, exit code; and ends with its workers."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.launcher]
ROOT = Path(__file__).parents[2]
PARALLEL = ("-m", "method=platt", "dataset.grouping=[]", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")

METHODS = """
import os, time
from dataclasses import dataclass
from pathlib import Path
from fairfr.methods.platt import Platt

@dataclass
class Deadly(Platt):
    def fit(self, *arguments):
        os.kill(os.getpid(), 9)

@dataclass
class Endless(Platt):
    def fit(self, *arguments):
        Path(os.environ["WORKERS"], str(os.getpid())).touch()
        time.sleep(600)
"""


def needs(package: str, *values: Any) -> Any:
    """A case that is skipped where its launcher is not installed."""
    missing = importlib.util.find_spec("hydra_plugins") is None or importlib.util.find_spec(package) is None
    return pytest.param(*values, marks=pytest.mark.skipif(missing, reason=f"needs {package}"))


JOBLIB = needs("hydra_plugins.hydra_joblib_launcher", "joblib")
SUBMITIT = needs("hydra_plugins.hydra_submitit_launcher", "submitit_local")
RAY = needs("hydra_plugins.hydra_ray_launcher", "ray")


@pytest.fixture
def bank(tmp_path: Path) -> tuple[str, ...]:
    """Overrides of a scores-only set on disk: 90 pairs, 3 folds, no embeddings."""
    folder = tmp_path / "data" / "bank"
    folder.mkdir(parents=True)
    rows = [f"{i % 3},{i % 2},{0.2 * (i % 2) + 0.01 * (i % 37):.3f}" for i in range(90)]
    (folder / "pairs.csv").write_text("\n".join(["fold,same,vendor", *rows]) + "\n")
    chosen = ("dataset=custom", "dataset.id=bank", "backbone=scores", "backbone.column=vendor", "source=files")
    return (*chosen, "store=folder", f"data_root={tmp_path / 'data'}")


@pytest.mark.parametrize("launcher", ["basic", JOBLIB, SUBMITIT, RAY])
def test_a_sweep_says_and_leaves_the_same_with_every_launcher(
    run_py: Any, bank: tuple[str, ...], tmp_path: Path, launcher: str
) -> None:
    """Two cells that can be computed and one that cannot; then again."""
    sweep = ("-m", *bank, "method=ac_linear,beta,platt", f"hydra/launcher={launcher}")
    done = run_py(*sweep)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said, said
    assert "3 runs: 2 computed, 0 already done, 1 failed" in done.stdout, said
    lines = [line for line in done.stdout.splitlines() if line[:3] in ("+ [", "x [")]
    assert [line[3:6] for line in lines] == ["1/3", "2/3", "3/3"], "one line for each, counted up"
    assert done.stdout.count("ac_linear needs embeddings") == 2, "when it happens, and in the summary"
    (folder,) = (tmp_path / "out" / "hydra" / "sweep").glob("*/*")
    outcomes = [json.loads((folder / str(job) / "outcome.json").read_text()) for job in range(3)]
    assert sorted(outcome["status"] for outcome in outcomes) == ["completed", "completed", "failed"]
    runs = {path.parts[-3]: path.read_bytes() for path in (tmp_path / "out").glob("runs/*/*/*/*/result.json")}
    assert {json.loads(run)["status"] for run in runs.values()} == {"completed", "failed"} and len(runs) == 3
    assert list((tmp_path / "out" / ".partial").iterdir()) == [], "no draft and no lock is left"
    again = run_py(*sweep)
    assert again.returncode == 1 and "3 runs: 0 computed, 2 already done, 1 failed" in again.stdout, again.stdout
    kept = {path.parts[-3]: path.read_bytes() for path in (tmp_path / "out").glob("runs/*/*/*/*/result.json")}
    assert all(kept[method] == runs[method] for method in ("beta", "platt"))


@pytest.mark.parametrize("launcher", [JOBLIB, SUBMITIT])
def test_a_cell_that_kills_its_worker_fails_and_the_others_run(
    run_py: Any, small: tuple[str, ...], path_to_methods: str, launcher: str
) -> None:
    methods = "method.estimator._target_=users_methods.Deadly,fairfr.methods.platt.Platt"
    sweep = ("-m", "method=platt", "dataset.grouping=[]", *small, methods, "seed=0,1", "store=folder")
    done = run_py(*sweep, f"hydra/launcher={launcher}", PYTHONPATH=path_to_methods)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "4 runs: 2 computed, 0 already done, 2 failed" in done.stdout, done.stdout
    assert done.stdout.count("its worker process was killed") == 4, "when it happens, and in the summary"


def test_lines_of_parallel_workers_come_whole_and_count_up(run_py: Any, small: tuple[str, ...]) -> None:
    done = run_py(*PARALLEL, *small, "method.estimator.C=0.1,1,10,100", "store=folder")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "AUROC 0" in line]
    assert [line.partition(" LFW")[0] for line in lines] == [f"+ [{i}/4]" for i in range(1, 5)]
    whole = re.compile(
        r"\+ \[\d/4\] LFW x MagFace x Platt \(.*\) +AUROC [\d.]+  worst .+  [\d.]+ s  synthetic( .* left)?"
    )
    assert all(whole.fullmatch(line) for line in lines), lines
    assert "left" in lines[2] and "left" not in lines[3]
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: ")]
    assert len(notes) == len(set(notes)) > 0, "what all workers warn of is shown once"


def test_a_sweep_with_hydras_own_sweeper_shows_its_cells_all_the_same(run_py: Any, small: tuple[str, ...]) -> None:
    done = run_py("-m", *small, "dataset.grouping=[]", "method=platt,beta", "store=folder", "hydra/sweeper=basic")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line[:2] for line in done.stdout.splitlines() if "AUROC 0" in line] == ["+ ", "+ "]


@pytest.mark.parametrize("launcher", [JOBLIB, SUBMITIT])
def test_on_error_stop_ends_the_sweep(run_py: Any, bank: tuple[str, ...], launcher: str) -> None:
    stopped = run_py("-m", *bank, "method=ac_linear", "seed=0,1,2,3,4,5", f"hydra/launcher={launcher}", "on_error=stop")
    assert stopped.returncode == 1 and "Traceback" not in stopped.stdout + stopped.stderr, stopped.stderr
    assert "worker process was killed" not in stopped.stdout, "a cell failed, no worker died"


@pytest.mark.parametrize("launcher", ["basic", JOBLIB, SUBMITIT])
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_sweep_that_is_stopped_takes_its_workers_with_it_and_says_how_to_go_on(
    small: tuple[str, ...], path_to_methods: str, tmp_path: Path, launcher: str, how: signal.Signals, code: int
) -> None:
    workers = tmp_path / "workers"
    workers.mkdir()
    env = {**os.environ, "PYTHONPATH": path_to_methods, "WORKERS": str(workers), "OMP_NUM_THREADS": "1"}
    chosen = ("method=platt", "method.estimator._target_=users_methods.Endless", "seed=0,1", "store=folder")
    command = [sys.executable, "run.py", "-m", *small, *chosen, f"hydra/launcher={launcher}"]
    said = tmp_path / "said"
    with said.open("w") as file:
        sweep = subprocess.Popen(
            [*command, f"out_root={tmp_path / 'out'}"], cwd=ROOT, env=env, stdout=file, stderr=file
        )
    try:
        assert comes_true(lambda: len(list(workers.iterdir())) > 0), "a worker is busy"
    finally:
        sweep.send_signal(how)
    assert sweep.wait(100) == code
    running = {int(path.name) for path in workers.iterdir()}
    assert comes_true(lambda: not any(is_running(pid) for pid in running))
    text = said.read_text()
    assert "Traceback" not in text, text
    if how != signal.SIGKILL:
        assert text.count("the same command goes on from there") == 1 and "2 not run" in text, text
        assert text.count("exit code") == 1 and f"exit code {code}" in text, text


@pytest.fixture
def path_to_methods(tmp_path: Path) -> str:
    """PYTHONPATH with two methods of a user's own."""
    (tmp_path / "users_methods.py").write_text(METHODS)
    return os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])


def comes_true(condition: Any, within: float = 100.0) -> bool:
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return bool(condition())


def is_running(pid: int) -> bool:
    """Not a zombie, which waits for whoever adopted it."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return said != "" and not said.startswith("Z")
