"""The files by which cells in other processes say how far they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fairfr.core.findings import Finding
from fairfr.runner.cell_bar import CellState
from fairfr.sweep.progress import PROGRESS_FILE, ProgressFile, read_state

FINDING = Finding("repeated-pairs", "warning", "a pair is listed twice", {"pairs": 1})


def test_another_process_reads_what_the_cell_has_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.runner.cell_bar.time.time", lambda: 1000.0)
    assert read_state(tmp_path) is None
    progress = ProgressFile(tmp_path, "LFW x MagFace x Platt")
    assert read_state(tmp_path) == CellState("LFW x MagFace x Platt", 1000.0)
    progress.warn(FINDING)
    progress.start(10)
    progress.fold_done("0")
    progress.fold_done("1")
    expected = CellState("LFW x MagFace x Platt", 1000.0, 10, 2, findings=(FINDING,))
    assert read_state(tmp_path) == expected
    progress.stored()
    assert read_state(tmp_path) == replace(expected, is_stored=True)
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_FILE]


def test_a_file_that_cannot_be_written_or_read_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ProgressFile(tmp_path / "file", "a cell").start(3)
    for damaged in ("", "null", "[]", '{"title": "a"}', '{"title": "a", "started": 1, "findings": [3]}'):
        (tmp_path / PROGRESS_FILE).write_text(damaged)
        assert read_state(tmp_path) is None, damaged


def test_a_state_is_readable_json(tmp_path: Path) -> None:
    ProgressFile(tmp_path, "a cell").warn(FINDING)
    assert json.loads((tmp_path / PROGRESS_FILE).read_text())["findings"][0]["code"] == "repeated-pairs"
