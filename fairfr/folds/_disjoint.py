"""Folds anew, such that no fold shares its people (or images) with another one's training pairs.

Pairs that share somebody, directly or through other pairs, form a unit that goes into one fold as a whole. Where a unit
is larger than a fold, as where everybody is compared with everybody, that is impossible: it is cut into parts, and for
each fold the training pairs that share somebody with it are left out. So the promise holds in any case, at the price
of training pairs, and a finding says how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fairfr.core.errors import ConfigError
from fairfr.core.findings import Finding
from fairfr.core.types import I64, FoldSplit, VerificationSet
from fairfr.folds._people import touches
from fairfr.pairs.people import components

ROOM = 1.25  # a unit may be so many times the size of a fold
PARTS_OF_A_FOLD = 8  # a unit that is cut is cut into parts that balance well


def disjoint_splits(data: VerificationSet, member: I64, n_folds: int | None, what: str) -> Iterator[FoldSplit]:
    """Leave one new fold out; ``member`` (n,) is who (or which image) no two folds may share, ``what`` in words.

    There are as many folds as published ones unless ``n_folds`` is given. Folds have the shares of classes and groups
    of the whole as nearly as units allow, and a unit stays in the published fold of most of its pairs where that is as
    good.
    """
    count = n_folds or len(data.fold_labels)
    if count < 2:
        raise ConfigError(
            f"{data.id} has one fold. Say how many to make of its pairs: protocol.splitter.folds=10, for instance."
        )
    unit, n_cut = _units(data, member, count)
    n_units = int(unit.max()) + 1
    if n_units < count:
        raise ConfigError(
            f"the pairs of {data.id} cannot be dealt to {count} folds without common {what}: they form {n_units} "
            "part(s) that hang together. Ask for fewer: protocol.splitter.folds=..."
        )
    strata = _strata(data)
    fold = _dealt(unit, strata, data.fold.astype(np.int64), count)
    labels = data.fold_labels if n_folds in (None, len(data.fold_labels)) else tuple(map(str, range(count)))
    splits = [_split(data, member, fold, code, label) for code, label in enumerate(labels)]
    finding = _finding(data, fold, splits, (n_cut, what), _imbalance(fold, strata, count))
    for split in splits:
        yield replace(split, findings=(finding,))


def _units(data: VerificationSet, member: I64, count: int) -> tuple[I64, int]:
    """The unit of each pair, (p,), and how many units had to be cut."""
    left, right = member[data.pairs.left], member[data.pairs.right]
    unit = components(int(member.max()) + 1, left, right)[left]
    sizes = np.bincount(unit)
    too_large = np.flatnonzero(sizes > ROOM * data.n_pairs / count)
    part = np.zeros(len(unit), dtype=np.int64)
    size_of_part = max(1, data.n_pairs // (count * PARTS_OF_A_FOLD))
    for code in too_large:
        rows = np.flatnonzero(unit == code)
        place = _breadth_first_places(left[rows], right[rows])
        part[rows[np.argsort(place, kind="stable")]] = np.arange(len(rows)) // size_of_part
    whole: I64 = np.unique(unit * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1]
    return whole, len(too_large)


def _breadth_first_places(left: I64, right: I64) -> I64:
    """A place for each pair of one unit, (q,), such that pairs with a common member stand near one another."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    names, code = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = code[: len(left)], code[len(left) :]
    links = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(len(names), len(names))).tocsr()
    order = breadth_first_order(links, 0, directed=False, return_predecessors=False)
    reached = np.empty(len(names), dtype=np.int64)
    reached[order] = np.arange(len(order))
    return np.minimum(reached[a], reached[b])


def _strata(data: VerificationSet) -> I64:
    """Class and group of each pair as one number, (p,); pairs of two groups are a group of their own."""
    if data.grouping is None:
        return data.same.astype(np.int64)
    group = data.groupings[data.grouping].of(data.pairs, "both").astype(np.int64) + 1
    return 2 * group + data.same


def _dealt(unit: I64, strata: I64, published: I64, count: int) -> I64:
    """The new fold of each pair, (p,): units go, the largest first, where they overfill least."""
    n_units, n_strata = int(unit.max()) + 1, int(strata.max()) + 1
    content = np.bincount(unit * n_strata + strata, minlength=n_units * n_strata).reshape(n_units, n_strata)
    home = _most_frequent(unit, published, n_units)
    wanted = content.sum(axis=0) / count
    load = np.zeros((count, n_strata))
    fold_of = np.empty(n_units, dtype=np.int64)
    for one in np.argsort(-content.sum(axis=1), kind="stable"):
        inside = content[one] > 0
        over = np.maximum(load[:, inside] + content[one, inside] - wanted[inside], 0).sum(axis=1)
        at_home = np.arange(count) != home[one]
        fold_of[one] = np.lexsort((load.sum(axis=1), at_home, np.ceil(over)))[0]
        load[fold_of[one]] += content[one]
    return fold_of[unit]


def _most_frequent(unit: I64, published: I64, n_units: int) -> I64:
    """The published fold of most pairs of each unit."""
    n_published = int(published.max()) + 1
    counts = np.bincount(unit * n_published + published, minlength=n_units * n_published)
    most: I64 = counts.reshape(n_units, n_published).argmax(axis=1)
    return most


def _split(data: VerificationSet, member: I64, fold: I64, code: int, label: str) -> FoldSplit:
    test = np.flatnonzero(fold == code)
    tested = data.pairs.take(test)
    met = touches(data.pairs, member, np.concatenate([member[tested.left], member[tested.right]]))
    return FoldSplit(label, np.flatnonzero((fold != code) & ~met), test)


def _imbalance(fold: I64, strata: I64, count: int) -> int:
    """The largest difference, in pairs of one class and group, between a fold and an even share."""
    n_strata = int(strata.max()) + 1
    counts = np.bincount(fold * n_strata + strata, minlength=count * n_strata).reshape(count, n_strata)
    return int(np.ceil(np.abs(counts - counts.mean(axis=0)).max() - 1e-9))


def _finding(
    data: VerificationSet, fold: I64, splits: list[FoldSplit], cut: tuple[int, str], imbalance: int
) -> Finding:
    n_cut, what = cut
    moved = _moved(fold, data.fold.astype(np.int64))
    fewest = min(len(split.train) + len(split.test) for split in splits)
    dropped = data.n_pairs - fewest
    sizes = [len(split.test) for split in splits]
    text = (
        f"folds without common {what}: {moved:,} of {data.n_pairs:,} pairs are in another fold than the published one; "
        f"folds have {min(sizes):,} to {max(sizes):,} pairs, and no class of a group is more than {imbalance:,} pairs "
        "from an even share."
    )
    if n_cut:
        text += (
            f" {n_cut} {'part hangs' if n_cut == 1 else 'parts hang'} together beyond the size of a fold: up to "
            f"{dropped:,} pairs are left out of a fold's training because they share {what} with it."
        )
    counts = {"moved": moved, "pairs": data.n_pairs, "dropped": dropped, "imbalance": imbalance, "cut": n_cut}
    return Finding("folds-anew", "note", text, counts)


def _moved(fold: I64, published: I64) -> int:
    """How many pairs are not in the fold that has most in common with their published one, folds matched one to one."""
    from scipy.optimize import linear_sum_assignment

    shape = int(fold.max()) + 1, int(published.max()) + 1
    common = np.bincount(fold * shape[1] + published, minlength=shape[0] * shape[1]).reshape(shape)
    rows, columns = linear_sum_assignment(common, maximize=True)
    return int(len(fold) - common[rows, columns].sum())
