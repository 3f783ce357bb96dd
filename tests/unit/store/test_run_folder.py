"""Run folders: drafts, publishing, and what counts as completed."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairfr.core.run_key import RunKey
from fairfr.core.run_result import DataSummary, RunResult
from fairfr.core.types import MetricRow
from fairfr.store.locks import locked, this_machine
from fairfr.store.parquet_files import write_metrics, write_scores
from fairfr.store.result_file import try_read_result
from fairfr.store.run_folder import ABANDONED, LOCK, RunFolders

KEY = RunKey("lfw", "magface", "platt", "files", "0123456789abcdef")
SYNTHETIC = RunKey("lfw", "magface", "platt", "synthetic", "0123456789abcdef")
NAMES = {"dataset": {"id": "lfw"}, "backbone": {"id": "magface"}, "method": {"id": "platt"}}
DONE = RunResult.from_json(
    {
        "key": str(KEY),
        "status": "completed",
        "source": "files",
        "finished": "2026-01-01",
        "identity": {},
        "differs": {},
        **NAMES,
    }
)
FAILED = replace(DONE, status="failed")


def without_files(result: RunResult | None) -> RunResult | None:
    return None if result is None else replace(result, files={})


def drafts(out: Path) -> list[str]:
    return [path.name for path in (out / ".partial").iterdir() if path.is_dir()]


def test_the_path_is_the_contract(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    assert runs.path(KEY) == tmp_path / "runs/lfw/magface/platt/0123456789abcdef"
    assert runs.path(SYNTHETIC).name == "synthetic-0123456789abcdef"


def test_a_draft_becomes_a_run_only_when_published(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    with runs.draft(KEY) as draft:
        (draft / "scores.parquet").write_text("scores")
        assert runs.completed(KEY) is None and not (tmp_path / "runs").exists()
        final = runs.publish(draft, KEY, DONE)
    assert final == runs.path(KEY) and sorted(os.listdir(final)) == ["result.json", "scores.parquet"]
    assert without_files(runs.completed(KEY)) == DONE and drafts(tmp_path) == []


def test_a_draft_that_is_not_published_is_thrown_away(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    with pytest.raises(RuntimeError, match="stop"), runs.draft(KEY) as draft:
        (draft / "scores.parquet").write_text("half")
        raise RuntimeError("stop")
    assert drafts(tmp_path) == [] and not (tmp_path / "runs").exists()


def test_publishing_again_replaces_the_whole_folder(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    for name in ("first", "second"):
        with runs.draft(KEY) as draft:
            (draft / name).write_text("")
            runs.publish(draft, KEY, replace(DONE, protocol=name))
    assert sorted(os.listdir(runs.path(KEY))) == ["result.json", "second"]
    assert without_files(runs.completed(KEY)) == replace(DONE, protocol="second") and drafts(tmp_path) == []


def test_a_failed_run_is_not_completed(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    with runs.draft(KEY) as draft:
        runs.publish(draft, KEY, FAILED)
    assert runs.completed(KEY) is None and without_files(try_read_result(runs.path(KEY))) == FAILED


def test_a_result_with_nan_is_refused_before_it_stands(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    with pytest.raises(ValueError, match="JSON"), runs.draft(KEY) as draft:
        runs.publish(draft, KEY, replace(DONE, fit_report={"mean": float("nan")}, data=DataSummary(pairs=1)))
    assert not runs.path(KEY).exists()


@pytest.mark.parametrize("text", ["", "{", "null", "[1]"])
def test_an_unreadable_result_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "result.json").write_text(text)
    assert try_read_result(tmp_path) is None


def test_an_older_run_set_aside_by_a_killed_process_is_put_back(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    with runs.draft(KEY) as draft:
        runs.publish(draft, KEY, DONE)
    aside = tmp_path / ".partial" / f"replaced-{KEY}-0123456789ab"
    runs.path(KEY).rename(aside)
    assert without_files(runs.completed(KEY)) == DONE and not aside.exists()


def _die_with_a_draft(out: Path) -> None:
    with RunFolders(out).draft(KEY) as draft:
        (draft / "scores.parquet").write_text("half")
        os._exit(9)


@pytest.mark.kill
def test_a_draft_of_a_process_that_died_is_cleared(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_die_with_a_draft, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == 9 and len(drafts(tmp_path)) == 1
    with RunFolders(tmp_path).draft(KEY):
        pass
    assert list((tmp_path / ".partial").iterdir()) == []


def test_only_drafts_that_nobody_writes_in_are_cleared(tmp_path: Path) -> None:
    """Locks of another machine may be invisible here: its drafts stay until nothing has changed for a week."""
    partial, here = tmp_path / ".partial", this_machine()
    for name in (f"{here}-dead", f"{here}-alive", "another-machine", "long-ago", f"replaced-{KEY}-1", "discarded-1"):
        (partial / name).mkdir(parents=True)
    before = time.time() - ABANDONED - 60
    os.utime(partial / "long-ago", (before, before))
    with locked(partial / f"{here}-alive{LOCK}"):
        with RunFolders(tmp_path).draft(KEY):
            pass
        assert set(drafts(tmp_path)) == {f"{here}-alive", "another-machine", f"replaced-{KEY}-1"}
        assert (partial / f"{here}-alive{LOCK}").exists()


def test_a_lock_without_its_draft_is_cleared(tmp_path: Path) -> None:
    """Its process was killed before it made the folder, or after it had published it."""
    (tmp_path / ".partial").mkdir()
    (tmp_path / ".partial" / f"{this_machine()}-gone{LOCK}").touch()
    with RunFolders(tmp_path).draft(KEY):
        pass
    assert list((tmp_path / ".partial").iterdir()) == []


def test_nothing_of_a_draft_lock_becomes_part_of_the_run(tmp_path: Path) -> None:
    with RunFolders(tmp_path).draft(KEY) as draft:
        assert list(draft.iterdir()) == [] and draft.with_name(draft.name + LOCK).exists()
    assert list((tmp_path / ".partial").iterdir()) == []


def test_scores_come_back_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {
        "pair": np.arange(5, dtype=np.int64),
        "fold": np.array(["0", "0", "1", "1", "10"]),
        "same": np.array([True, False, True, False, True]),
        "score": rng.normal(size=5),
        "ethnicity": np.array(["asian", None, "asian|white", "white", "|white"], dtype=object),
    }
    write_scores(tmp_path / "scores.parquet", columns)
    frame = pd.read_parquet(tmp_path / "scores.parquet")
    assert list(frame.columns) == list(columns)
    assert frame["pair"].dtype == np.int64 and frame["same"].dtype == bool
    np.testing.assert_array_equal(frame["score"], columns["score"])
    assert frame["fold"].tolist() == columns["fold"].tolist()
    assert [None if pd.isna(v) else v for v in frame["ethnicity"]] == columns["ethnicity"].tolist()


def test_metrics_come_back_as_metric_rows(tmp_path: Path) -> None:
    rows = [
        MetricRow("0", "all", "all", "all", "auroc", 0.9, 3, 4),
        MetricRow("pooled", "gender", "both", "male", "brier", float("nan"), 1, 0),
    ]
    write_metrics(tmp_path / "metrics.parquet", rows)
    frame = pd.read_parquet(tmp_path / "metrics.parquet")
    assert tuple(frame.columns) == MetricRow._fields
    assert MetricRow(*frame.iloc[0]) == rows[0]
    assert np.isnan(frame["value"][1]) and frame["n_diff"].tolist() == [4, 0]


def test_a_failure_set_apart_leaves_the_run(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    with runs.draft(KEY) as draft:
        runs.publish(draft, KEY, DONE)
    for attempt in ("first", "second"):
        with runs.draft(KEY) as draft:
            (draft / "error.txt").write_text(attempt)
            folder = runs.keep_failed(draft, KEY, FAILED)
    assert without_files(runs.completed(KEY)) == DONE
    assert (folder / "error.txt").read_text() == "second"
    assert json.loads((folder / "result.json").read_text())["status"] == "failed"
    assert tmp_path / "runs" not in folder.parents


class Disk:
    """Notes what reaches the disk, and in which order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[str, str]] = []
        sync, rename = os.fsync, os.rename

        def fsync(file: int) -> None:
            self.steps.append(("sync", os.readlink(f"/proc/self/fd/{file}")))
            sync(file)

        def renamed(old: Any, new: Any) -> None:
            self.steps.append(("rename", str(new)))
            rename(old, new)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "rename", renamed)

    def at(self, what: str, path: Path) -> int:
        return self.steps.index((what, str(path)))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are read in /proc")
