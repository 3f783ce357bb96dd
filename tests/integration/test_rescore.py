"""Metrics of stored runs anew: the same numbers as a run would give, without a fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fairfr.core.errors import DataError, UnmetNeedError
from fairfr.core.run_result import RunResult
from fairfr.metrics import catalogue
from fairfr.runner.rescore import RescoreOptions, rescore
from fairfr.store.result_file import DamagedRunError, read_result, write_result


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def newer_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.runner.rescore.metrics_version", lambda: "99-new")
    monkeypatch.setattr("fairfr.runner.record.metrics_version", lambda: "99-new")


def settled(folder: Path) -> dict[str, Any]:
    """A result without what depends on when and how it was made."""
    run = read_result(folder)
    assert run is not None
    result = run.to_json()
    for name in ("finished", "rescored", "seconds", "peak_memory_mb", "files"):
        result.pop(name, None)
    return result


def folders(out: Path) -> set[Path]:
    return set(out.glob("runs/*/*/*/*"))


def test_a_run_is_measured_in_its_place_to_the_bit(
    cell: Callable[..., Any], small: tuple[str, ...], out: Path, newer_metrics: None
) -> None:
    folder = cell(*small, "method=gst", "dataset.min_pairs=4").folder
    before, bytes_before = settled(folder), (folder / "metrics.parquet").read_bytes()
    stored = json.loads((folder / "result.json").read_text())
    write_result(folder, RunResult.from_json({**stored, "metrics_version": "0-old"}))
    assert rescore(folder, out, RescoreOptions()) == "measured"
    after = settled(folder)
    assert after["metrics_version"] == "99-new"
    assert {**after, "metrics_version": ""} == {**before, "metrics_version": ""}
    assert (folder / "metrics.parquet").read_bytes() == bytes_before
    assert rescore(folder, out, RescoreOptions()) == "up to date" and folders(out) == {folder}


def test_a_link_in_a_run_folder_is_not_followed(
    cell: Callable[..., Any], small: tuple[str, ...], out: Path, tmp_path: Path
) -> None:
    folder = cell(*small, "method=baseline", "dataset.grouping=[]").folder
    (tmp_path / "secret").write_text("secret")
    (folder / "run.log").unlink()
    (folder / "run.log").symlink_to(tmp_path / "secret")
    assert rescore(folder, out, RescoreOptions(min_pairs=6)) == "measured"
    (new,) = folders(out) - {folder}
    assert not (new / "run.log").exists() and (new / "config.yaml").is_file()


def test_other_settings_give_the_run_that_they_would_have_given(
    cell: Callable[..., Any], small: tuple[str, ...], out: Path
) -> None:
    """Also its key: a later run with that configuration finds it done."""
    folder = cell(*small, "method=platt", "dataset.min_pairs=4").folder
    for wanted, override in (
        (RescoreOptions(min_pairs=6), "dataset.min_pairs=6"),
        (RescoreOptions(grouping=("gender",)), "dataset.grouping=[gender]"),
        (RescoreOptions(grouping=("gender", "ethnicity")), "dataset.grouping=[gender,ethnicity]"),
    ):
        before = folders(out)
        assert rescore(folder, out, wanted) == "measured"
        (new,) = folders(out) - before
        again = cell(*small, "method=platt", "dataset.min_pairs=4", override)
        assert again.status == "skipped" and again.folder == new
        rescored = settled(new)
        real = settled(cell(*small, "method=platt", "dataset.min_pairs=4", override, "force=true").folder)
        assert rescored.pop("differs") == {override.split("=")[0]: rescored["identity"]["dataset"][_name(override)]}
        assert {**real, "differs": {}} == {**rescored, "differs": {}}


def _name(override: str) -> str:
    return override.partition("=")[0].removeprefix("dataset.")


def test_what_needs_a_fit_is_refused(cell: Callable[..., Any], small: tuple[str, ...], out: Path) -> None:
    gst, platt = (cell(*small, f"method={method}").folder for method in ("gst", "platt"))
    with pytest.raises(UnmetNeedError, match=r"fitted on the groups ethnicity_x_gender.*dataset\.grouping=\[gender\]"):
        rescore(gst, out, RescoreOptions(grouping=("gender",)))
    with pytest.raises(DataError, match=r"do not say the age of their images \(groups there: ethnicity"):
        rescore(platt, out, RescoreOptions(grouping=("age",)))
    (platt / "scores.parquet").write_bytes(b"PAR1")
    for wanted in (RescoreOptions(), RescoreOptions(force=True)):  # also where there is nothing to do
        with pytest.raises(DamagedRunError, match="scores"):
            rescore(platt, out, wanted)
    assert folders(out) == {gst, platt}


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("data", {"measured_folds": ["other"]}),
        ("data", {"groups": {}}),
        ("identity", {"dataset": {"grouping": ["age"], "min_pairs": 4}}),
        ("identity", {"dataset": {"grouping": 5, "min_pairs": 4}}),
        ("identity", {"dataset": {"grouping": [["age"]], "min_pairs": 4}}),
    ],
)
def test_a_result_that_does_not_fit_its_scores_is_damage(
    cell: Callable[..., Any], small: tuple[str, ...], out: Path, part: str, change: dict[str, Any]
) -> None:
    """Whoever edits a result can seal it again."""
    folder = cell(*small, "method=platt").folder
    stored = json.loads((folder / "result.json").read_text())
    write_result(folder, RunResult.from_json({**stored, part: {**stored[part], **change}}))
    with pytest.raises(DamagedRunError):
        rescore(folder, out, RescoreOptions(force=True))


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_command_goes_on_after_a_damaged_run(
    cell: Callable[..., Any],
    command: Callable[..., Any],
    small: tuple[str, ...],
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: int,
) -> None:
    monkeypatch.setattr("fairfr.commands.rescore.ProcessPoolExecutor", ThreadPoolExecutor)
    good, bad = (cell(*small, f"method={method}").folder for method in ("platt", "baseline"))
    (bad / "scores.parquet").unlink()
    done = command("rescore", "--out-root", out, "--force", "--jobs", jobs)
    assert done.returncode == 1 and "1 failed, 1 measured" in done.stdout and str(bad) in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
    assert (
        read_result(good) is not None
        and pd.read_parquet(good / "metrics.parquet")["metric"].isin(list(catalogue.METRIC_BY_ID)).all()
    )
