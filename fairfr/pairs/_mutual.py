"""The inner loops of the mutual neighbours, compiled: apart, because importing numba costs half a second.

Rows are numbers without a sign: an index that might be negative is not vectorised. Nothing here takes a view of a
row either: two threads that count the references to one array wait for each other longer than a look takes.
"""

from __future__ import annotations

from typing import TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from fairfr.core.types import F32, I64

U8: TypeAlias = npt.NDArray[np.uint8]
U64: TypeAlias = npt.NDArray[np.uint64]

SLACK = np.float32(4e-6)  # more than float32 rounds a product of unit vectors: a bound may come out that much too low
LOOK = 450.0  # what looking at a pair of rows costs, in axes of a product of tiles
LOOK_ON = 300.0  # what each further part of their axes costs
WORD = np.uint64(8)
NONE = np.uint64(0)
ONE = np.uint64(1)

_fast = numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "reassoc", "contract"})


@_fast  # type: ignore[untyped-decorator]
def merge_tile(
    products: F32,
    a: int,
    b: int,
    h: int,
    step: int,
    y: F32,
    tail: F32,
    half_squares: F32,
    label: I64,
    bar: F32,
    worst: I64,
    best: F32,
    index: I64,
    other_bar: F32,
    other_worst: I64,
    other_best: F32,
    other_index: I64,
) -> None:
    """Merge rows a, a + 1, ... and rows b, b + 1, ... into each other's k nearest, ``best`` and ``index`` (p, k).

    ``products`` are those of their first h axes, some steps or all, which bound those of the whole ``y`` (p, d):
    ``tail`` (p, s + 1) has the length of what is left of a row after every ``step`` axes. ``bar`` (p,) is what a row's
    neighbour must reach, the lowest of ``best``, at slot ``worst`` (p,). Equal ones are ranked by their
    place, and values do not depend on h, so that neither the order of the tiles nor their heads change anything.
    Rows with another ``label`` (p,) are merged into the four of ``other_bar`` and so on as well. Without labels these
    are the same arrays again.
    """
    n, m = np.uint64(products.shape[0]), np.uint64(products.shape[1])
    first_a, first_b, head, part, d = np.uint64(a), np.uint64(b), np.uint64(h), np.uint64(step), np.uint64(y.shape[1])
    level = (head + part - ONE) // part
    # most are left after the next axes: side by side these stay in the cache
    after, level_after = min(head + part, d), min(level + ONE, np.uint64(tail.shape[1]) - ONE)
    their_tail, their_next = tail[first_b : first_b + m, level].copy(), y[first_b : first_b + m, head:after].copy()
    words = np.zeros((m + WORD - ONE) // WORD, dtype=np.uint64)
    passed, found = words.view(np.uint8), np.empty(m + WORD, dtype=np.uint64)
    for i in range(n):
        row = first_a + i
        own, own_tail = half_squares[row] - SLACK, tail[row, level]
        own_bar = min(bar[row], other_bar[row])
        for j in range(m):
            their_bar = min(bar[first_b + j], other_bar[first_b + j])
            needed = min(own_bar, their_bar) + half_squares[first_b + j] - own_tail * their_tail[j]
            passed[j] = products[i, j] - needed >= own
        first = i if first_a == first_b else NONE
        for f in range(_list_passed(words, passed, first // WORD, found)):
            j = found[f]
            other = first_b + j
            needed = _lowest(row, other, label, bar, other_bar) + half_squares[other] + own
            product = products[i, j]
            for c in range(after - head):
                product += y[row, head + c] * their_next[j, c]
            if j < first or product + tail[row, level_after] * tail[other, level_after] < needed:
                continue
            if not _reaches(needed, product, row, other, after, part, y, tail):
                continue
            value = _dot(y, row, other, NONE, d) - half_squares[row] - half_squares[other]
            _insert(value, row, other, bar, worst, best, index)
            if row != other:
                _insert(value, other, row, bar, worst, best, index)
            if _apart(row, other, label):
                _insert(value, row, other, other_bar, other_worst, other_best, other_index)
                _insert(value, other, row, other_bar, other_worst, other_best, other_index)


@_fast  # type: ignore[untyped-decorator]
def _apart(a: int, b: int, label: I64) -> bool:
    """Whether two rows have different labels."""
    return len(label) > 0 and label[a] != label[b]


@_fast  # type: ignore[untyped-decorator]
def _lowest(a: int, b: int, label: I64, bar: F32, other_bar: F32) -> np.float32:
    """The lowest of the bars that matter to two rows."""
    lowest: np.float32 = min(bar[a], bar[b])
    if _apart(a, b, label):
        lowest = min(lowest, min(other_bar[a], other_bar[b]))
    return lowest


@_fast  # type: ignore[untyped-decorator]
def head_length(
    a: int,
    n: int,
    b: int,
    m: int,
    step: int,
    every: int,
    y: F32,
    tail: F32,
    half_squares: F32,
    label: I64,
    bar: F32,
    other_bar: F32,
) -> int:
    """The head that is cheapest for a tile of n rows from a on and m from b on, judged by some of them."""
    part, d, levels = np.uint64(step), np.uint64(y.shape[1]), np.uint64(tail.shape[1])
    alive = np.zeros(levels, dtype=np.int64)
    seen = 0
    for i in range(np.uint64(a), np.uint64(a + n), np.uint64(every)):
        for j in range(np.uint64(b), np.uint64(b + m), np.uint64(every)):
            needed = _lowest(i, j, label, bar, other_bar) + half_squares[i] + half_squares[j]
            product, level = np.float32(0), NONE
            seen += 1
            while level < levels and product + tail[i, level] * tail[j, level] >= needed:
                alive[level] += 1
                product += _dot(y, i, j, min(level * part, d), min((level + ONE) * part, d))
                level += ONE
    length: int = y.shape[1]
    lowest, later = np.inf, 0.0
    for back in range(len(alive) - 1, 0, -1):
        later += LOOK_ON * alive[back] / seen
        cost = min(back * step, y.shape[1]) + LOOK * alive[back] / seen + later
        if cost < lowest:
            length, lowest = min(back * step, y.shape[1]), cost
    return length


@_fast  # type: ignore[untyped-decorator]
def _list_passed(words: U64, passed: U8, start: np.uint64, found: U64) -> np.uint64:
    """How many of the bytes ``passed`` are 1 from word ``start`` on; ``found`` lists where. Most words are 0."""
    count = NONE
    for word in range(start, np.uint64(len(words))):
        if words[word]:
            for j in range(word * WORD, word * WORD + WORD):
                found[count] = j
                count += np.uint64(passed[j])
    return count


@_fast  # type: ignore[untyped-decorator]
def _reaches(needed: np.float32, product: np.float32, a: int, b: int, h: int, step: int, y: F32, tail: F32) -> bool:
    """Whether the product of two rows may reach what is needed: ``product`` is that of their first h axes."""
    d = np.uint64(y.shape[1])
    start, level = h, (h + step - ONE) // step
    while start < d:
        product += _dot(y, a, b, start, min(start + step, d))
        start += step
        level += ONE
        if product + tail[a, level] * tail[b, level] < needed:
            return False
    return True


@_fast  # type: ignore[untyped-decorator]
def _dot(y: F32, a: int, b: int, start: int, stop: int) -> np.float32:
    total = np.float32(0)
    for c in range(start, stop):
        total += y[a, c] * y[b, c]
    return total


@_fast  # type: ignore[untyped-decorator]
def _insert(value: np.float32, row: int, neighbour: int, bar: F32, worst: I64, best: F32, index: I64) -> None:
    """Into the k nearest of a row, in place of the lowest; of equals the one with the last place is the lowest."""
    slot, place = np.uint64(worst[row]), np.int64(neighbour)
    if value < bar[row] or (value == best[row, slot] and place > index[row, slot]):
        return
    best[row, slot], index[row, slot] = value, place
    low, last = value, place
    for i in range(np.uint64(best.shape[1])):
        if best[row, i] < low or (best[row, i] == low and index[row, i] > last):
            low, last, slot = best[row, i], index[row, i], np.uint64(i)
    worst[row], bar[row] = np.int64(slot), low
