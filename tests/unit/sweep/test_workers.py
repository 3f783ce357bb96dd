"""Jobs times threads never exceeds the cores, whatever the launcher; none of it is measured by time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import OmegaConf

from fairfr.sweep import workers
from fairfr.sweep.workers import Connected, OneByOne, Share, asked_threads, divide, share_of, with_threads

JOBLIB = {"_target_": "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher", "n_jobs": -1}
LOCAL = {"_target_": "hydra_plugins.hydra_submitit_launcher.submitit_launcher.LocalLauncher", "cpus_per_task": None}
SLURM = {"_target_": "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher", "array_parallelism": 256}
RAY = {
    "_target_": "hydra_plugins.hydra_ray_launcher.ray_launcher.RayLauncher",
    "ray": {"init": {"address": None}, "remote": {}},
}
BASIC = {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"}


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "available_cores", lambda: 8)
    monkeypatch.setattr(workers, "resolve_threads", lambda asked: 8)


def test_one_job_at_a_time_has_the_machine() -> None:
    assert share_of(BASIC, None) == Share(1, None) == share_of(BASIC, 3)


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
    assert share_of({**JOBLIB, "n_jobs": n_jobs}, asked) == wanted


def test_a_smaller_omp_num_threads_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "resolve_threads", lambda asked: 3)
    assert share_of({**JOBLIB, "n_jobs": 2}, None) == (2, 3)
    assert share_of({**JOBLIB, "n_jobs": 4}, None) == (4, 2)


@pytest.mark.parametrize(("each", "asked", "wanted"), [(None, None, (8, 1)), (2, None, (4, 2)), (None, 3, (2, 3))])
def test_submitit_on_this_machine(each: int | None, asked: int | None, wanted: tuple[int, int]) -> None:
    assert share_of({**LOCAL, "cpus_per_task": each}, asked) == wanted


def test_slurm_counts_its_own_cores() -> None:
    assert share_of(SLURM, None) == (256, None)
    assert share_of(SLURM, 4) == (256, 4)


@pytest.mark.parametrize(
    ("init", "remote", "asked", "wanted"),
    [
        ({}, {}, None, (8, 1)),
        ({"num_cpus": 4}, {}, None, (4, 1)),
        ({"num_cpus": 64}, {}, None, (8, 1)),
        ({}, {"num_cpus": 4}, None, (2, 4)),
        ({}, {"num_cpus": 0.5}, None, (8, 1)),
        ({}, {}, 3, (2, 3)),
    ],
)
def test_ray(init: dict[str, Any], remote: dict[str, Any], asked: int | None, wanted: tuple[int, int]) -> None:
    assert share_of({**RAY, "ray": {"init": init, "remote": remote}}, asked) == wanted


class RayLauncher:
    def __init__(self, **init: Any) -> None:
        self.ray_cfg = OmegaConf.create({"init": init, "remote": {"num_cpus": 0.5}})


def test_ray_is_asked_for_a_core_for_each_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    launcher = RayLauncher(address=None)
    assert isinstance(divide(launcher, Share(2, 4)), Connected)
    assert launcher.ray_cfg.remote.num_cpus == 4
    assert launcher.ray_cfg.init.num_cpus == 8 and launcher.ray_cfg.init.address == "local"


def test_a_ray_cluster_has_its_own_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = RayLauncher(address="head:6379")
    divide(launcher, Share(2, 4))
    assert launcher.ray_cfg.remote.num_cpus == 4 and "num_cpus" not in launcher.ray_cfg.init
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    launcher = RayLauncher(address=None)
    divide(launcher, Share(2, 4))
    assert launcher.ray_cfg.init.address is None and "num_cpus" not in launcher.ray_cfg.init


def test_a_cluster_is_found_again_after_a_node_died(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    ray = SimpleNamespace(is_initialized=lambda: False, init=lambda **settings: asked.append(settings))
    monkeypatch.setitem(sys.modules, "ray", ray)
    launcher: Any = RayLauncher(address="head:6379")
    launcher.launch = lambda *jobs: launcher.ray_cfg.init.setdefault("object_store_memory", 1)  # as Hydra's does
    connected = divide(launcher, Share(2, 1))
    for _ in range(2):
        connected.launch([], 0)
    assert asked[0] == asked[1] and "object_store_memory" not in asked[1], "no cluster allows it"


def test_each_job_is_told_its_threads_unless_it_names_them() -> None:
    assert with_threads(["seed=1"], 2) == ["seed=1", "threads=2"]
    assert with_threads(["seed=1", "threads=null"], 2) == ["seed=1", "threads=2"]
    assert with_threads(["threads=8"], 2) == ["threads=8"] and with_threads(["seed=1"], None) == ["seed=1"]
    assert asked_threads(["threads=1,4", "seed=2"]) == 4
    assert asked_threads(["threads=1", "threads=2"]) == 2, "the last counts, as for Hydra"
    assert asked_threads(["threads=2", "threads=null"]) is None is asked_threads([])


class Counting:
    """A launcher that notes how many jobs run at once: each waits until as many run as may."""

    def __init__(self, expected: int, deadly: int | None = None) -> None:
        self._barrier, self._lock = threading.Barrier(expected), threading.Lock()
        self._running, self._deadly = 0, deadly
        self.most, self.started = 0, []

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[Any]:
        assert len(job_overrides) == 1
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
            self.started.append(initial_job_idx)
        self._barrier.wait(timeout=60)
        with self._lock:
            self._running -= 1
        if initial_job_idx == self._deadly:
            raise RuntimeError("a worker died")
        return [f"returned {initial_job_idx}"]


def test_a_launcher_that_starts_all_at_once_gets_one_at_a_time_for_each_share() -> None:
    inner = Counting(expected=3)
    jobs = [[f"seed={i}"] for i in range(12)]
    returned = OneByOne(inner, 3).launch(jobs, 5)
    assert returned == [f"returned {i}" for i in range(5, 17)] and inner.most == 3
    assert sorted(inner.started[:3]) == [5, 6, 7], "in the order of the plan"
    assert sorted(inner.started) == list(range(5, 17)), "each once"


def test_after_a_death_nothing_new_is_started() -> None:
    inner = Counting(expected=2, deadly=1)
    with pytest.raises(RuntimeError, match="a worker died"):
        OneByOne(inner, 2).launch([[f"seed={i}"] for i in range(2)], 0)
    alone = Counting(expected=1, deadly=1)
    with pytest.raises(RuntimeError, match="a worker died"):
        OneByOne(alone, 1).launch([[f"seed={i}"] for i in range(4)], 0)
    assert alone.started == [0, 1]