def test_a_run_is_on_the_disk_before_it_stands_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut keeps what was synced, and renames in their order: so the run is whole or absent."""
    runs = RunFolders(tmp_path)
    with runs.draft(KEY) as draft:
        (draft / "scores.parquet").write_text("scores")
        (draft / "config.yaml").write_text("config")
        disk = Disk(monkeypatch)
        final = runs.publish(draft, KEY, DONE)
    moved = disk.at("rename", final)
    contents = [disk.at("sync", draft / name) for name in ("scores.parquet", "config.yaml", "result.json")]
    assert max(contents) < disk.at("sync", draft) < moved, "the files, then their names, then the rename"
    above = [disk.at("sync", folder) for folder in (tmp_path, tmp_path / "runs", tmp_path / "runs" / "lfw")]
    assert max(above) < moved, "new folders on the way"
    assert ("sync", str(final.parent)) in disk.steps[moved:], "the rename itself"


def test_folders_that_cannot_be_synced_are_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some network disks; a file that cannot be is one."""
    sync = os.fsync

    def fsync(file: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{file}"):
            raise OSError(22, "Invalid argument")
        sync(file)

    monkeypatch.setattr(os, "fsync", fsync)
    runs = RunFolders(tmp_path)
    with runs.draft(KEY) as draft:
        (draft / "scores.parquet").write_text("scores")
        runs.publish(draft, KEY, DONE)
    assert runs.completed(KEY) is not None

    def broken(file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with runs.draft(SYNTHETIC) as draft, pytest.raises(OSError, match="Input/output"):
        (draft / "scores.parquet").write_text("scores")
        runs.publish(draft, SYNTHETIC, replace(DONE, key=str(SYNTHETIC)))
    assert not runs.path(SYNTHETIC).exists()


def test_an_older_run_that_another_process_moves_meanwhile_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes publish one key: whatever the order of their renames, a whole run stands, and nothing is left."""
    runs = RunFolders(tmp_path)
    rename = os.rename
    with runs.draft(KEY) as first, runs.draft(KEY) as second:
        runs.publish(first, KEY, replace(DONE, protocol="first"))

        def renamed(old: Path, new: Path) -> None:
            rename(old, new)
            if "replaced" in str(new):  # now the other one puts its own there
                monkeypatch.setattr(os, "rename", rename)
                with runs.draft(KEY) as third:
                    runs.publish(third, KEY, replace(DONE, protocol="third"))

        monkeypatch.setattr(os, "rename", renamed)
        runs.publish(second, KEY, replace(DONE, protocol="second"))
    assert without_files(runs.completed(KEY)) == replace(DONE, protocol="second") and drafts(tmp_path) == []


def test_looking_again_leaves_nothing_behind(tmp_path: Path) -> None:
    runs = RunFolders(tmp_path)
    runs.look_again(KEY)
    assert list(tmp_path.iterdir()) == []
    with runs.draft(KEY) as draft:
        runs.publish(draft, KEY, DONE)
    before = sorted(tmp_path.rglob("*"))
    runs.look_again(KEY)
    assert sorted(tmp_path.rglob("*")) == before
