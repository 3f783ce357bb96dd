"""``fairfr check --method``: the page, the object for programs, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fairfr.commands import check

BAD = """
from dataclasses import dataclass
from fairfr.methods.platt import Platt

@dataclass
class Turned(Platt):
    def predict(self, view):
        score, probability = super().predict(view)
        return type(super().predict(view))(-score, 1 - probability)
"""
YAML = "id: {0}\nlabel: Mine\nestimator: {{_target_: {1}}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "method").mkdir()
    (tmp_path / "turned_method.py").write_text(BAD)
    (tmp_path / "method" / "turned.yaml").write_text(YAML.format("turned", "turned_method.Turned"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def checked(monkeypatch: pytest.MonkeyPatch, *typed: str) -> str | int | None:
    """How the command ended."""
    monkeypatch.setattr(sys, "argv", ["fairfr check", *typed])
    try:
        check.main()
    except SystemExit as ending:
        return ending.code
    return None


def test_one_of_ours_keeps_its_promises(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(monkeypatch, "--method", "platt") is None
    page = capsys.readouterr().out
    assert page.startswith("platt (Platt) on 1,500 synthetic pairs") and "broken" not in page
    assert max(map(len, page.splitlines())) <= 80


def test_a_broken_promise_is_on_the_page_and_in_the_exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ("--method", "turned", "--config-dir", str(folder))
    assert checked(monkeypatch, *typed) == "MethodError: turned breaks 1 promise."
    assert "broken     gives genuine pairs the higher scores" in capsys.readouterr().out
    assert checked(monkeypatch, *typed, "--json") == "MethodError: turned breaks 1 promise."
    content = json.loads(capsys.readouterr().out)
    assert (content["version"], content["method"], content["class"]) == (1, "turned", "Turned")
    (broken,) = [check for check in content["checks"] if check["status"] == "broken"]
    assert broken["check"] == "ranks" and "is its sign wrong" in broken["message"]


def test_what_cannot_be_found_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = checked(monkeypatch, "--method", "turnd", "--config-dir", str(folder))
    assert str(unknown).startswith("ConfigError: unknown method 'turnd'. Did you mean 'turned'?")
    assert str(checked(monkeypatch, "--method", "turned")).endswith("For one of your own, add --config-dir.")
    missing = checked(monkeypatch, "--method", "turned", "--config-dir", str(folder / "nowhere"))
    assert "no such folder of configurations" in str(missing)
    (folder / "method" / "platt.yaml").write_text(YAML.format("platt2", "turned_method.Turned"))
    taken = checked(monkeypatch, "--method", "platt", "--config-dir", str(folder))
    assert "fairfr has a method=platt of its own" in str(taken)


@pytest.mark.parametrize("typed", [(), ("--method", "platt", "--dataset", "lfw")])
def test_a_data_set_or_a_method_is_named(
    typed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(monkeypatch, *typed) == 2
    assert "name --dataset, or --method" in capsys.readouterr().err
