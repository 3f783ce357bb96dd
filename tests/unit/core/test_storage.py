"""A file appears whole or not at all, and nothing else is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairfr.core.errors import StorageError
from fairfr.core.storage import ResumableOutput, replace_text, replacing, translate_os_errors


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
    with pytest.raises(StorageError, match=r"gone.*no such file.*choose another place"), translate_os_errors(tmp_path):
        replace_text(tmp_path / "gone" / "a.json", "text")


def make_two_parts(out: Path) -> None:
    output = ResumableOutput(out, {"seed": 1}, discard_others=False)
    with output.writing() as n_done:
        assert n_done == 0
        for number in range(2):
            with output.part(number) as draft:
                draft.write_text(f"part {number}. ")
    with pytest.raises(KeyboardInterrupt), output.part(2) as draft:
        draft.write_text("half of")
        raise KeyboardInterrupt


def test_an_output_goes_on_after_its_last_complete_part(tmp_path: Path) -> None:
    make_two_parts(tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()
    output = ResumableOutput(tmp_path / "out.txt", {"seed": 1}, discard_others=False)
    with output.writing() as n_done:
        assert n_done == 2
        with output.finishing() as draft:
            draft.write_text("".join(path.read_text() for path in output.parts()))
    assert (tmp_path / "out.txt").read_text() == "part 0. part 1. "
    assert list(tmp_path.iterdir()) == [tmp_path / "out.txt"]


def test_parts_made_from_something_else_are_refused_or_discarded(tmp_path: Path) -> None:
    make_two_parts(tmp_path / "out.txt")
    refusing = ResumableOutput(tmp_path / "out.txt", {"seed": 2}, discard_others=False)
    with pytest.raises(StorageError, match=r"out\.txt\.partial has parts.*Remove that folder"), refusing.writing():
        pass
    assert len(refusing.parts()) == 2, "nothing is lost"
    discarding = ResumableOutput(tmp_path / "out.txt", {"seed": 2}, discard_others=True)
    with discarding.writing() as n_done:
        assert n_done == 0


def test_two_processes_do_not_write_one_output(tmp_path: Path) -> None:
    first = ResumableOutput(tmp_path / "out.txt", {}, discard_others=True)
    second = ResumableOutput(tmp_path / "out.txt", {}, discard_others=True)
    with first.writing(), pytest.raises(StorageError, match="another process is writing"), second.writing():
        pass
