"""A sweep whose workers die: what they were doing is tried once more, the rest runs, and what did not is known."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.locks import locked
from fairfr.store.sweep_record import CellOutcome, SweepRecord, read_outcomes, write_outcome
from fairfr.sweep import recovery
from fairfr.sweep.recovery import LaunchError, RecoveringLauncher
from fairfr.sweep.workers import JOB_LOCK

JOBS = [[f"seed={i}"] for i in range(7)]


class Pool:
    """Runs jobs in order, two at a time, as joblib does; a deadly job takes its neighbour with it."""

    def __init__(self, folder: Path, deadly: dict[str, int]) -> None:
        self._folder = folder
        self._deadly = deadly  # how often each of these jobs kills its worker
        self.launched: list[tuple[int, list[str]]] = []

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[Any]:
        names = [job[0] for job in job_overrides]
        self.launched.append((initial_job_idx, names))
        for at in range(0, len(names), 2):
            pair = dict(enumerate(names[at : at + 2], initial_job_idx + at))
            for job in pair:
                (self._folder / str(job)).mkdir(exist_ok=True)
            for name in pair.values():
                if self._deadly.get(name, 0):
                    self._deadly[name] -= 1
                    raise BrokenProcessPool("a worker died")
            for job, name in pair.items():
                write_outcome(self._folder / str(job), CellOutcome(status="completed", choices=name))
        return names


def planned(jobs: list[list[str]]) -> tuple[str, ...]:
    return SweepRecord.of([], None, 0.0).with_jobs(0, jobs).planned


def statuses(folder: Path, jobs: list[list[str]]) -> dict[str, str]:
    return {outcome.choices: outcome.status for outcome in read_outcomes(folder, planned(jobs))}


def run(folder: Path, launcher: Any, jobs: list[list[str]], stop_at_error: bool = False) -> None:
    RecoveringLauncher(launcher, folder, jobs, planned(jobs)).run(stop_at_error)


def test_the_others_run_and_only_what_dies_twice_has_failed(tmp_path: Path) -> None:
    pool = Pool(tmp_path, {"seed=1": 99, "seed=4": 1})
    run(tmp_path, pool, JOBS)
    assert statuses(tmp_path, JOBS) == {f"seed={i}": "failed" if i == 1 else "completed" for i in range(7)}
    assert "worker" in json.loads((tmp_path / "1" / "outcome.json").read_text())["error"]
    launched = [name for _, names in pool.launched for name in names]
    assert max(launched.count(name) for name in launched) <= 3
    assert pool.launched[0] == (0, [name for (name,) in JOBS]), "the first launch is the whole sweep"
    assert pool.launched[-4:] == [(i, [f"seed={i}"]) for i in (0, 1, 4, 5)], "the suspects, each alone"


def test_jobs_that_outlive_the_launcher_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with submitit and Slurm, whose other jobs know nothing of the one that died."""
    is_over = threading.Event()
    is_running = threading.Event()

    def work() -> None:
        with locked(tmp_path / "1" / JOB_LOCK):
            is_running.set()
            is_over.wait(60)
            write_outcome(tmp_path / "1", CellOutcome(status="completed", choices="seed=1"))

    class Queue:
        def __init__(self) -> None:
            self.launched: list[int] = []

        def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> None:
            self.launched.append(initial_job_idx)
            if len(self.launched) > 1:
                write_outcome(
                    tmp_path / str(initial_job_idx),
                    CellOutcome(status="completed", choices="seed=0"),
                )
                return
            for job in range(2):
                (tmp_path / str(job)).mkdir()
            worker.start()
            is_running.wait(60)
            raise RuntimeError("the job has not produced any output")

    worker = threading.Thread(target=work)
    monkeypatch.setattr(recovery.time, "sleep", lambda seconds: is_over.set())
    queue = Queue()
    run(tmp_path, queue, JOBS[:2])
    worker.join()
    assert queue.launched == [0, 0], "the second is not launched twice"
    assert statuses(tmp_path, JOBS[:2]) == {"seed=0": "completed", "seed=1": "completed"}


def test_slurms_waiting_jobs_are_cancelled_before_a_second_try_and_all_when_the_sweep_is_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(recovery, "cancel_jobs", lambda launcher, only_waiting=False: asked.append(only_waiting))
    run(tmp_path, Pool(tmp_path, {"seed=0": 1}), [["seed=0"]])
    assert asked == [True]

    class Interrupted:
        def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Interrupted(), [["seed=0"]])
    assert asked == [True, False]


def test_on_error_stop_ends_with_the_worker(tmp_path: Path) -> None:
    pool = Pool(tmp_path, {"seed=2": 1})
    with pytest.raises(LaunchError, match="a worker process was killed, and on_error is stop"):
        run(tmp_path, pool, JOBS, stop_at_error=True)
    assert len(pool.launched) == 1
    found = statuses(tmp_path, JOBS)
    assert [found[f"seed={i}"] for i in range(7)] == ["completed"] * 2 + ["not run"] * 5


def test_workers_that_die_before_they_begin_end_the_sweep_with_the_reason(tmp_path: Path) -> None:
    class Stillborn:
        launches = 0

        def launch(self, *arguments: Any) -> None:
            self.launches += 1
            raise RuntimeError("Could not detect srun")

    launcher = Stillborn()
    with pytest.raises(LaunchError, match="RuntimeError: Could not detect srun"):
        run(tmp_path, launcher, JOBS)
    assert launcher.launches == 2 and set(statuses(tmp_path, JOBS).values()) == {"not run"}


def test_a_full_disk_is_not_tried_again(tmp_path: Path) -> None:
    class Full:
        launches = 0

        def launch(self, *arguments: Any) -> None:
            self.launches += 1
            raise OSError(28, "No space left on device")

    launcher = Full()
    with pytest.raises(OSError, match="No space left on device"):
        run(tmp_path, launcher, JOBS)
    assert launcher.launches == 1


def test_a_cell_that_could_not_write_its_outcome_is_not_said_to_be_killed(tmp_path: Path) -> None:
    class Mute:
        launches = 0

        def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> None:
            self.launches += 1
            (tmp_path / "0").mkdir(exist_ok=True)

    launcher = Mute()
    run(tmp_path, launcher, JOBS[:1])
    assert launcher.launches == 2 and statuses(tmp_path, JOBS[:1]) == {"seed=0": "not run"}
