"""Deal pairs to folds: those with a person (or an image) in common lie in one fold as far as that is possible."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import I64
from fairfr.pairs.overlap import connected_components

MAX_FOLD_SHARE = 1.25  # a unit may be so many times the size of a fold
PARTS_OF_A_FOLD = 8  # a unit that is cut is cut into parts that balance well


def linked_units(left: I64, right: I64, count: int) -> tuple[I64, int]:
    """The unit of each pair, (p,), and how many units are larger than one of ``count`` folds and had to be cut.

    ``left`` and ``right`` (p,) are the members of each pair, such as its two people. Pairs that share a member,
    directly or through other pairs, are one unit.
    """
    n_members = int(max(left.max(), right.max())) + 1
    unit = connected_components(n_members, left, right)[left]
    sizes = np.bincount(unit)
    too_large = np.flatnonzero(sizes > MAX_FOLD_SHARE * len(left) / count)
    part = np.zeros(len(unit), dtype=np.int64)
    size_of_part = max(1, len(left) // (count * PARTS_OF_A_FOLD))
    for code in too_large:
        rows = np.flatnonzero(unit == code)
        place = _breadth_first_places(left[rows], right[rows])
        part[rows[np.argsort(place, kind="stable")]] = np.arange(len(rows)) // size_of_part
    whole: I64 = np.unique(unit * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1]
    return whole, len(too_large)


def deal(unit: I64, strata: I64, count: int, home: I64 | None = None) -> I64:
    """The fold of each pair, (p,): units go, the largest first, to the fold that they overfill least.

    ``strata`` (p,) are to be spread evenly. Where folds are equally good, a unit stays in the fold that most of its
    pairs have in ``home`` (p,), if that is given.
    """
    n_units = int(unit.max()) + 1
    n_strata = int(strata.max()) + 1
    content = np.bincount(unit * n_strata + strata, minlength=n_units * n_strata).reshape(n_units, n_strata)
    home_of = np.full(n_units, -1)
    if home is not None:
        home_of = _most_frequent(unit, home, n_units)
    wanted = content.sum(axis=0) / count
    load = np.zeros((count, n_strata))
    fold_of = np.empty(n_units, dtype=np.int64)
    for one in np.argsort(-content.sum(axis=1), kind="stable"):
        inside = content[one] > 0
        over = np.maximum(load[:, inside] + content[one, inside] - wanted[inside], 0).sum(axis=1)
        elsewhere = np.arange(count) != home_of[one]
        fold_of[one] = np.lexsort((load.sum(axis=1), elsewhere, np.ceil(over)))[0]
        load[fold_of[one]] += content[one]
    return fold_of[unit]


def _breadth_first_places(left: I64, right: I64) -> I64:
    """A place for each pair of one unit, (q,), such that pairs with a common member are near one another."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    names, code = np.unique(np.concatenate([left, right]), return_inverse=True)
    a = code[: len(left)]
    b = code[len(left) :]
    links = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(len(names), len(names))).tocsr()
    order = breadth_first_order(links, 0, directed=False, return_predecessors=False)
    reached = np.empty(len(names), dtype=np.int64)
    reached[order] = np.arange(len(order))
    return np.minimum(reached[a], reached[b])


def _most_frequent(unit: I64, home: I64, n_units: int) -> I64:
    """The fold of most pairs of each unit."""
    n_folds = int(home.max()) + 1
    counts = np.bincount(unit * n_folds + home, minlength=n_units * n_folds)
    most: I64 = counts.reshape(n_units, n_folds).argmax(axis=1)
    return most
