"""``fairfr audit`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fairfr.commands.audit import make_parser, run


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


def test_score_and_distance_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_parser().parse_args(["x.csv", "--score", "a", "--distance", "b", "--out", "o"])
    assert "not allowed with" in capsys.readouterr().err
