"""A sweep on the screen: whole lines from one writer, and bars in a terminal."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fairfr.core.findings import Finding
from fairfr.core.run_result import RunResult
from fairfr.runner.cell_bar import CellState, make_bars, time_left
from fairfr.store.result_file import write_result
from fairfr.store.sweep_record import CellOutcome, write_outcome
from fairfr.sweep.progress import PROGRESS_FILE, SweepBars
from fairfr.sweep.terminal import Terminal
from fairfr.sweep.watch import SweepWatcher

JOBS = [["dataset=lfw", "backbone=magface", f"method={method}"] for method in ("platt", "beta", "frappe")]
METRICS = [{"grouping": "all", "rule": "all", "group": "all", "metric": "auroc", "mean": 0.9}]


class Stage:
    """A sweep of three cells whose files the test writes, and its screen."""

    def __init__(self, folder: Path, is_terminal: bool) -> None:
        self.folder, self.screen = folder, io.StringIO()
        self.console = Console(file=self.screen, width=110, force_terminal=is_terminal, color_system=None)
        self.fits: list[str] = []
        self.ended: list[str] = []
        self.watcher = SweepWatcher(
            folder,
            len(JOBS),
            Terminal(self.console),
            on_fit=lambda: self.fits.append("fit"),
            on_end=lambda outcome: self.ended.append(outcome.choices),
        )
        self.watcher._started = 0.0
        self.bars = SweepBars(make_bars(self.console))

    def state(self, job: int, *findings: Finding, **changes: Any) -> None:
        (self.folder / str(job)).mkdir(exist_ok=True)
        state = CellState(f"LFW x MagFace x {job}", 0.0, findings=findings, **changes)
        (self.folder / str(job) / PROGRESS_FILE).write_text(json.dumps(asdict(state)))

    def end(self, job: int, status: str = "completed", error: str | None = None) -> None:
        method = JOBS[job][2].partition("=")[2]
        run = self.folder / "run" / method
        run.mkdir(parents=True, exist_ok=True)
        names = {noun: {"id": noun, "label": noun.upper()} for noun in ("dataset", "backbone")}
        about = {"id": method, "label": method, "needs": [], "native_probability": False}
        basics = {"key": method, "status": "completed", "source": "files", "finished": "2026-01-01", "identity": {}}
        rest = {"differs": {}, "data": {"folds": ["0"], "grouping": None}, "seconds": 20.0, "metrics": METRICS}
        write_result(run, RunResult.from_json({**names, "method": about, **basics, **rest}))
        write_outcome(
            self.folder / str(job),
            CellOutcome(status=status, choices=method, error=error, folder=run),
        )

    def look(self, now: float) -> list[str]:
        """The new lines."""
        before = len(self.screen.getvalue())
        self.watcher.look(self.bars, now)
        return self.screen.getvalue()[before:].splitlines()


def test_a_pipe_gets_one_line_for_each_cell_with_position_and_time_left(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    assert stage.look(0.0) == []
    stage.state(1, folds=10, done=3)
    assert stage.look(1.0) == [], "a pipe gets no bars"
    stage.end(1)
    (line,) = stage.look(20.0)
    assert line.startswith("+ [1/3] DATASET x BACKBONE x beta ") and "AUROC 0.900" in line
    assert line.endswith("20.0 s  about 40 s left")
    assert stage.look(21.0) == []
    stage.end(0, "skipped")
    (line,) = stage.look(22.0)
    assert line.startswith("= [2/3] ") and line.endswith("already done  about 22 s left")
    stage.end(2, "failed", "DataError: no")
    assert stage.look(23.0) == ["x [3/3] DATASET x BACKBONE x frappe: DataError: no"]


def test_a_cell_that_failed_before_it_had_a_folder_is_named_by_its_choices(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    write_outcome(
        tmp_path / "0",
        CellOutcome(status="failed", choices="lfw / magface / platt", error="DataError: no"),
    )
    assert stage.look(0.0) == ["x [1/3] lfw / magface / platt: DataError: no"]


def test_a_warning_of_several_cells_is_shown_once_also_when_its_cell_has_ended(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    odd = Finding("repeated-pairs", "warning", "a pair is listed twice")
    stage.state(0, odd)
    assert stage.look(0.0) == ["note: a pair is listed twice"]
    stage.state(1, odd, Finding("few-false-matches", "warning", "few"))
    stage.end(1)
    shown = stage.look(1.0)
    assert shown[0] == "note: few" and shown[1].startswith("+ [1/3]") and len(shown) == 2


def test_the_end_of_a_cell_is_told_once_and_a_fit_as_soon_as_the_data_is_read(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    stage.state(0)
    stage.look(0.0)
    assert stage.fits == [] and stage.ended == []
    stage.state(0, folds=10)
    stage.look(1.0)
    assert stage.fits == ["fit"]
    stage.end(0)
    stage.look(2.0)
    stage.look(3.0)
    assert stage.ended == ["platt"]


def test_half_an_outcome_is_no_outcome_yet(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    stage.end(0)
    path = tmp_path / "0" / "outcome.json"
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    assert stage.look(0.0) == []
    path.write_text(whole)
    assert len(stage.look(1.0)) == 1


def test_a_terminal_gets_a_bar_for_the_sweep_and_for_each_running_cell(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=True)
    stage.state(0, folds=10, done=4)
    stage.state(2)
    stage.end(1)
    (line,) = [line for line in stage.look(40.0) if "[1/3]" in line]
    assert "left" not in line, "the bar shows it"
    stage.console.print(stage.bars._bars.get_renderable())
    bars = stage.screen.getvalue().splitlines()[-3:]
    assert "sweep" in bars[0] and "1/3 runs" in bars[0]
    assert "1  LFW x MagFace x 0" in bars[1] and "4/10 folds" in bars[1]
    assert "3  LFW x MagFace x 2" in bars[2] and "reading data" in bars[2]
    stage.state(0, folds=10, done=10)
    stage.state(2, folds=10, done=10, is_stored=True)
    stage.look(41.0)
    stage.console.print(stage.bars._bars.get_renderable())
    doing = stage.screen.getvalue().splitlines()[-2:]
    assert "measuring" in doing[0] and "storing" in doing[1]
    stage.end(0)
    stage.end(2)
    stage.look(42.0)
    stage.console.print(stage.bars._bars.get_renderable())
    assert "3/3 runs" in stage.screen.getvalue().splitlines()[-1], "bars of cells that have ended are gone"


def test_watching_shows_what_is_left_when_the_jobs_are_over(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    with stage.watcher.watching():
        for job in range(3):
            stage.end(job)
    lines = [
        line[:7] for line in stage.screen.getvalue().splitlines() if line
    ]  # older versions of rich end in a blank one
    assert lines == ["+ [1/3]", "+ [2/3]", "+ [3/3]"]


def test_a_sweep_that_is_stopped_shows_the_cells_that_have_ended(tmp_path: Path) -> None:
    stage = Stage(tmp_path, is_terminal=False)
    with pytest.raises(SystemExit), stage.watcher.watching():
        stage.end(0, "failed", "DataError: no")
        raise SystemExit(1)
    assert stage.screen.getvalue().startswith("x [1/3]")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.7, "1 min"), (3570.0, "1 h 00 min"), (200.0, "3 min"), (7800.0, "2 h 10 min")],
)
def test_time_left_in_words(seconds: float, words: str) -> None:
    assert time_left(seconds) == f"about {words} left"


@pytest.mark.parametrize(("width", "elapsed"), [(80, False), (110, True)])
def test_nothing_but_the_bar_gets_shorter_in_a_narrow_terminal(width: int, elapsed: bool) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    bars = make_bars(console)
    bars.add_task(
        "  6  LFW x mobileface_v3 x AC-Density (LOO)", total=11, completed=9, count="9/10 folds", left="about 40 s left"
    )
    with console.capture() as captured:
        console.print(bars)
    (line,) = captured.get().splitlines()
    assert "…" not in line and "AC-Density (LOO)" in line and "9/10 folds" in line and "about 40 s left" in line
    assert ("0:00:00" in line) is elapsed
