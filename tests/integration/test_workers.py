"""Workers of a parallel sweep: one that dies costs its own cell, and none outlives the sweep."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
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


@pytest.fixture
def path_to_methods(tmp_path: Path) -> str:
    """PYTHONPATH with two methods of a user's own."""
    (tmp_path / "users_methods.py").write_text(METHODS)
    return os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_a_cell_that_kills_its_worker_fails_and_the_others_run(
    run_py: Any, small: tuple[str, ...], path_to_methods: str
) -> None:
    methods = "method.estimator._target_=users_methods.Deadly,fairfr.methods.platt.Platt"
    done = run_py(*PARALLEL, *small, methods, "seed=0,1", "store=folder", PYTHONPATH=path_to_methods)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "4 cells: 2 computed, 0 already done, 2 failed" in done.stdout, done.stdout
    assert done.stdout.count("Deadly seed=") == 4, "when it happens, and in the summary"
    assert done.stdout.count("its worker process was killed") == 4


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


def test_a_sweep_without_the_callback_shows_its_cells_all_the_same(run_py: Any, small: tuple[str, ...]) -> None:
    done = run_py("-m", *small, "dataset.grouping=[]", "method=platt,beta", "store=folder", "~hydra.callbacks.sweep")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line[:2] for line in done.stdout.splitlines() if "AUROC 0" in line] == ["+ ", "+ "]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_sweep_that_is_killed(
    small: tuple[str, ...], path_to_methods: str, tmp_path: Path, how: signal.Signals
) -> None:
    workers = tmp_path / "workers"
    workers.mkdir()
    env = {**os.environ, "PYTHONPATH": path_to_methods, "WORKERS": str(workers), "OMP_NUM_THREADS": "1"}
    chosen = ("method.estimator._target_=users_methods.Endless", "seed=0,1,2", "store=folder")
    command = [sys.executable, "run.py", *PARALLEL, *small, *chosen, f"out_root={tmp_path / 'out'}"]
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:
        try:
            assert comes_true(lambda: len(list(workers.iterdir())) == 2), "both workers are busy"
        finally:
            sweep.send_signal(how)
    running = {path.name for path in workers.iterdir()}
    assert comes_true(lambda: not any(is_running(int(pid)) for pid in running))


def comes_true(condition: Any, within: float = 100.0) -> bool:
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return bool(condition())


def is_running(pid: int) -> bool:
    """Not a zombie, which waits for whoever adopted it."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return said != "" and not said.startswith("Z")
