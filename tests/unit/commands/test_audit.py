"""``fairfr audit`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fairfr.commands.audit import main, make_parser, run


def table(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["d,kind,left_sex,right_sex"]
    for k in range(400):
        same = k % 2
        distance = 1.2 - 0.6 * same + 0.1 * rng.normal()
        lines.append(f"{distance:.4f},{'genuine' if same else 'impostor'},{'fm'[k // 200]},{'fm'[k // 200]}")
    path = folder / "pairs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def called(*words: str) -> str:
    return run(make_parser().parse_args(words))


def test_page_and_json_are_written_and_the_findings_printed(tmp_path: Path) -> None:
    out = tmp_path / "audit"
    text = called(
        *(str(table(tmp_path)), "--distance", "d", "--label", "kind", "--group", "sex"),
        *("--threshold", "0.9", "--fmr", "0.1", "--out", str(out)),
    )
    content = json.loads((out / "audit.json").read_text())
    assert content["orientation"] == "distance"
    assert {row["level"] for row in content["rates"]} == {"current", 0.1}
    assert {row["threshold"] for row in content["rates"] if row["level"] == "current"} == {0.9}
    assert {row["group"] for row in content["rates"]} == {"all", "f", "m"}
    assert content["file"]["name"] == "pairs.csv"
    assert str(tmp_path) not in (out / "audit.html").read_text(), "the page may be passed on"
    for finding in content["findings"]:
        assert finding["text"] in text


def test_names_from_a_file_steer_neither_terminal_nor_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = "\x1b[2J<script>\u202e$\\frac{=1"
    path = table(tmp_path)
    lines = [line.replace(",f,f", f",{odd},{odd}") for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = (str(path), "--distance", "d", "--label", "kind", "--group", "sex", "--threshold", "0.9")
    monkeypatch.setattr("sys.argv", ["fairfr audit", *words, "--out", str(tmp_path / "audit")])
    main()
    printed = capsys.readouterr().out
    page = (tmp_path / "audit" / "audit.html").read_text(encoding="utf-8")
    for text in (printed, page):
        assert "\x1b" not in text and "\u202e" not in text and "\\x1b[2J" in text
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_score_and_distance_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_parser().parse_args(["x.csv", "--score", "a", "--distance", "b", "--out", "o"])
    assert "not allowed with" in capsys.readouterr().err
