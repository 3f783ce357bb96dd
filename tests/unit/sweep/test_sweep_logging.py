"""Which cells of a sweep go to MLflow, when, and what a sweep does about an MLflow that refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.sweep_record import SweepRecord, SweepSummary, write_outcome
from fairfr.sweep.progress import CellState
from fairfr.sweep.sweep import FAILED, NOT_MIRRORED, RunningSweep

FOLDER = {"status": "completed", "choices": "a", "error": None}


class Recorder:
    """Takes the place of ``MlflowLogger``."""

    uri, is_elsewhere = "sqlite:///x.db", False

    def __init__(self, refusal: str | None = None) -> None:
        self.refusal = refusal
        self.started = 0
        self.logged: list[str] = []
        self.closed: list[SweepSummary] = []
        self.limits: list[float | None] = []
        self.on_log: Callable[[], object] = lambda: None

    def start(self) -> None:
        self.started += 1

    def log_run(self, folder: Path, sweep: SweepRecord) -> None:
        self.logged.append(folder.name)
        self.on_log()

    def close_sweep(self, sweep: SweepRecord, end: SweepSummary, artifacts: Path) -> None:
        self.closed.append(end)

    def finish(self, limit: float | None = None) -> str | None:
        self.limits.append(limit)
        return self.refusal


def sweep_of(tmp_path: Path, logger: Recorder, jobs: int) -> RunningSweep:
    about = SweepRecord.of(["dataset=lfw"], None, started=0.0)
    running = RunningSweep(about, tmp_path, tmp_path, logger, with_report=False)  # type: ignore[arg-type]
    running.plan(0, [[f"seed={job}"] for job in range(jobs)])
    return running


def end_job(tmp_path: Path, job: int, is_for_mlflow: bool = True, **outcome: Any) -> None:
    ended = {**FOLDER, "folder": str(tmp_path / f"run{job}"), "is_for_mlflow": is_for_mlflow, **outcome}
    write_outcome(tmp_path / str(job), ended)


def test_a_cell_is_logged_once_as_soon_as_it_has_ended(tmp_path: Path) -> None:
    logger = Recorder()
    running = sweep_of(tmp_path, logger, 3)
    running.log_ended()
    assert logger.logged == [] and logger.started == 0
    end_job(tmp_path, 1)
    running.log_ended()
    running.log_ended()
    assert logger.logged == ["run1"]
    end_job(tmp_path, 0)
    end_job(tmp_path, 2)
    assert running.finish() == 0
    assert sorted(logger.logged) == ["run0", "run1", "run2"] and len(logger.closed) == 1


def test_cells_are_logged_while_others_compute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.sweep.sweep.INTERVAL", 0.001)
    logger, was_logged = Recorder(), threading.Event()
    logger.on_log = was_logged.set
    running = sweep_of(tmp_path, logger, 2)
    running.start()
    end_job(tmp_path, 0)
    assert was_logged.wait(60), "the second cell has not ended"
    end_job(tmp_path, 1)
    assert running.finish() == 0 and logger.logged == ["run0", "run1"]


def test_mlflow_is_imported_when_the_first_cell_is_fitted_and_not_before(tmp_path: Path) -> None:
    """Until then it may be one that is done, or that ends in a mistake of the user's."""
    logger = Recorder()
    running = sweep_of(tmp_path, logger, 1)
    for folds, started in ((None, 0), (10, 1)):
        (tmp_path / "0").mkdir(exist_ok=True)
        (tmp_path / "0" / "progress.json").write_text(json.dumps(CellState("a", 0.0, folds).as_dict()))
        running.log_ended()
        assert logger.started == started


@pytest.mark.parametrize(("status", "code"), [("skipped", 0), ("failed", FAILED)])
def test_a_sweep_of_finished_cells_and_mistakes_does_not_touch_mlflow(tmp_path: Path, status: str, code: int) -> None:
    logger = Recorder()
    running = sweep_of(tmp_path, logger, 2)
    for job in range(2):
        end_job(tmp_path, job, is_for_mlflow=False, status=status, error="why")
    assert running.finish() == code
    assert logger.started == 0 and logger.logged == [] and logger.closed == []


def test_a_refusal_is_said_with_what_to_do_and_costs_exit_code_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = Recorder("MlflowError: no room")
    running = sweep_of(tmp_path, logger, 1)
    end_job(tmp_path, 0)
    assert running.finish() == NOT_MIRRORED and logger.closed == [], "nothing more is tried"
    said = capsys.readouterr().out
    assert said.count("no room") == 1 and "the numbers are safe" in said and "fairfr sync" in said


def test_a_cell_without_a_result_counts_more_than_a_refusal(tmp_path: Path) -> None:
    running = sweep_of(tmp_path, Recorder("MlflowError: no room"), 2)
    end_job(tmp_path, 0)
    assert running.finish() == FAILED


def test_after_ctrl_c_mlflow_has_half_a_second(tmp_path: Path) -> None:
    logger = Recorder()
    running = sweep_of(tmp_path, logger, 2)
    end_job(tmp_path, 0)
    running.finish("KILLED")
    assert logger.limits == [0.5] and logger.closed[0].status == "KILLED"
