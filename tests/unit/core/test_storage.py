"""A file appears whole or not at all, and nothing else is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairfr.core.errors import StorageError
from fairfr.core.storage import replace_text, replacing, storing


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with replacing(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    replace_text(path, "é")
    assert path.read_text(encoding="utf-8") == "é"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_after_an_error_the_old_file_is_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as draft:
        draft.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_system_refuses_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"gone.*no such file.*choose another place"), storing(tmp_path):
        replace_text(tmp_path / "gone" / "a.json", "text")
