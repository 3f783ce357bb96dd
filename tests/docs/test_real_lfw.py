"""docs/real_lfw.py: stored runs and tables become the tables of the findings and their picture."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from made_runs import run_of

from fairfr.stored.run import Run

SCRIPT = Path(__file__).parents[2] / "docs" / "real_lfw.py"
TABLE = """# a caption
section,Method,All pairs difference,All pairs 95 % interval,Worst group difference,Worst group 95 % interval
"AUROC, minus Baseline",AC-Linear,+0.0026,"[+0.0016, +0.0037]",+0.0063,"[-0.0008, +0.0173]"
"Brier, minus Baseline",AC-Linear,-0.0019,"[-0.0036, -0.0001]",-0.0132,"[-0.0207, -0.0022]"
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("real_lfw", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "real_lfw", module)  # its NamedTuple looks there for its types
    spec.loader.exec_module(module)
    return module


def stored(backbone: str) -> Run:
    rows = []
    for metric, group, mean in (("auroc", "all", 0.98), ("auroc", "worst", 0.95), ("brier", "all", 0.0436)):
        grouping = "all" if group == "all" else "gender"
        rule = "all" if group == "all" else "both"
        rows.append({"grouping": grouping, "rule": rule, "group": group, "metric": metric, "mean": mean})
    content: dict[str, Any] = {
        "key": backbone,
        "source": "files",
        "finished": "2026-01-01T00:00:00+00:00",
        "dataset": {"id": "lfw"},
        "backbone": {"id": backbone},
        "method": {"id": "ac_linear", "label": "AC-Linear", "needs": [], "native_probability": True},
        "data": {"folds": ["0"], "grouping": "gender", "groups": {"gender": ["f", "m"]}},
        "metrics": rows,
    }
    return run_of(content)


def test_tables_and_picture(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tables" / "files" / "strict"
    folder.mkdir(parents=True)
    for backbone in script.BACKBONES:
        (folder / f"differences_lfw_{backbone}.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.setattr(script, "read_runs", lambda _: ([stored(name) for name in script.BACKBONES], []))
    monkeypatch.setattr(script, "PICTURE", tmp_path / "picture.png")
    monkeypatch.setattr(sys, "argv", ["real_lfw.py", str(tmp_path)])
    script.main()
    printed = capsys.readouterr().out
    assert "| AC-Linear | .9800 / .9800 / .9800 | - / - / - | .0436 / .0436 / .0436 |" in printed
    assert "| AC-Linear | **+.0026** [+.0016, +.0037] |" in printed
    assert "| AC-Linear | +.0063 [-.0008, +.0173] |" in printed  # the interval contains 0
    assert (tmp_path / "picture.png").stat().st_size > 10_000
