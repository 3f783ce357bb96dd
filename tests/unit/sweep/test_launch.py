"""A sweep whose workers die: what they were doing is tried once more, the rest runs, and what did not is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.sweep_record import SweepRecord, is_postponed, postpone, read_outcomes, write_outcome
from fairfr.sweep.launch import Watched, WatchedLauncher


class Pool:
    """Runs jobs in order, two at a time, as joblib does; a deadly job takes its neighbour with it."""

    def __init__(self, folder: Path, deadly: dict[str, int]) -> None:
        self._folder, self._deadly = folder, deadly  # how often each of these jobs kills its worker
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
                write_outcome(self._folder / str(job), {"status": "completed", "choices": name})
        return names


def statuses(folder: Path, jobs: list[list[str]]) -> dict[str, str]:
    planned = SweepRecord.of([], None, 0.0).with_jobs(0, jobs).planned
    return {outcome["choices"]: outcome["status"] for outcome in read_outcomes(folder, planned)}


def launch(folder: Path, pool: Any, jobs: list[list[str]], go_on: bool = True) -> Any:
    def plan(first: int, jobs: Sequence[Sequence[str]]) -> Sequence[str]:
        return SweepRecord.of([], None, 0.0).with_jobs(first, jobs).planned

    return WatchedLauncher(pool, Watched(plan, lambda first, jobs: nullcontext(), folder, go_on)).launch(jobs, 0)


JOBS = [[f"seed={i}"] for i in range(7)]


def test_the_others_run_and_only_what_dies_twice_has_failed(tmp_path: Path) -> None:
    pool = Pool(tmp_path, {"seed=1": 99, "seed=4": 1})
    returned = launch(tmp_path, pool, JOBS)
    assert [job.return_value for job in returned] == [None] * 7
    assert statuses(tmp_path, JOBS) == {f"seed={i}": "failed" if i == 1 else "completed" for i in range(7)}
    assert "worker" in json.loads((tmp_path / "1" / "outcome.json").read_text())["error"]
    runs = [name for _, names in pool.launched for name in names]
    assert max(runs.count(name) for name in {"seed=0", "seed=1", "seed=4"}) <= 3
    assert pool.launched[0] == (0, [name for (name,) in JOBS]), "the first launch is the whole sweep"


def test_a_second_try_that_meets_a_claim_waits_for_it(tmp_path: Path) -> None:
    class OtherMachines:
        """The dead worker's claim is on another machine: only a job that waits can take it over."""

        launches = 0

        def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> None:
            self.launches += 1
            folder = tmp_path / "0"
            if self.launches == 1:
                folder.mkdir()
                raise BrokenProcessPool
            if is_postponed(folder):
                write_outcome(folder, {"status": "completed", "choices": "seed=0"})
            postpone(folder, "me@node1")

    launch(tmp_path, OtherMachines(), [["seed=0"]])
    assert statuses(tmp_path, [["seed=0"]]) == {"seed=0": "completed"}


def test_a_postponed_cell_that_kills_its_worker_costs_no_other_its_turn(tmp_path: Path) -> None:
    class OtherMachines:
        """Two cells are claimed elsewhere at first; the first of them kills whoever computes it."""

        launches = 0

        def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[Any]:
            self.launches += 1
            for job, (name, *_) in enumerate(job_overrides, initial_job_idx):
                folder = tmp_path / str(job)
                folder.mkdir(exist_ok=True)
                if self.launches == 1 and name != "seed=1":
                    postpone(folder, "me@node1")
                elif name == "seed=0":
                    raise BrokenProcessPool
                else:
                    write_outcome(folder, {"status": "completed", "choices": name})
            return [None] * len(job_overrides)

    jobs = [["seed=0"], ["seed=1"], ["seed=2"]]
    launch(tmp_path, OtherMachines(), jobs)
    assert statuses(tmp_path, jobs) == {"seed=0": "failed", "seed=1": "completed", "seed=2": "completed"}


def test_slurms_jobs_are_waited_for_before_a_second_try_and_cancelled_when_the_sweep_is_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("fairfr.sweep.launch.wait_for_jobs", lambda _: asked.append("wait"))
    monkeypatch.setattr("fairfr.sweep.launch.cancel_jobs", lambda _: asked.append("cancel"))
    launch(tmp_path, Pool(tmp_path, {"seed=0": 1}), [["seed=0"]])
    assert asked == ["wait"]

    class Interrupted:
        def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch(tmp_path, Interrupted(), [["seed=0"]])
    assert asked == ["wait", "cancel"]


def test_on_error_stop_ends_with_the_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pool = Pool(tmp_path, {"seed=2": 1})
    with pytest.raises(SystemExit) as ended:
        launch(tmp_path, pool, JOBS, go_on=False)
    assert ended.value.code == 1 and len(pool.launched) == 1
    assert "the sweep was cut short" in capsys.readouterr().out
    found = statuses(tmp_path, JOBS)
    assert [found[f"seed={i}"] for i in range(7)] == ["completed"] * 2 + ["failed"] * 2 + ["not run"] * 3


def test_workers_that_die_before_they_begin_end_the_sweep(tmp_path: Path) -> None:
    class Stillborn:
        launches = 0

        def launch(self, *arguments: Any) -> None:
            self.launches += 1
            raise BrokenProcessPool

    pool = Stillborn()
    launch(tmp_path, pool, JOBS)
    assert pool.launches == 2 and set(statuses(tmp_path, JOBS).values()) == {"not run"}


def test_a_full_disk_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Full:
        def launch(self, *arguments: Any) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(SystemExit) as ended:
        launch(tmp_path, Full(), JOBS)
    assert ended.value.code == 1 and "No space left on device" in capsys.readouterr().out


def test_passwords_in_the_command_line_that_hydra_wrote_down_are_masked(tmp_path: Path) -> None:
    written = "overrides: [store.tracking_uri=http://me:s3cret@server:5000, seed=1]\n"
    (tmp_path / "multirun.yaml").write_text(written)
    launch(tmp_path, Pool(tmp_path, {}), JOBS)
    assert (tmp_path / "multirun.yaml").read_text() == written.replace("s3cret", "***")
