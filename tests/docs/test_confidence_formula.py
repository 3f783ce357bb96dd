"""docs/confidence_formula.py: the formula pair by pair, and a table from the files of a data set."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "confidence_formula.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("confidence_formula", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_confidence_by_hand(script: ModuleType) -> None:
    found = script.confidence(np.array([0.0, 0.05, 0.07, 0.0701, 0.15, 0.9]))
    curve = 100 / (1 + math.exp(3.7618087798972293 * 0.05 + 0.6908814404797111))
    accepted = 51 + 49 * (curve - 27.84268789569509) / (32.289077089161594 - 27.84268789569509)
    curve = 100 / (1 + math.exp(3.7618087798972293 * 0.15 + 0.6908814404797111))
    rejected = 27 * (curve - 19.061842082779275) / (27.803329512485526 - 19.061842082779275)
    assert found.tolist() == pytest.approx([1.0, accepted / 100, 0.51, 0.27, rejected / 100, 0.0], abs=1e-3)
    assert found.tolist() == pytest.approx(found.round(4).tolist(), abs=1e-12)


def test_the_table_has_what_is_true_in_each_group(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two images of each of 240 people; the first pair is of the person, the others are of two people."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(240), 2)
    names = np.array([f"{k:03d}" for k in range(480)])
    vectors = (3 + rng.normal(size=(240, 8)))[person] + 0.4 * rng.normal(size=(480, 8))
    (tmp_path / "embeddings").mkdir()
    np.savez(tmp_path / "embeddings" / "net.npz", image=names, vectors=vectors)
    kind = np.where(person < 120, "a", "b")
    pd.DataFrame({"image": names, "identity": person, "kind": kind}).to_csv(tmp_path / "images.csv", index=False)
    genuine = [(0, 2 * k, 2 * k + 1) for k in range(240)]
    impostors = [(k % 5, 2 * k, 2 * (k + 1)) for k in range(119)]
    rows = [(k % 5, names[left], names[right], 1) for k, (_, left, right) in enumerate(genuine)]
    rows += [(fold, names[left], names[right], 0) for fold, left, right in impostors]
    pd.DataFrame(rows, columns=["fold", "left", "right", "same"]).to_csv(tmp_path / "pairs.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["confidence_formula.py", str(tmp_path), "net", "kind"])
    script.main()
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in table[2:]] == ["all", "a"], "b has genuine pairs alone"
    assert table[2][2] == f"{240 / 359:.2f}" and table[3][2] == f"{120 / 239:.2f}"
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = np.array([row[1:] for row in genuine + impostors])
    distance = 1 - (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1)
    assert table[2][1] == f"{script.confidence(distance).mean():.2f}"
    assert all(0 < float(cell) < 10 for row in table[2:] for cell in row[3:])
