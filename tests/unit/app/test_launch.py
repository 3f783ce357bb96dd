"""A sweep whose workers die: what they were doing is tried once more, the rest runs, and what did not is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from fairfr.app.launch import Watched, WatchedLauncher
from fairfr.store.sweep import Sweep, read_outcomes, write_outcome


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
    planned = Sweep.of([], None, 0.0).with_jobs(0, jobs).planned
    return {outcome["choices"]: outcome["status"] for outcome in read_outcomes(folder, planned)}


def launch(folder: Path, pool: Any, jobs: list[list[str]], go_on: bool = True) -> Any:
    def plan(first: int, jobs: Sequence[Sequence[str]]) -> Sequence[str]:
        return Sweep.of([], None, 0.0).with_jobs(first, jobs).planned

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
