"""Thresholds of training pairs reach the pairs that their fit scored, whatever the protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_runs import run_of

from fairfr.core.calibrator import FitContext
from fairfr.core.types import FoldSplit, VerificationSet
from fairfr.folds.leave_group_out import LeaveOneGroupOut
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.folds.transfer import FitOnOtherDataset
from fairfr.methods.baseline import Baseline
from fairfr.pairs.table import PairTable
from fairfr.report.held_out_folds import held_out_folds
from fairfr.runner.held_out import score_held_out
from fairfr.runner.record import jsonable, score_columns
from fairfr.store.parquet_files import write_scores
from fairfr.store.result_file import checksums


def context(fold: str) -> FitContext:
    return FitContext(seed=0, dataset="d", backbone="b", fold=fold)


def most_accurate(same: np.ndarray, cosine: np.ndarray) -> float:
    """By trying every cosine; the highest of several."""
    right = [np.count_nonzero((cosine >= at) == same) for at in cosine]
    return float(cosine[np.flatnonzero(np.array(right) == max(right))].max())


def split_up(
    protocol: str, data: VerificationSet, other: VerificationSet
) -> tuple[list[FoldSplit], VerificationSet | None]:
    if protocol == "transfer":
        return list(FitOnOtherDataset(shared="allow").split(data, other)), other
    splitter = LeaveOneGroupOut() if protocol == "leave_group_out" else LeaveOneFoldOut()
    return list(splitter.split(data)), None


@pytest.mark.parametrize("protocol", ["published", "transfer", "leave_group_out"])
def test_each_pair_has_the_threshold_of_the_fit_that_scored_it(
    synthetic_set: Callable[..., VerificationSet], tmp_path: Path, protocol: str
) -> None:
    data, other = synthetic_set("lfw", scale=0.1), synthetic_set("rfw", scale=0.03)
    splits, training = split_up(protocol, data, other)
    table = PairTable(data)
    fitted_on = table if training is None else PairTable(training)
    held_out = score_held_out(table, splits, Baseline, context, training=fitted_on, thresholds=True)
    assert held_out.rows is not None
    write_scores(
        tmp_path / "scores.parquet",
        score_columns(data.take(held_out.rows), table.cosine[held_out.rows], held_out),
    )
    stored = {"fit_report": jsonable(held_out.fit_report), "files": checksums(tmp_path)}
    run = run_of({**stored, "key": "k", "method": {"native_probability": False}}, tmp_path)

    expected = np.full(data.n_pairs, np.nan)
    for split in splits:
        cosine, same = fitted_on.cosine[split.train_rows()], fitted_on.data.same[split.train_rows()]
        expected[split.test] = most_accurate(same, cosine)
    folds = list(held_out_folds(run))
    assert [fold.name for fold in folds] == list(dict.fromkeys(split.fold for split in splits))
    for fold in folds:
        np.testing.assert_allclose(fold.thresholds["accuracy"], expected[held_out.rows[fold.rows]], rtol=1e-12)
    if protocol == "leave_group_out":
        assert len(np.unique(folds[0].thresholds["accuracy"])) > 1


def test_a_run_without_thresholds_has_none(synthetic_set: Callable[..., VerificationSet], tmp_path: Path) -> None:
    data = synthetic_set("lfw", scale=0.1)
    held_out = score_held_out(PairTable(data), list(LeaveOneFoldOut().split(data)), Baseline, context)
    write_scores(tmp_path / "scores.parquet", score_columns(data, PairTable(data).cosine, held_out))
    stored = {"fit_report": jsonable(held_out.fit_report), "files": checksums(tmp_path)}
    run = run_of({**stored, "key": "k", "method": {"native_probability": False}}, tmp_path)
    assert all(fold.thresholds == {} for fold in held_out_folds(run))
