"""Published folds: each is scored once, by a fit that never saw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairfr.core.types import VerificationSet
from fairfr.folds.published import LeaveOneFoldOut


def test_every_pair_is_scored_once_by_a_fit_on_all_other_folds(make_set: Callable[..., VerificationSet]) -> None:
    fold = [2, 0, 1, 0, 2, 2]
    data = replace(make_set(np.eye(6), np.arange(6), np.roll(np.arange(6), 1), fold=fold), fold_labels=("b", "10", "9"))
    splits = list(LeaveOneFoldOut().split(data))
    assert [split.id for split in splits] == ["b", "10", "9"]
    assert [split.test.tolist() for split in splits] == [[1, 3], [2], [0, 4, 5]]
    for split in splits:
        assert sorted([*split.train_rows(), *split.test]) == list(range(6))


def test_rows_to_fit_on_are_spelled_out_when_asked_for(make_set: Callable[..., VerificationSet]) -> None:
    data = make_set(np.eye(6), np.arange(6), np.roll(np.arange(6), 1), fold=[0, 0, 1, 1, 2, 2])
    split = next(LeaveOneFoldOut().split(data))
    assert split.train_rows() is not split.train_rows()
    assert split.train_rows().tolist() == [2, 3, 4, 5]
    thinned = replace(split, train=split.train_rows()[:2])
    assert thinned.train_rows() is thinned.train_rows()
    assert (thinned.id, thinned.fit_id, thinned.train_rows().tolist(), thinned.test.tolist()) == (
        "0",
        "0",
        [2, 3],
        [0, 1],
    )
