"""Fewer training pairs of one group: whose, how many, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fairfr.core.errors import ConfigError, UnmetNeedError
from fairfr.core.types import VerificationSet
from fairfr.folds.published import LeaveOneFoldOut, LessOfOneGroup


@pytest.fixture(scope="module")
def data(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("bfw", scale=0.05)


def touched(data: VerificationSet, grouping: str, group: str) -> np.ndarray:
    """Pairs with an image of a group, said pair by pair."""
    codes, code = data.groupings[grouping].codes, data.groupings[grouping].levels.index(group)
    return np.array([code in (codes[a], codes[b]) for a, b in zip(data.pairs.left, data.pairs.right, strict=True)])


@pytest.mark.parametrize(("grouping", "group"), [(None, "asian_female"), ("gender", "male")])
def test_a_share_of_the_group_s_training_pairs_is_left_and_all_others(
    data: VerificationSet, grouping: str | None, group: str
) -> None:
    theirs = touched(data, grouping or str(data.grouping), group)
    thinned = LessOfOneGroup(group, 0.25, grouping).split(data)
    for few, all_ in zip(thinned, LeaveOneFoldOut().split(data), strict=True):
        assert few.test.tolist() == all_.test.tolist() and np.all(np.diff(few.train_rows()) > 0)
        assert (
            few.train_rows()[~theirs[few.train_rows()]].tolist()
            == all_.train_rows()[~theirs[all_.train_rows()]].tolist()
        )
        before, after = (rows[theirs[rows]] for rows in (all_.train_rows(), few.train_rows()))
        assert set(after) < set(before) and len(after) == round(0.25 * len(before))
        assert abs(data.same[after].sum() - len(after) * data.same[before].mean()) <= 0.5


def test_shares_are_nested_repeats_differ_and_the_ends_are_all_and_none(data: VerificationSet) -> None:
    of = {keep: next(LessOfOneGroup("white_male", keep).split(data)).train_rows() for keep in (0.0, 0.1, 0.5, 1.0)}
    assert set(of[0.0]) < set(of[0.1]) < set(of[0.5]) < set(of[1.0])
    assert of[1.0].tolist() == next(LeaveOneFoldOut().split(data)).train_rows().tolist()
    assert not touched(data, str(data.grouping), "white_male")[of[0.0]].any()
    assert set(next(LessOfOneGroup("white_male", 0.1, repeat=1).split(data)).train_rows()) != set(of[0.1])


def test_capitals_do_not_matter(data: VerificationSet) -> None:
    one, two = (next(LessOfOneGroup(name, 0.1).split(data)) for name in ("Asian_Female", "asian_female"))
    assert one.train_rows().tolist() == two.train_rows().tolist()


def test_mistakes_name_what_there_is(data: VerificationSet) -> None:
    with pytest.raises(ConfigError, match=r"group=asain_female.*Did you mean 'asian_female'"):
        list(LessOfOneGroup("asain_female").split(data))
    with pytest.raises(ConfigError, match="grouping=age: bfw has no such grouping"):
        list(LessOfOneGroup("old", grouping="age").split(data))
    with pytest.raises(ConfigError, match=r"between 0 and 1, found 1\.5"):
        LessOfOneGroup("asian_female", 1.5)
    with pytest.raises(UnmetNeedError, match=r"protocol=coverage needs groups.* levels: sex \(2\)\. Name one"):
        list(LessOfOneGroup("x").split(replace(data, grouping=None, group_columns={"sex": 2})))
