"""A sweep from its first cell to its summary, in this process: what is logged, what is said, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from fairfr.runner.cell_bar import CellState
from fairfr.store.sweep_record import CellOutcome, SweepRecord, write_outcome
from fairfr.sweep import conductor, watch
from fairfr.sweep.conductor import Conductor
from fairfr.sweep.job import EXIT_FAILED, EXIT_NOT_LOGGED
from fairfr.sweep.terminal import Terminal
from fairfr.sweep.workers import CONDUCTOR_LOCK, WorkerBudget


class Recorder:
    """Takes the place of ``Mirror``."""

    uri = "sqlite:///x.db"

    def __init__(self, refusal: str | None = None, lacks_sweep: bool = True) -> None:
        self.refusal = refusal
        self.is_sweep_lacking = lacks_sweep
        self.started = 0
        self.logged: list[str] = []
        self.closed: list[SweepRecord] = []
        self.limits: list[float | None] = []
        self.on_log: Callable[[], object] = lambda: None
        self.on_wait: Callable[[], object] = lambda: None

    def start(self) -> None:
        self.started += 1

    def bring(self, folder: Path, sweep: SweepRecord) -> None:
        self.logged.append(folder.name)
        self.on_log()

    def lacks_sweep(self, sweep: SweepRecord, outcomes: Sequence[CellOutcome]) -> bool:
        return self.is_sweep_lacking

    def bring_sweep(self, sweep: SweepRecord, outcomes: Sequence[CellOutcome], report: Path) -> None:
        self.closed.append(sweep)

    def wait_for_import(self) -> None:
        self.on_wait()

    def finish(self, limit: float | None = None) -> str | None:
        self.limits.append(limit)
        return self.refusal


class FakeLauncher:
    """Calls ``work`` with the number of each job."""

    def __init__(self, work: Callable[[int], object]) -> None:
        self.work = work

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> None:
        for job in range(len(job_overrides)):
            self.work(initial_job_idx + job)


def config_of(folder: Path, report: bool = False) -> DictConfig:
    hydra = {"runtime": {"choices": {}}, "sweep": {"dir": str(folder)}}
    return OmegaConf.create({"hydra": hydra, "out_root": str(folder), "store": {"id": "mlflow", "report": report}})


def run(folder: Path, logger: Recorder, n_jobs: int, work: Callable[[int], object], report: bool = False) -> int:
    """The exit code of a sweep whose jobs do ``work``."""
    jobs = [[f"seed={job}"] for job in range(n_jobs)]
    running = Conductor(config_of(folder, report), ["dataset=lfw"], jobs, Terminal())
    running._mirror = logger  # type: ignore[assignment]
    return running.run(FakeLauncher(work), None)  # type: ignore[arg-type]


def end_job(sweep: Path, job: int, **outcome: Any) -> None:
    ended = {"status": "completed", "choices": "a", "error": None, "folder": sweep / f"run{job}"}
    write_outcome(sweep / str(job), CellOutcome(**{**ended, **outcome}))


@pytest.mark.parametrize("status", ["completed", "skipped", "failed"])
def test_every_cell_that_ends_with_a_run_is_given_to_mlflow_once(tmp_path: Path, status: str) -> None:
    """Also one that was done before: it may be missing there."""
    logger, failed = Recorder(), status == "failed"
    assert run(tmp_path, logger, 3, lambda job: end_job(tmp_path, job, status=status, error="why")) == int(failed)
    assert sorted(logger.logged) == ["run0", "run1", "run2"] and len(logger.closed) == 1


def test_cells_are_logged_while_others_compute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(watch, "INTERVAL", 0.001)
    logger, was_logged = Recorder(), threading.Event()
    logger.on_log = was_logged.set

    def work(job: int) -> None:
        if job == 1:
            assert was_logged.wait(60), "the second cell has not ended"
        end_job(tmp_path, job)

    assert run(tmp_path, logger, 2, work) == 0 and logger.logged == ["run0", "run1"]


def test_mlflow_is_imported_when_the_first_cell_is_fitted_and_not_before(tmp_path: Path) -> None:
    """Until then it may be one that is done, or that ends in a mistake of the user's."""
    for folds, is_started in ((None, False), (10, True)):
        logger = Recorder()

        def work(job: int, folds: int | None = folds) -> None:
            end_job(tmp_path, job, folder=None)
            (tmp_path / "0" / "progress.json").write_text(json.dumps(asdict(CellState("a", 0.0, folds))))

        run(tmp_path, logger, 1, work)
        assert (logger.started > 0) == is_started


