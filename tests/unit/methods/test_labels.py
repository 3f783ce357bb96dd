"""Identities: the metadata where it speaks, genuine training pairs where it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.types import VerificationSet
from fairfr.methods._labels import resolve_identities
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

MakeSet = Callable[..., VerificationSet]
NEEDS = frozenset({"identities"})

# images 0-1-2 chained by genuine pairs, 3-4 genuine, 5 a stranger to 0, 6-7 genuine but in the last row only
LEFT, RIGHT, SAME = [0, 2, 3, 5, 6], [1, 1, 4, 0, 7], [1, 1, 1, 0, 1]


def derive(make_set: MakeSet, identity: list[int], rows: list[int]) -> tuple[np.ndarray, dict[str, object]]:
    data = make_set(np.eye(8), LEFT, RIGHT, SAME)
    data = replace(data, identity=np.array(identity, dtype=np.int32))
    ctx = FitContext(0, "made", "net", "0")
    view = PairView(PairTable(data), np.array(rows), NEEDS)
    return resolve_identities(view, data.same[rows], ctx), ctx.report


def partition(codes: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(codes == code).tolist()) for code in np.unique(codes)}


def blocks(*members: set[int]) -> set[frozenset[int]]:
    return {frozenset(block) for block in members}


def test_known_identities_stand_even_against_the_pairs(make_set: MakeSet) -> None:
    codes, report = derive(make_set, [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3])
    np.testing.assert_array_equal(codes, np.arange(8))
    assert report == {"identities": "metadata", "identities_derived": 0}


def test_unknown_identities_are_components_of_genuine_training_pairs(make_set: MakeSet) -> None:
    codes, report = derive(make_set, [-1] * 8, [0, 1, 2, 3])
    assert partition(codes) == blocks({0, 1, 2}, {3, 4}, {5}, {6}, {7})
    assert codes.min() >= 0
    assert report == {"identities": "genuine training pairs where unknown", "identities_derived": 6}


def test_pairs_outside_training_connect_nobody(make_set: MakeSet) -> None:
    with_last, _ = derive(make_set, [-1] * 8, [0, 1, 2, 3, 4])
    assert partition(with_last) == blocks({0, 1, 2}, {3, 4}, {5}, {6, 7})
    without, _ = derive(make_set, [-1] * 8, [0, 2])
    assert partition(without) == blocks({0, 1}, {2}, {3, 4}, {5}, {6}, {7})


def test_unknown_images_join_the_known_identity_they_are_paired_with(make_set: MakeSet) -> None:
    # 0 and 5 are known to be one person; 1 joins them by a pair with 0; 3 and 4 are known, and known to differ
    codes, report = derive(make_set, [9, -1, -1, 3, 4, 9, -1, -1], [0, 2, 3])
    assert partition(codes) == blocks({0, 1, 5}, {2}, {3}, {4}, {6}, {7})
    assert report["identities_derived"] == 1


def test_unknown_images_outside_training_are_not_counted(make_set: MakeSet) -> None:
    codes, report = derive(make_set, [0, 0, 0, 1, 1, 2, -1, -1], [0, 1, 2, 3])
    assert partition(codes) == blocks({0, 1, 2}, {3, 4}, {5}, {6}, {7})
    assert report == {"identities": "metadata", "identities_derived": 0}
