"""A file appears whole or not at all, and nothing else is left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fairfr.core.errors import StorageError
from fairfr.core.storage import (
    ResumableOutput,
    copy_regular,
    is_regular,
    open_regular,
    replace_text,
    replacing,
    translate_os_errors,
)

ODD: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda path, other: path.symlink_to(other),
    "broken link": lambda path, other: path.symlink_to("nowhere"),
    "pipe": lambda path, other: os.mkfifo(path),
    "folder": lambda path, other: path.mkdir(),
}


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


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_of_its_own_is_neither_read_nor_copied(tmp_path: Path, kind: str) -> None:
    path, other, folder = tmp_path / "run.log", tmp_path / "secret", tmp_path / "copies"
    other.write_text("secret")
    folder.mkdir()
    ODD[kind](path, other)
    with pytest.raises(OSError, match="it is a link, or no file"):
        open_regular(path)
    assert not is_regular(path)
    copy_regular(path, folder)
    copy_regular(tmp_path / "nothing", folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_takes_a_file_s_place_while_it_is_opened_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path, other = tmp_path / "run.log", tmp_path / "secret"
    other.write_text("secret")
    ODD[kind](path, other)
    before = os.lstat(other)
    monkeypatch.setattr(os, "lstat", lambda _: before)
    # with a writer, a pipe can be opened at once whatever the flags
    writer = os.open(path, os.O_RDWR) if kind == "pipe" else None
    asked: list[int] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda name, flags: (asked.append(flags), real(name, flags))[1])
    with pytest.raises(OSError, match="link"):
        open_regular(path)
    assert asked[0] & os.O_NONBLOCK, "or a pipe without a writer would be waited for"
    if writer is not None:
        os.close(writer)


def test_a_file_is_read_and_copied(tmp_path: Path) -> None:
    path, folder = tmp_path / "run.log", tmp_path / "copies"
    path.write_bytes(b"a\r\n\0")
    folder.mkdir()
    with open_regular(path) as file:
        assert file.read() == b"a\r\n\0"
    copy_regular(path, folder)
    assert (folder / "run.log").read_bytes() == b"a\r\n\0" and is_regular(path)
