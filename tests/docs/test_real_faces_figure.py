"""docs/real_faces_figure.py: the numbers of docs/fairness_gaps.py become README's picture."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "real_faces_figure.py"
COLUMNS = ["level", "method", "group", "quantity", "value", "low", "high", "false_matches"]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("real_faces_figure", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PICTURE", tmp_path / "picture.png")
    return module


def numbers() -> pd.DataFrame:
    rows = []
    for method in ("raw", "AC-Hinge", "FALCON"):
        rows.append((0.01, method, "old", "group_fmr", 0.0, 0.0, 2.0, 0))
        rows.append((0.01, method, "young", "group_fmr", 40.0, 20.0, float("inf"), 400))
        rows.append((0.01, method, "young", "group_tpr", 0.9, 0.8, 0.95, 400))
        rows.append((0.001, method, "young", "group_fmr", 1.0, 0.5, 2.0, 40))
    return pd.DataFrame(rows, columns=COLUMNS)


def test_picture(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("celeba_net", "mine_net"):
        numbers().to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["real_faces_figure.py", str(tmp_path), "--sets", "celeba_net", "mine_net"])
    script.main()
    assert script.PICTURE.stat().st_size > 5_000


def test_few_false_matches_are_hollow_and_nothing_leaves_the_axis(script: ModuleType) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    for row in numbers().head(2).itertuples():
        script._mark(axes, 0.0, row, "#D55E00")
    _, few, interval, many = axes.lines
    assert (few.get_markerfacecolor(), many.get_markerfacecolor()) == ("white", "#D55E00")
    assert few.get_xdata() == [script.AXIS[0]] and list(interval.get_xdata()) == [20.0, script.AXIS[1]]
