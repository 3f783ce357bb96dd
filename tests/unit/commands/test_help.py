"""The help of every command follows one pattern, and its examples can be typed."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import fairfr.__main__ as program
from fairfr.commands import (
    _help,
    audit,
    calibrate,
    check,
    evaluate,
    extract,
    faces,
    import_,
    rescore,
    run,
    sync,
    tables,
    ui,
)
from fairfr.commands._calibrate_parser import make_parser as calibrate_parser

LINES = 40
COLUMNS = 80
PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "audit": audit.make_parser,
    "calibrate": lambda: calibrate_parser(calibrate.__doc__ or ""),
    "check": check.make_parser,
    "evaluate": evaluate.make_parser,
    "extract": extract.make_parser,
    "faces": faces.make_parser,
    "import": lambda: import_.make_parser(()),
    "rescore": rescore.make_parser,
    "sync": sync.make_parser,
    "tables": tables.make_parser,
    "ui": ui.make_parser,
}
PARTS = {
    **{f"import {kind}": lambda kind=kind: import_.make_parser([kind]) for kind in import_.KINDS},
    **{f"calibrate {part}": PARSERS["calibrate"] for part in ("fit", "score", "threshold", "inspect")},
    **{f"faces {kind}": lambda kind=kind: faces.make_parser() for kind in ("lfw", "celeba")},
}


def help_of(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["fairfr", *command.split(), "--help"])
    with suppress(SystemExit):
        program.main()
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["run", *PARSERS, *PARTS])
@pytest.mark.parametrize("width", ["40", "200"])
def test_help_has_one_pattern(
    command: str, width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)  # it looks the same in any terminal
    lines = help_of(command, monkeypatch, capsys).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert lines[0].startswith(f"usage: fairfr {command} ")
    assert lines[1] == lines[3] == ""
    assert re.fullmatch(r"[A-Z].+\.", lines[2]), "what it is for, in a line"
    examples = [line for line in lines if f"{line} ".startswith(f"  fairfr {command.split()[0]} ")]
    assert len(examples) == 2
    assert lines[-1].startswith("next: fairfr ")
    assert not [line for line in lines if line.startswith("options:")], "options stand in groups with names"


@pytest.mark.parametrize("command", [*PARSERS, *PARTS])
def test_examples_can_be_typed(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(command, monkeypatch, capsys).replace("\\\n", " ")
    typed = re.findall(r"^(?:  |next: )(fairfr.*)$", text, re.MULTILINE)
    assert len(typed) == 3
    for line in typed:
        _, name, *words = shlex.split(line)
        assert name in program.commands()
        if name == "import":
            import_.make_parser(words).parse_args(words)
        elif words[:1] == ["fit"]:
            _, keys = PARSERS[name]().parse_known_args(words)
            assert all("=" in key for key in keys)
        elif name in PARSERS:
            PARSERS[name]().parse_args(words)


@pytest.mark.parametrize("command", [*PARSERS, *PARTS])
def test_every_option_has_a_text(command: str) -> None:
    parser = {**PARSERS, **PARTS}[command]()
    for part in command.split()[1:]:
        kinds = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        parser = kinds.choices[part]
    for action in parser._actions:
        assert action.help or isinstance(action, argparse._SubParsersAction), action.option_strings or action.dest


def test_every_command_is_checked_here() -> None:
    assert {*PARSERS, "run"} == set(program.commands())


def test_help_of_run_lists_own_methods_too(tmp_path: Path) -> None:
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "my_method.yaml").write_text("")
    assert "my_method" in run.help_text(tmp_path)
    assert "my_method" not in run.help_text()


def test_old_names_are_accepted_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["table", "--pairs", "p.csv", "--images=i.csv", "--name", "mine", "--out", "somewhere", "--range", "0", "9"]
    options = _help.parse(import_.make_parser(words), words)
    assert (str(options.image_table), options.dataset, str(options.data_root)) == ("i.csv", "mine", "somewhere")
    assert options.score_range == [0, 9]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3, "--out is promised to stay, and needs no note"
    for old, now in (("--images", "--image-table"), ("--name", "--dataset"), ("--range", "--score-range")):
        assert f"note: {old} is called {now} now. The old name goes with the next version." in said


def test_names_of_today_need_no_note(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rfw", "--archive", "RFW", "--data-root", "d", "--dataset", "mine"]
    _help.parse(import_.make_parser(words), words)
    older = ["rfw", "--root", "RFW", "--out", "d"]
    assert str(_help.parse(import_.make_parser(older), older).archive) == "RFW"
    assert capsys.readouterr().err == ""
