"""Reports on the disk: whole, or a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairfr.auditing.writing import write_report
from fairfr.core.errors import StorageError


def test_both_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "new" / "audit"
    line = write_report(out, "audit", "<p>page</p>", {"group": "a\u202e"})
    assert sorted(path.name for path in out.iterdir()) == ["audit.html", "audit.json"]
    assert json.loads((out / "audit.json").read_text()) == {"group": "a\u202e"}
    assert "\u202e" not in (out / "audit.json").read_text()
    assert str(out / "audit.html") in line


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("mine")
    with pytest.raises(StorageError, match="is a file"):
        write_report(tmp_path / "audit", "audit", "", {})
    assert (tmp_path / "audit").read_text() == "mine"


def test_a_folder_that_cannot_be_made_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageError, match=r"file.* cannot be written: not a directory\..* another place \(--out\)\.$"):
        write_report(tmp_path / "file" / "audit", "audit", "", {})