def test_no_figure_is_drawn_while_mlflow_is_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """matplotlib fails where another thread has imported half of IPython, as MLflow does."""
    order: list[str] = []
    monkeypatch.setattr(conductor, "write_sweep_report", lambda outcomes, folder: order.append("drawn"))
    logger = Recorder()
    logger.on_wait = lambda: order.append("imported")
    assert run(tmp_path, logger, 1, lambda job: end_job(tmp_path, job), report=True) == 0
    assert order == ["imported", "drawn"]


def test_a_mistake_without_a_run_and_a_sweep_that_mlflow_has_are_not_given_to_it(tmp_path: Path) -> None:
    logger = Recorder(lacks_sweep=False)
    found = run(tmp_path, logger, 2, lambda job: end_job(tmp_path, job, folder=None, status="failed", error="why"))
    assert found == EXIT_FAILED and logger.started == 0 and logger.logged == [] and logger.closed == []


def test_a_refusal_is_said_with_what_to_do_and_costs_exit_code_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = Recorder("MlflowError: no room")
    assert run(tmp_path, logger, 1, lambda job: end_job(tmp_path, job)) == EXIT_NOT_LOGGED
    assert logger.closed == [], "nothing more is tried"
    said = capsys.readouterr().out
    assert said.count("no room") == 1 and "the numbers are safe" in said and "fairfr sync" in said
    assert "exit code 3" in said


def test_a_cell_without_a_result_counts_more_than_a_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def work(job: int) -> None:
        if job == 0:
            end_job(tmp_path, job)
        else:
            end_job(tmp_path, job, folder=None, status="failed", error="why")

    assert run(tmp_path, Recorder("MlflowError: no room"), 2, work) == EXIT_FAILED
    assert "exit code 1" in capsys.readouterr().out


def test_ctrl_c_frees_the_lock_that_workers_wait_for_and_mlflow_has_half_a_second(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = Recorder()

    def work(job: int) -> None:
        if job == 1:
            assert (tmp_path / CONDUCTOR_LOCK).exists()
            (tmp_path / "1").mkdir()
            raise KeyboardInterrupt
        end_job(tmp_path, job)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, logger, 3, work)
    assert not (tmp_path / CONDUCTOR_LOCK).exists()
    assert logger.limits == [0.5] and logger.closed[0].status == "KILLED"
    said = capsys.readouterr().out
    assert "2 not run" in said and "seed=1: stopped by you." in said and "seed=2: did not start." in said


def test_after_ctrl_c_there_is_one_way_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command, which brings MLflow what it lacks as well: how else that could be done is not said."""

    def work(job: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Recorder("MlflowError: logging was not finished within 0.5 s."), 1, work)
    said = capsys.readouterr().out
    assert "1 not run" in said and "MlflowError" not in said and "sync" not in said and "exit code" not in said


def test_a_full_disk_is_one_message_and_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def work(job: int) -> None:
        raise OSError(28, "No space left on device")

    assert run(tmp_path, Recorder(), 2, work) == EXIT_FAILED
    said = capsys.readouterr().out
    assert said.count("No space left on device") == 1 and "the same command goes on from there" in said
    assert "2 not run" in said


def test_a_cell_that_stops_the_sweep_ends_it_after_its_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(job: int) -> None:
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        run(tmp_path, Recorder(), 2, work)
    assert "2 not run" in capsys.readouterr().out


def test_a_summary_that_crashes_is_shown_and_ends_in_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*arguments: Any) -> None:
        raise ZeroDivisionError("no cells")

    monkeypatch.setattr(conductor, "read_outcomes", crash)
    assert run(tmp_path, Recorder(), 1, lambda job: end_job(tmp_path, job)) == EXIT_FAILED
    assert "ZeroDivisionError: no cells" in capsys.readouterr().out
    assert "Traceback" in (tmp_path / "error.txt").read_text()


def test_joblibs_own_warnings_about_workers_that_ended_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of one that was replaced, nor, by a process of joblib's own, of what those left that Ctrl-C ended."""
    monkeypatch.setenv("PYTHONWARNINGS", "ignore:something")
    said = (
        "A worker stopped while some jobs were given to the executor. This can be caused by a too short worker timeout."
    )
    config = OmegaConf.create(
        {"hydra": {"launcher": {"_target_": "a.JoblibLauncher"}, "sweep": {"dir": str(tmp_path)}}}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(said, UserWarning, stacklevel=1)
        conductor.adapt_launcher(SimpleNamespace(joblib={}), config, WorkerBudget())
        warnings.warn(said, UserWarning, stacklevel=1)
    assert len(caught) == 1
    texts = ("resource_tracker: There appear to be 7 leaked objects", "something else", "another thing")
    program = "import warnings\n" + "".join(f"warnings.warn({text!r})\n" for text in texts)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [text in done.stderr for text in texts] == [False, False, True]
