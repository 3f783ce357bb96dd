"""docs/evaluation_verdicts.py: its pairs lie inside groups and folds, and each verdict is counted once."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import fairfr

SCRIPT = Path(__file__).parents[2] / "docs" / "evaluation_verdicts.py"
pytestmark = pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("evaluation_verdicts", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "evaluation_verdicts", module)  # its NamedTuple looks there for its types
    spec.loader.exec_module(module)
    return module


def test_its_pairs_are_of_one_group_and_of_people_in_one_fold(script: ModuleType) -> None:
    pairs = script.pairs_of(3)
    left, right = pairs.people
    assert np.array_equal(left == right, pairs.same) and 0.45 < pairs.same.mean() < 0.55
    assert np.array_equal(*pairs.groups)
    folds = {name: set(pairs.fold[(left == name) | (right == name)]) for name in np.unique(left)}
    assert all(len(found) == 1 for found in folds.values()) and len(set.union(*folds.values())) == script.FOLDS
    assert not set(left) & set(script.pairs_of(4).people[0])


def test_its_model_notices_conditions_that_did_change(script: ModuleType) -> None:
    model = script.model_of(script.pairs_of(0))
    new = script.pairs_of(1)
    worse = np.where(new.same, new.cosine - 0.3, new.cosine)
    found = fairfr.evaluate(model.probability_scores(worse), new.same, identities=new.people, stored=model)
    assert found.verdict == "does_not_hold"


def test_it_counts_verdicts(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluation_verdicts.py", "--trials", "3"])
    told = iter(["holds", "does_not_hold", "holds"])
    monkeypatch.setattr(script, "verdict_of", lambda trial: next(told))
    script.main()
    out = capsys.readouterr().out
    assert re.findall(r"^  (\w+): (\d)$", out, re.MULTILINE) == [("holds", "2"), ("does_not_hold", "1")]
    assert out.endswith("called worse or other: 1\n")
