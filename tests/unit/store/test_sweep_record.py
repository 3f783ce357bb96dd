"""What a sweep's parent run in MLflow is, and what it says, before MLflow is asked."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairfr.core.config import from_file
from fairfr.core.run_result import RunResult
from fairfr.store.mlflow import views
from fairfr.store.mlflow.describe import run_name
from fairfr.store.result_file import write_result
from fairfr.store.sweep_record import (
    CellOutcome,
    SweepRecord,
    SweepSummary,
    read_outcomes,
    stored_sweeps,
    write_outcome,
)

COMMAND = ["dataset=lfw", "backbone=magface", "++dataset.standin.scale=0.1", "method=platt,beta"]


def result(method: str, dataset: str = "lfw", source: str = "synthetic", native: bool = True) -> dict[str, Any]:
    return {
        "key": f"{source}-{dataset}-{method}",
        "status": "completed",
        "source": source,
        "dataset": {"id": dataset},
        "backbone": {"id": "magface"},
        "method": {"id": method, "label": method.title(), "needs": [], "native_probability": native},
        "finished": "2026-01-01T00:00:00+00:00",
        "identity": {},
        "differs": {},
    }


def outcome(tmp_path: Path, status: str = "completed", **about: Any) -> CellOutcome:
    stored = result(**about)
    folder = tmp_path / stored["key"]
    folder.mkdir()
    write_result(folder, RunResult.from_json(stored))
    return CellOutcome(status=status, folder=folder, choices="a / b / c", error=None)


def test_the_same_command_is_the_same_sweep_wherever_and_however_it_runs() -> None:
    sweep = SweepRecord.of(COMMAND, None, started=1.0)
    elsewhere = ["threads=1", "out_root=/x", "store.tracking_uri=http://x", "hydra/launcher=joblib", "force=true"]
    again = SweepRecord.of([*elsewhere, "hydra.launcher.n_jobs=2", *reversed(COMMAND)], None, started=2.0)
    assert again.id == sweep.id and again.overrides == sweep.overrides
    assert SweepRecord.of([*COMMAND, "seed=1"], None, started=1.0).id != sweep.id
    assert "++dataset.standin.scale=0.1".lstrip("+") in sweep.overrides, "the command can be typed again"


def test_a_sweep_survives_its_file(tmp_path: Path) -> None:
    sweep = SweepRecord.of(COMMAND, "headline", started=3.5)
    sweep.write(tmp_path / "new")
    assert SweepRecord.read(tmp_path / "new") == sweep
    assert SweepRecord.read(tmp_path) is None
    assert sweep.first_name == "headline | lfw | magface"


def test_a_parent_run_is_named_after_what_was_swept(tmp_path: Path) -> None:
    one = [outcome(tmp_path, method="platt"), outcome(tmp_path, "skipped", method="beta")]
    over = SweepRecord.of(COMMAND, None, started=10.0).over(12.5, None, one)
    end = SweepSummary.of(over, one)
    assert end.name == "sweep | synthetic | lfw | magface | 2 runs"
    assert end.status == "FINISHED"
    counts = {"sweep/cells": 2, "sweep/already_done": 1, "sweep/failed": 0, "sweep/not_run": 0}
    assert end.metrics == counts | {"sweep/seconds": 2.5}
    assert end.tags["source"] == "synthetic" and end.tags["dataset"] == "lfw"

    many = [outcome(tmp_path, method="gst", dataset=name, source="files") for name in ("rfw", "bfw", "c", "d")]
    named = SweepSummary.of(SweepRecord.of([], "headline", started=0.0).over(1.0, None, many), many)
    assert named.name == "headline | 4 data sets | magface | 4 runs"


def test_every_cell_is_listed_and_a_failure_fails_the_parent(tmp_path: Path) -> None:
    lost = from_file(
        CellOutcome, {"status": "failed", "choices": "rfw / magface / gst", "error": 'DataError: "x", y is empty.'}
    )
    outcomes = [outcome(tmp_path, method="platt"), lost]
    end = SweepSummary.of(SweepRecord.of(COMMAND, None, started=0.0).over(1.0, None, outcomes), outcomes)
    assert end.status == "FAILED" and end.metrics["sweep/failed"] == 1
    rows = list(csv.DictReader(io.StringIO(end.cells_csv)))
    assert [row["method"] for row in rows] == ["platt", "gst"]
    assert rows[0]["run_key"] == end.keys[0] == "synthetic-lfw-platt"
    assert rows[1] | {"dataset": "rfw", "outcome": "failed", "error": lost.error} == rows[1]
    stopped = SweepSummary.of(SweepRecord.of(COMMAND, None, started=0.0).over(1.0, "KILLED", outcomes), outcomes)
    assert stopped.status == "KILLED"


def test_no_spreadsheet_runs_a_cell_of_the_list(tmp_path: Path) -> None:
    outcomes = [outcome(tmp_path, method="platt", dataset="=1+1"), CellOutcome("failed", "@a / +b / -c", "=x\x1b[2J")]
    end = SweepSummary.of(SweepRecord.of(COMMAND, None, started=0.0).over(1.0, None, outcomes), outcomes)
    for row in csv.reader(io.StringIO(end.cells_csv)):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row), row
    assert "\x1b" not in end.cells_csv


def test_outcomes_come_in_the_order_of_the_jobs(tmp_path: Path) -> None:
    for job in (10, 2, 1):
        write_outcome(tmp_path / str(job), CellOutcome(status="completed", choices=str(job)))
    write_outcome(tmp_path / "notes", CellOutcome(status="failed"))
    assert [found.choices for found in read_outcomes(tmp_path)] == ["1", "2", "10"]


def test_jobs_that_left_no_word_are_told_by_what_they_would_have_been(tmp_path: Path) -> None:
    jobs = [["dataset=lfw", f"method={name}", "store.tracking_uri=http://me:pw@x"] for name in ("a", "b", "c", "d")]
    sweep = SweepRecord.of(COMMAND, None, started=0.0).with_jobs(0, jobs[:3]).with_jobs(3, jobs[3:])
    assert sweep.planned == ("method=a", "method=b", "method=c", "dataset=lfw method=d"), "what differs in a launch"
    write_outcome(tmp_path / "0", CellOutcome(status="completed", choices="lfw / net / a"))
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "outcome.json").write_text('{"status": "comp')
    sweep.write(tmp_path)
    read = SweepRecord.read(tmp_path)
    assert read == sweep
    outcomes = read_outcomes(tmp_path, sweep.planned)
    assert [found.status for found in outcomes] == ["completed", "not run", "not run", "not run"]
    assert [found.choices for found in outcomes[1:]] == ["method=b", "method=c", "dataset=lfw method=d"]
    assert "killed" in outcomes[2].error and outcomes[3].error == "did not start."
    end = SweepSummary.of(sweep.over(1.0, None, outcomes), outcomes)
    assert end.status == "FAILED" and end.metrics["sweep/not_run"] == 3 and "4 runs" in end.name
    rows = list(csv.DictReader(io.StringIO(end.cells_csv)))
    assert [row["outcome"] for row in rows] == ["completed", "not run", "not run", "not run"]


def test_of_a_sweep_that_ran_twice_the_newer_counts_and_a_killed_one_says_so(tmp_path: Path) -> None:
    older, newer, killed = (tmp_path / "hydra" / "sweep" / "day" / name for name in ("a", "b", "c"))
    sweep = SweepRecord.of(COMMAND, None, started=1.0).over(2.0, None, [])
    sweep.write(older)
    again = SweepRecord.of(COMMAND, None, started=5.0).over(6.0, None, [])
    again.write(newer)
    SweepRecord.of([*COMMAND, "seed=1"], None, started=3.0).write(killed)
    found = [stored for stored, _ in stored_sweeps(tmp_path)]
    assert [stored.started for stored in found] == [3.0, 5.0]
    assert [stored.status for stored in found] == ["KILLED", "FINISHED"]


def test_a_sweep_over_parameters_shows_them_in_names_columns_and_cells(tmp_path: Path) -> None:
    outcomes = []
    for c in (None, 0.5, 2.0):
        differs = {"protocol": "mine"} if c is None else {"method.estimator.C": c, "protocol": "mine"}
        stored = result("platt") | {"key": f"platt-{c}", "differs": differs}
        (tmp_path / stored["key"]).mkdir()
        write_result(tmp_path / stored["key"], RunResult.from_json(stored))
        outcomes.append(
            from_file(
                CellOutcome,
                {"status": "completed", "folder": str(tmp_path / stored["key"]), "choices": "", "error": None},
            )
        )
    assert run_name(RunResult.from_json(stored)) == "Platt (C=2, protocol=mine) | synthetic | lfw | magface"
    end = SweepSummary.of(SweepRecord.of(COMMAND, None, started=0.0).over(1.0, None, outcomes), outcomes)
    assert end.varied == ("method.estimator.C",), "every cell has the same protocol"
    assert [row["variant"] for row in csv.DictReader(io.StringIO(end.cells_csv))][2] == "C=2, protocol=mine"
    state = json.loads(json.loads(views.of_sweep("ab12", "name", end.varied)[1])["state"])
    assert state["selectedColumns"][-1] == "params.`method.estimator.C`"
    two = [replace(one, folder=tmp_path / f"platt-{c}") for one, c in zip(outcomes, (0.5, 0.5), strict=False)]
    assert SweepSummary.of(SweepRecord.of(COMMAND, None, started=0.0).over(1.0, None, two), two).varied == ()


@pytest.mark.parametrize(
    ("backbones", "reading"), [(("magface",), "paper"), (("mynet",), "strict"), (("magface", "mynet"), "strict")]
)
def test_a_sweep_is_read_as_its_settings_are_and_strictly_where_they_differ(
    tmp_path: Path, backbones: tuple[str, ...], reading: str
) -> None:
    outcomes = []
    for backbone in backbones:
        stored = result("platt") | {"key": backbone, "backbone": {"id": backbone, "label": backbone}}
        (tmp_path / backbone).mkdir()
        write_result(tmp_path / backbone, RunResult.from_json(stored))
        outcomes.append(
            from_file(
                CellOutcome, {"status": "completed", "folder": str(tmp_path / backbone), "choices": "", "error": None}
            )
        )
    end = SweepSummary.of(SweepRecord.of(COMMAND, None, started=0.0).over(1.0, None, outcomes), outcomes)
    assert end.tags["reading"] == reading and end.mixed == (len(backbones) > 1)


ODD_SWEEPS: list[Any] = [
    *(None, "text", [], 5, {}, {"id": "a"}, {"id": "a' or '1", "title": "s", "overrides": [], "started": 1.0}),
    *(
        {"id": "a", "title": "s", "overrides": ["x"], "started": 1.0, **change}
        for change in (
            *({"started": []}, {"started": 1e308}, {"started": float("nan")}, {"title": []}, {"overrides": [5]}),
            *({"ended": "x"}, {"ended": 1e308}, {"ended": 2.0}, {"ended": 2.0, "status": "ODD"}, {"planned": [[]]}),
            *({"overrides": "x"}, {"id": {}}, {"process": 5}),
        )
    ),
]


@pytest.mark.parametrize("stored", ODD_SWEEPS)
def test_a_sweep_that_nobody_ran_is_no_sweep(tmp_path: Path, stored: object) -> None:
    """One folder that came from elsewhere does not end what is done with all others."""
    write_sweep(tmp_path, json.dumps(stored))
    assert list(stored_sweeps(tmp_path)) == []


def test_a_file_that_nests_without_end_is_no_sweep(tmp_path: Path) -> None:
    write_sweep(tmp_path, "[" * 100_000)
    assert list(stored_sweeps(tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 100_000, "null", "5", '{"status": 5}', '{"status": "failed", "error": []}', '{"choices": "a"}'),
        *('{"status": "failed", "folder": 5}', '{"status": "failed", "choices": []}'),
    ],
)
def test_an_outcome_that_is_none_counts_as_not_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "outcome.json").write_text(text)
    (found,) = read_outcomes(tmp_path, ["method=platt"])
    assert found.status == "not run"


@pytest.mark.parametrize("folder", ["../../../secret", "/x/../..", "a" * 5000, "/elsewhere/runs/lfw/net/platt/k", "\0"])
def test_the_folder_of_an_outcome_is_one_below_this_one(tmp_path: Path, folder: str) -> None:
    (tmp_path / "secret").mkdir()
    out = tmp_path / "out"
    place = write_sweep(out, json.dumps({"id": "a", "title": "s", "overrides": [], "started": 1.0}))
    write_outcome(place / "0", CellOutcome("completed", "a / b / c", None, Path(folder)))
    ((_, (found,)),) = stored_sweeps(out)
    assert found.folder is None


def write_sweep(out: Path, text: str) -> Path:
    place = out / "hydra" / "sweep" / "2026-01-01" / "00-00-00"
    place.mkdir(parents=True)
    (place / "sweep.json").write_text(text)
    return place
