"""Two runs compared on the pairs that both scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_runs import run_of
from sklearn.metrics import roc_auc_score

from fairfr.report.uncertainty.setting_bootstrap import compare_runs
from fairfr.store.result_file import checksums
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores


def scores_of(run: Run) -> RunScores:
    found = RunScores.if_available(run)
    assert found is not None
    return found


def without(run: Run, rows: np.ndarray) -> Run:
    """The run as a protocol would leave it that scores only some pairs."""
    assert run.folder is not None
    path = run.folder / "scores.parquet"
    pd.read_parquet(path).iloc[rows].to_parquet(path, index=False)
    return run_of({**run.result.to_json(), "files": checksums(run.folder)}, run.folder)


def test_values_are_those_of_the_common_pairs(fake_run: Any) -> None:
    home, away = fake_run("platt", noise=0.4, known_people=120), fake_run("ac_linear", noise=0.8, known_people=120)
    rows = np.arange(0, 600, 2)[::-1]  # half of them, and in another order
    away = without(away, rows)
    found = compare_runs(scores_of(home), scores_of(away), 200)
    assert found is not None and found.pairs[0] == 300
    frames = [pd.read_parquet(run.folder / "scores.parquet").set_index("pair") for run in (home, away)]
    before, after = frames[0].loc[np.sort(rows)], frames[1].loc[np.sort(rows)]
    change = found.change("auroc")
    assert change.before == pytest.approx(roc_auc_score(before["same"], before["score"]))
    assert change.after == pytest.approx(roc_auc_score(after["same"], after["score"]))
    assert change.low < change.by < change.high < 0
    brier = found.change("brier")
    assert brier.after == pytest.approx(np.mean((after["probability"] - after["same"]) ** 2))
    in_group = before["kind"] == "two_parts"
    slot = 1 + found.groups.index("two_parts")
    assert found.pairs[slot] == in_group.sum()
    of_group = found.change("auroc", slot)
    assert of_group.before == pytest.approx(roc_auc_score(before["same"][in_group], before["score"][in_group]))


def test_a_run_against_itself_has_changed_nothing(fake_run: Any) -> None:
    run = scores_of(fake_run("platt", known_people=120))
    found = compare_runs(run, run, 50)
    assert found is not None
    for slot in range(1 + len(found.groups)):
        change = found.change("auroc", slot)
        assert change.by == change.low == change.high == 0
    assert found.ece[0] == found.ece[1] > 0


def test_without_a_common_pair_there_is_nothing_to_compare(fake_run: Any) -> None:
    home, away = fake_run("platt"), fake_run("ac_linear")
    one, two = without(home, np.arange(100)), without(away, np.arange(100, 600))
    assert compare_runs(scores_of(one), scores_of(two), 10) is None
