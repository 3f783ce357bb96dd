"""Jobs times threads never exceeds the cores, whatever the launcher; none of it is measured by time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import submitit
from omegaconf import OmegaConf

from fairfr.store.sweep_record import SweepRecord
from fairfr.sweep import workers
from fairfr.sweep.workers import (
    LaunchInBatches,
    WorkerBudget,
    asked_threads,
    cancel_jobs,
    conducting,
    end_with_conductor,
    limit_launcher,
    with_threads,
    worker_budget,
)

ROOT = Path(__file__).parents[3]

JOBLIB = {"_target_": "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher", "n_jobs": -1}
LOCAL = {"_target_": "hydra_plugins.hydra_submitit_launcher.submitit_launcher.LocalLauncher", "cpus_per_task": None}
SLURM = {"_target_": "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher", "array_parallelism": 256}
BASIC = {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"}


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "available_cores", lambda: 8)
    monkeypatch.setattr(workers, "resolve_threads", lambda asked: 8)


def test_one_job_at_a_time_has_the_machine() -> None:
    assert worker_budget(BASIC, None) == WorkerBudget(None, None) == worker_budget(BASIC, 3)


@pytest.mark.parametrize(
    ("n_jobs", "asked", "wanted"),
    [
        (-1, None, (8, 1)),
        (2, None, (2, 4)),
        (3, None, (3, 2)),
        (-5, None, (4, 2)),
        (100, None, (8, 1)),
        (-100, None, (1, 8)),
        (-1, 4, (2, 4)),
        (2, 8, (1, 8)),
        (2, 2, (2, 2)),
        (4, 20, (1, 20)),
    ],
)
def test_joblib(n_jobs: int, asked: int | None, wanted: tuple[int, int]) -> None:
    """The user's threads come first, then the number of jobs; more threads than cores run alone."""
    assert worker_budget({**JOBLIB, "n_jobs": n_jobs}, asked) == wanted


def test_a_smaller_omp_num_threads_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "resolve_threads", lambda asked: 3)
    assert worker_budget({**JOBLIB, "n_jobs": 2}, None) == (2, 3)
    assert worker_budget({**JOBLIB, "n_jobs": 4}, None) == (4, 2)


@pytest.mark.parametrize(("each", "asked", "wanted"), [(None, None, (8, 1)), (2, None, (4, 2)), (None, 3, (2, 3))])
def test_submitit_on_this_machine(each: int | None, asked: int | None, wanted: tuple[int, int]) -> None:
    assert worker_budget({**LOCAL, "cpus_per_task": each}, asked) == wanted


def test_slurm_counts_its_own_cores() -> None:
    assert worker_budget(SLURM, None) == (None, None)
    assert worker_budget(SLURM, 4) == (None, 4)


def test_launchers_are_told_under_their_own_names() -> None:
    joblib = OmegaConf.create({**JOBLIB})
    limit_launcher(joblib, WorkerBudget(2, 4))
    assert (joblib.n_jobs, joblib.batch_size) == (2, 1)
    slurm = OmegaConf.create({**SLURM, "cpus_per_task": 1})
    limit_launcher(slurm, WorkerBudget(None, 4))
    assert slurm.cpus_per_task == 4, "as many cores as threads"
    limit_launcher(slurm, WorkerBudget(None, 2))
    assert slurm.cpus_per_task == 4, "the user's cores stay"


def test_each_job_is_told_its_threads_unless_it_names_them() -> None:
    assert with_threads(["seed=1"], 2) == ["seed=1", "threads=2"]
    assert with_threads(["seed=1", "threads=null"], 2) == ["seed=1", "threads=2"]
    assert with_threads(["threads=8"], 2) == ["threads=8"] and with_threads(["seed=1"], None) == ["seed=1"]
    assert asked_threads(["threads=1,4", "seed=2"]) == 4
    assert asked_threads(["threads=1", "threads=2"]) == 2, "the last counts, as for Hydra"
    assert asked_threads(["threads=2", "threads=null"]) is None is asked_threads([])


