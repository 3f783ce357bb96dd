"""The command ``fairfr``: finds its parts by their files, without importing what is not asked for."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import fairfr.__main__ as command

ROOT = Path(__file__).parents[2]
FOR_DEVELOPERS = ("fit_standin", "standin_goals", "standin_metrics", "method_table", "commands_page", "warm_up")
COMMANDS = [script for script in sorted((ROOT / "scripts").glob("*.py")) if script.stem not in FOR_DEVELOPERS]


def test_every_command_has_a_line_of_help() -> None:
    known = command.commands()
    assert next(iter(known)) == "import" and {"tables", "import", "check", "ui", "sync", "extract"} <= set(known)
    lines = command.overview(known).splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80 and lines[-1].startswith("next: fairfr run ")
    begin = lines.index("commands:") + 1
    for line in lines[begin : begin + len(known)]:
        name, _, told = line.strip().partition(" ")
        assert name in known and len(told.strip()) > 20


def test_a_new_file_is_a_new_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "class_.py").write_text('"""Sort pairs into classes."""\nraise RuntimeError("imported")\n')
    (tmp_path / "_shared.py").write_text("")
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    assert command.commands() == {"class": "class_"}
    assert "  class      Sort pairs into classes." in command.overview(command.commands())


def test_a_command_sees_its_own_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["/bin/fairfr", "tables", "--reading", "loose"])
    with pytest.raises(SystemExit):
        command.main()
    said = capsys.readouterr().err
    assert said.startswith("usage: fairfr tables") and "invalid choice: 'loose'" in said


def test_unknown_commands_get_a_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["fairfr", "table"])
    with pytest.raises(SystemExit, match=r"unknown command 'table'\. Did you mean 'tables'"):
        command.main()


def test_help_imports_neither_hydra_nor_numbers() -> None:
    code = (
        "import sys, fairfr.__main__ as command; sys.argv = ['fairfr']; command.main()\n"
        "print({'hydra', 'numpy', 'pandas', 'torch', 'mlflow', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n") and "tables" in done.stdout


def completed(line: str) -> list[str]:
    """What the shell is told after Tab, as Hydra's script for bash asks."""
    done = subprocess.run(
        [sys.executable, "-m", "fairfr", "-sc", "query=bash"],
        cwd=ROOT,
        env={**os.environ, "COMP_LINE": line},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_tab_completes_commands_and_hands_the_rest_to_hydra() -> None:
    assert {"run", "tables", "import"} <= set(completed("fairfr "))
    assert {"method=ac_density", "method=ac_linear"} <= set(completed("fairfr run dataset=lfw method=ac_"))
    assert completed("fairfr tables --rea") == []


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.py")), ids=lambda path: path.stem)
def test_scripts_are_thin(script: Path) -> None:
    """Those for developers aside, a script is a command by another name."""
    text = script.read_text(encoding="utf-8")
    assert script.stem in FOR_DEVELOPERS or ("from fairfr.commands." in text and len(text) < 250)


@pytest.mark.parametrize("script", COMMANDS, ids=lambda path: path.stem)
def test_a_script_is_its_command(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [str(script), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert not ended.value.code and f"usage: {script.name}" in capsys.readouterr().out
