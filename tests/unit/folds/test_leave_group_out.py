"""A group that was never fitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from fairfr.core.errors import DataError
from fairfr.core.types import VerificationSet
from fairfr.folds.leave_group_out import LeaveOneGroupOut


@pytest.fixture(scope="module")
def data(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("lfw", scale=0.1)


@pytest.mark.parametrize("grouping", [None, "gender"])
def test_pairs_inside_a_group_are_scored_by_a_fit_that_saw_nobody_of_it(
    data: VerificationSet, grouping: str | None
) -> None:
    codes, levels = (data.groupings[grouping or str(data.grouping)].__getattribute__(n) for n in ("codes", "levels"))
    left, right = codes[data.pairs.left], codes[data.pairs.right]
    scored: list[int] = []
    for split in LeaveOneGroupOut(grouping).split(data):
        code = levels.index(split.fit_id)
        assert np.all(left[split.test] == code) and np.all(right[split.test] == code)
        assert {data.fold_labels[fold] for fold in data.fold[split.test]} == {split.fold}
        expected = np.flatnonzero((left != code) & (right != code))  # nobody has an unknown group, or two of them
        assert split.train_rows().tolist() == expected.tolist()
        scored += split.test.tolist()
    assert sorted(scored) == np.flatnonzero(left == right).tolist()


def test_fits_follow_one_another(data: VerificationSet) -> None:
    fits = [split.fit_id for split in LeaveOneGroupOut().split(data)]
    assert len(fits) > len(set(fits)) == 1 + sum(a != b for a, b in pairwise(fits))


def test_unknown_groups_and_people_with_two_groups_are_not_fitted_on(data: VerificationSet) -> None:
    gender = data.groupings["gender"]
    codes = gender.codes.copy()
    codes[:100] = -1  # unknown
    # one image of a man is listed as a woman's
    man = int(np.flatnonzero(codes == gender.levels.index("male"))[-1])
    codes[man] = gender.levels.index("female")
    changed = replace(data, groupings={**data.groupings, "gender": replace(gender, codes=codes)})
    for split in LeaveOneGroupOut("gender").split(changed):
        pairs = changed.pairs.take(split.train_rows())
        used = np.concatenate([pairs.left, pairs.right])
        assert used.min() >= 100
        if split.fit_id == "female":
            assert changed.identity[man] not in changed.identity[used]
    (finding,) = split.findings
    assert finding.code == "group-left-out" and finding.counts["unknown"] > 0


def test_without_anything_else_to_fit_on_it_says_so(data: VerificationSet) -> None:
    gender = data.groupings["gender"]
    only = replace(data, groupings={**data.groupings, "gender": replace(gender, codes=np.zeros_like(gender.codes))})
    with pytest.raises(DataError, match="no pairs are left to fit on without female"):
        list(LeaveOneGroupOut("gender").split(only))
