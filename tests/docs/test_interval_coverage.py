"""docs/interval_coverage.py: what it compares is what its pairs give, and it prints a share for each interval."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "interval_coverage.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("interval_coverage", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "interval_coverage", module)  # its NamedTuple looks there for its types
    spec.loader.exec_module(module)
    return module


def test_its_quantities_are_those_of_the_pairs(script: ModuleType) -> None:
    pairs = script.pairs_of(script.WORLDS["groups apart"], 100, 1)
    found = script.compared(pairs, draws=2)
    rates = []
    for values in pairs.values:
        threshold = np.quantile(values[~pairs.same], 0.99)
        rates.append([np.mean(values[~pairs.same & (pairs.group == g)] > threshold) for g in range(4)])
    ratio = (max(rates[1]) / min(rates[1])) / (max(rates[0]) / min(rates[0]))
    assert found["highest / lowest FMR, times the first method"][0] == pytest.approx(ratio, rel=0.1)
    assert found["FMR of group 4, times the first method"][0] == pytest.approx(rates[1][3] / rates[0][3], rel=0.1)
    assert np.all((pairs.person[0] == pairs.person[1]) == pairs.same)


def test_it_prints_what_each_interval_covers(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "PEOPLE", 40)
    monkeypatch.setattr(script, "PEOPLE_OF_TRUTH", 400)
    monkeypatch.setattr(script, "DRAWS", 20)
    monkeypatch.setattr(sys, "argv", ["interval_coverage.py", "--trials", "4"])
    script.main()
    shares = [float(share) for share in re.findall(r"in ([\d.]+) % of the intervals", capsys.readouterr().out)]
    assert len(shares) == 14 and all(0 <= share <= 100 for share in shares) and max(shares) >= 50
