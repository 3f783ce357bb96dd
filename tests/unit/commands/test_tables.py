"""What ``fairfr tables`` prints: commands that read the same runs again, and what the intervals decide."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fairfr.commands import tables


@pytest.mark.parametrize(
    ("typed", "origin"),
    [
        ((), ()),
        (("--source", "mlflow"), ("--store", "mlflow")),
        (("--config-dir", "mine"), ("--config-dir", "mine")),
        (
            ("--store", "mlflow", "--tracking-uri", "http://me:secret@server:5000", "--mlflow-experiment", "mine"),
            ("--store", "mlflow", "--tracking-uri", "http://me:***@server:5000", "--mlflow-experiment", "mine"),
        ),
    ],
)
def test_the_origin_of_the_runs_is_repeated_without_passwords(
    monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], origin: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fairfr tables", *typed])
    assert tables._origin(tables.make_parser().parse_args()) == origin


def test_what_the_intervals_decide_is_printed_and_on_the_page(
    fake_run: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    runs = [fake_run("beta", noise=0.8, source="files"), fake_run("ac_hinge", noise=0.3, source="files")]
    monkeypatch.setattr(tables, "stored_results", lambda _: runs)
    typed = ["--against", "beta", "--draws", "100", "--no-figures", "--reading", "strict", "--out-root", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["fairfr tables", *typed])
    tables.main()
    lines = capsys.readouterr().out.splitlines()
    said = " ".join(line.strip() for line in lines)
    assert "What the intervals decide against Beta on RFW x FaceNet [data files]." in said
    answer = said.index("* Whether to take Ac_Hinge instead of Beta is undetermined:")
    assert answer < said.index("* Ac_Hinge against Beta: better in Brier score (-0."), "the answer comes first"
    assert all(len(line) <= 80 for line in lines if not line.startswith(("tables:", "next:")))
    page = (tmp_path / "tables" / "files" / "strict" / "decision_rfw_facenet.md").read_text(encoding="utf-8")
    assert "Ac_Hinge against Beta: better in Brier score" in page
    for name in ("one_threshold_rfw_facenet.csv", "one_threshold_groups_rfw_facenet.html"):
        assert (tmp_path / "tables" / "files" / "strict" / name).is_file()