class Counting:
    """A launcher that starts all that it gets at once."""

    def __init__(self, deadly: int | None = None) -> None:
        self.batches: list[tuple[int, int]] = []
        self.blocked: set[bool] = set()
        self._deadly = deadly

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[Any]:
        self.batches.append((initial_job_idx, len(job_overrides)))
        self.blocked.add(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        if initial_job_idx == self._deadly:
            raise RuntimeError("a worker died")
        return [f"returned {initial_job_idx + job}" for job in range(len(job_overrides))]


def test_a_launcher_that_starts_all_at_once_gets_batches() -> None:
    inner = Counting()
    returned = LaunchInBatches(inner, 3).launch([[f"seed={i}"] for i in range(8)], 5)  # type: ignore[arg-type]
    assert returned == [f"returned {i}" for i in range(5, 13)]
    assert inner.batches == [(5, 3), (8, 3), (11, 2)], "in the order of the plan, each once"
    assert inner.blocked == {True}, "what it starts does not get Ctrl-C: it ends with the conductor"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()), "this thread does"


def test_after_a_death_no_further_batch_is_started() -> None:
    inner = Counting(deadly=2)
    with pytest.raises(RuntimeError, match="a worker died"):
        LaunchInBatches(inner, 2).launch([[f"seed={i}"] for i in range(6)], 0)  # type: ignore[arg-type]
    assert inner.batches == [(0, 2), (2, 2)]


WORKER = """
import sys, time
from pathlib import Path
from fairfr.sweep.workers import end_with_conductor
for _ in range(2):
    end_with_conductor(Path(sys.argv[1]))
print("works", flush=True)
time.sleep(600)
"""


def start_worker(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(folder)]
    worker = subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    worker.stdout.readline()  # it works, or has ended
    return worker


@pytest.mark.kill
def test_a_worker_ends_as_soon_as_the_conductor_has_ended(tmp_path: Path) -> None:
    with conducting(tmp_path) as process:
        replace(SweepRecord.of([], None, 0.0), process=process).write(tmp_path)
        end_with_conductor(tmp_path)
        assert not any(thread.name == workers.WATCHER_NAME for thread in threading.enumerate()), "this is it"
        early = start_worker(tmp_path)
        assert early.poll() is None
    late = start_worker(tmp_path)
    for worker in (early, late):
        with worker:
            assert worker.wait(60) == 1


@pytest.mark.kill
def test_a_worker_on_another_machine_goes_on(tmp_path: Path) -> None:
    replace(SweepRecord.of([], None, 0.0), process={"machine": "another", "pid": 1}).write(tmp_path)
    with start_worker(tmp_path) as worker:
        assert worker.poll() is None
        worker.kill()


class SlurmLauncher:
    def __init__(self, folder: Path) -> None:
        self.params = {"submitit_folder": str(folder / "%j")}


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmLauncher:
    """One that has submitted an array of two jobs, and then a single one; another sweep's job lies in its folder."""
    monkeypatch.setattr(submitit.SlurmJob.watcher, "_registered", set())
    for job in ("7_0", "7_1", "9", "8"):
        (tmp_path / job).mkdir()
        (tmp_path / job / f"{job}_submitted.pkl").touch()
    for job in ("7", "7_0", "7_1", "9"):
        submitit.SlurmJob(tmp_path / "%j", job)
    return SlurmLauncher(tmp_path)


def test_arrays_are_cancelled_as_a_whole(
    launcher: SlurmLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scancel = tmp_path / "scancel"
    scancel.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\n')
    scancel.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    cancel_jobs(object())
    assert not (tmp_path / "said").exists()
    cancel_jobs(launcher)
    assert (tmp_path / "said").read_text().split() == ["--quiet", "7", "9"]
    cancel_jobs(launcher, only_waiting=True)
    assert (tmp_path / "said").read_text().split() == ["--quiet", "--state=PENDING", "7", "9"], "what runs goes on"


def test_without_scancel_the_jobs_end_by_themselves(launcher: SlurmLauncher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    cancel_jobs(launcher)
