"""What occurs more than once, against sets and dictionaries of plain Python."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from fairfr.core.overlap import n_folds_of, pair_keys


@pytest.mark.parametrize("seed", range(5))
def test_keys_are_equal_where_the_two_images_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 7, size=(2, 60)).astype(np.int32)
    keys = pair_keys(left, right, 7)
    pairs = [frozenset(ends) for ends in zip(left.tolist(), right.tolist(), strict=True)]
    for a in range(60):
        assert [bool(keys[a] == key) for key in keys] == [pairs[a] == pair for pair in pairs]


def test_keys_of_many_images_do_not_overflow() -> None:
    left, right = np.array([2**31 - 2], dtype=np.int32), np.array([2**31 - 1], dtype=np.int32)
    assert pair_keys(left, right, 2**31).tolist() == [(2**31 - 2) * 2**31 + 2**31 - 1]


@pytest.mark.parametrize("seed", range(5))
def test_folds_of_each_known_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-1, 6, size=(2, 12)).astype(np.int32)
    fold = rng.integers(0, 3, size=12).astype(np.int16)
    folds: defaultdict[int, set[int]] = defaultdict(set)
    for one, other, number in zip(left.tolist(), right.tolist(), fold.tolist(), strict=True):
        folds[one].add(number)
        folds[other].add(number)
    expected = [len(folds[value]) for value in sorted(folds) if value != -1]
    assert n_folds_of(left, right, fold).tolist() == expected


def test_nobody_known_is_in_no_fold() -> None:
    unknown = np.full(3, -1, dtype=np.int32)
    assert n_folds_of(unknown, unknown, np.zeros(3, dtype=np.int16)).tolist() == []
