"""Fewer training pairs: how many, which, and what stays fixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fairfr.core.errors import ConfigError
from fairfr.core.types import VerificationSet
from fairfr.folds.published import FewerTrainingPairs, LeaveOneFoldOut


@pytest.fixture(scope="module")
def data(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("bfw", scale=0.05)


def test_a_sample_has_its_size_and_the_share_of_genuine_pairs(data: VerificationSet) -> None:
    for few, all_ in zip(FewerTrainingPairs(101).split(data), LeaveOneFoldOut().split(data), strict=True):
        assert len(few.train_rows()) == 101 and np.all(np.diff(few.train_rows()) > 0)
        assert set(few.train_rows()) <= set(all_.train_rows()) and few.test.tolist() == all_.test.tolist()
        assert abs(data.same[few.train_rows()].sum() - 101 * data.same[all_.train_rows()].mean()) <= 0.5


def test_a_smaller_sample_is_part_of_a_larger_one_and_another_repeat_is_another_sample(data: VerificationSet) -> None:
    small, large, other = (list(FewerTrainingPairs(n, r).split(data)) for n, r in ((50, 0), (100, 0), (50, 1)))
    for one, two, three in zip(small, large, other, strict=True):
        assert set(one.train_rows()) < set(two.train_rows())
        assert set(one.train_rows()) != set(three.train_rows())
    assert small[0].train_rows().tolist() == next(FewerTrainingPairs(50).split(data)).train_rows().tolist()


def test_without_a_size_all_pairs_are_there(data: VerificationSet) -> None:
    for one, two in zip(FewerTrainingPairs().split(data), LeaveOneFoldOut().split(data), strict=True):
        assert one.train_rows().tolist() == two.train_rows().tolist()


def test_more_pairs_than_there_are_is_an_error_that_says_how_many_there_are(data: VerificationSet) -> None:
    there = len(next(LeaveOneFoldOut().split(data)).train_rows())
    with pytest.raises(ConfigError, match=rf"size=1000000.*{there:,} pairs"):
        list(FewerTrainingPairs(1_000_000).split(data))
    with pytest.raises(ConfigError, match="at least 2"):
        FewerTrainingPairs(1)
