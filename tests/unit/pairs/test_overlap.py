"""What occurs more than once, against sets, dictionaries and distances of all pairs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from fairfr.pairs.overlap import (
    DUPLICATE_DISTANCE,
    connected_components,
    folds_per_value,
    infer_identities,
    near_duplicates,
    pair_keys,
)


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
    assert folds_per_value(left, right, fold).tolist() == expected


def test_nobody_known_is_in_no_fold() -> None:
    unknown = np.full(3, -1, dtype=np.int32)
    assert folds_per_value(unknown, unknown, np.zeros(3, dtype=np.int16)).tolist() == []


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("d", [3, 512])
def test_exactly_those_that_all_distances_say(d: int) -> None:
    rng = np.random.default_rng(0)
    vectors = unit(rng.normal(size=(300, d)))
    vectors[7] = vectors[100].astype(np.float16)  # rounded
    vectors[200] = vectors[3]
    vectors[201] = vectors[3]
    vectors[50] = unit(vectors[51:52] + np.float32(5 * DUPLICATE_DISTANCE / np.sqrt(d)))[0]  # near, but another image
    gaps = np.linalg.norm(vectors[:, None].astype(np.float64) - vectors[None], axis=2)
    expected = {(a, b) for a, b in np.argwhere(gaps <= DUPLICATE_DISTANCE).tolist() if a < b}
    assert {(7, 100), (3, 200), (3, 201), (200, 201)} <= expected
    assert {
        tuple(sorted(pair)) for pair in zip(*(side.tolist() for side in near_duplicates(vectors)), strict=True)
    } == expected


def test_components_follow_links() -> None:
    found = connected_components(6, np.array([0, 1, 4]), np.array([1, 2, 5]))
    assert found[0] == found[1] == found[2] and found[4] == found[5]
    assert len({found[0], found[3], found[4]}) == 3


def test_unknown_images_join_whom_genuine_pairs_name_and_known_ones_stay_apart() -> None:
    known = np.array([7, 9, -1, -1, -1, 9, -1])
    # image 2 is paired with 0 (person 7), 3 with 2, 4 with nobody; 0 and 1 are known and stay two people
    people = infer_identities(known, np.array([0, 2, 0]), np.array([2, 3, 1]))
    assert people[0] == people[2] == people[3]
    assert people[1] == people[5] != people[0]
    assert len({people[0], people[1], people[4], people[6]}) == 4
    assert sorted(set(people.tolist())) == [0, 1, 2, 3]
