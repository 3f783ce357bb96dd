"""Impostor pairs by number: against lists of all pairs, and no memory for the pairs that are not drawn."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from fairfr.core.types import I64
from fairfr.data.importers.impostor_pairs import ImpostorPairs, draw_different, share_out


def listed(group: I64, fold: I64, person: I64) -> dict[int, set[tuple[int, int]]]:
    """Every pair of two people of one group and fold, by group."""
    pairs: dict[int, set[tuple[int, int]]] = {}
    for a, b in combinations(range(len(person)), 2):
        if group[a] == group[b] and fold[a] == fold[b] and person[a] != person[b]:
            pairs.setdefault(int(group[a]), set()).add((a, b))
    return pairs


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_those_of_a_list(seed: int) -> None:
    rng = np.random.default_rng(seed)
    person = rng.integers(12, size=40)
    fold = rng.integers(3, size=12)[person]
    group = rng.integers(4, size=40)  # one person's images may be in several groups
    expected = listed(group, fold, person)
    found = ImpostorPairs.of(group, fold, person)
    assert found.possible.tolist() == [len(expected.get(one, ())) for one in range(int(group.max()) + 1)]
    counts = [int(there * share) for there, share in zip(found.possible, (1.0, 0.9, 0.3, 0.0), strict=True)]
    left, right = found.draw(np.array(counts), rng)
    drawn = [(min(a, b), max(a, b)) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert len(set(drawn)) == len(drawn), "no pair twice"
    assert Counter(int(group[a]) for a, _ in drawn) == Counter({g: n for g, n in enumerate(counts) if n})
    assert set(drawn) <= set().union(*expected.values())


def test_no_image_and_nobody_to_pair() -> None:
    none = np.empty(0, dtype=np.int64)
    assert ImpostorPairs.of(none, none, none).possible.tolist() == []
    alone = ImpostorPairs.of(np.array([0, 0]), np.array([0, 0]), np.array([5, 5]))
    assert alone.possible.tolist() == [0]
    assert [len(side) for side in alone.draw(np.array([0]), np.random.default_rng(0))] == [0, 0]


@pytest.mark.parametrize("count", [2, 3])
def test_every_set_of_numbers_is_equally_likely(count: int) -> None:
    """3,000 draws of 2 or 3 of 5 numbers: each of the ten sets comes 300 times, with a standard deviation of 16."""
    rng = np.random.default_rng(0)
    times = Counter(tuple(draw_different(5, count, rng).tolist()) for _ in range(3000))
    assert set(times) == set(combinations(range(5), count))
    assert all(abs(found - 300) < 80 for found in times.values())


def test_memory_follows_the_pairs_that_are_drawn() -> None:
    n = 20_000  # 200 million pairs, of which a thousand are drawn
    zero = np.zeros(n, dtype=np.int64)
    tracemalloc.start()
    found = ImpostorPairs.of(zero, zero, np.arange(n))
    left, _ = found.draw(np.array([1000]), np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.possible.tolist() == [n * (n - 1) // 2] and len(left) == 1000
    assert peak < 10_000_000


@pytest.mark.parametrize("seed", range(10))
def test_shares_are_those_of_dealing_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wanted = rng.integers(0, 30, size=5)
    most = int(rng.integers(0, 120))
    given = [0] * 5
    left = most
    while left and any(given[g] < wanted[g] for g in range(5)):
        for g in range(5):
            if left and given[g] < wanted[g]:
                given[g] += 1
                left -= 1
    found = share_out(wanted, most)
    assert found.sum() == sum(given) and (found <= wanted).all()
    assert np.abs(found - given).max() <= 1, "the last ones that do not divide may go to other groups"
