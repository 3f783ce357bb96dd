"""The inner loop of the mutual neighbours, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, I64

LANE = 32
SLACK = np.float32(4e-6)  # more than float32 rounds a product of unit vectors: a bound may come out that much too low

_fast = numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "reassoc", "contract"})


@_fast  # type: ignore[untyped-decorator]
def merge_tile(
    products: F32,
    a: int,
    b: int,
    y: F32,
    h: int,
    tail_length: F32,
    half_squares: F32,
    bar: F32,
    worst: I64,
    best: F32,
    index: I64,
) -> None:
    """Merge rows a, a + 1, ... and rows b, b + 1, ... into each other's k nearest, ``best`` and ``index`` (p, k).

    ``products`` are those of their heads of length h, which bound those of the whole ``y`` (p, d). ``bar`` (p,) is the
    lowest of ``best``, at slot ``worst`` (p,). Equal ones are ranked by their place, so that the order of the tiles
    changes nothing.
    """
    n, m = products.shape
    lowest = np.empty(m, dtype=np.float32)
    # slices, because an index that might be negative is not vectorised
    their_bar, their_half = bar[b : b + m], half_squares[b : b + m]
    for i in range(n):
        row, own, own_bar = products[i], half_squares[a + i] - SLACK, bar[a + i]
        first = i if a == b else 0
        for j in range(m):  # what a product must reach to matter to the row or to the column, less the row's square
            lowest[j] = min(own_bar, their_bar[j]) + their_half[j]
        for start in range(first // LANE * LANE, m, LANE):
            stop = min(start + LANE, m)
            excess = np.float32(-np.inf)
            for product, needed in zip(row[start:stop], lowest[start:stop]):  # noqa: B905 (numba knows no strict)
                excess = max(excess, product - needed)
            if excess < own:
                continue
            for j in range(max(start, first), stop):
                if row[j] - lowest[j] < own:
                    continue
                product = row[j] - tail_length[a + i] * tail_length[b + j] + _dot(y[a + i][h:], y[b + j][h:])
                value = product - half_squares[a + i] - half_squares[b + j]
                _insert(value, a + i, b + j, bar, worst, best, index)
                if a + i != b + j:
                    _insert(value, b + j, a + i, bar, worst, best, index)


@_fast  # type: ignore[untyped-decorator]
def _dot(a: F32, b: F32) -> np.float32:
    total = np.float32(0)
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


@_fast  # type: ignore[untyped-decorator]
def _insert(value: np.float32, row: int, neighbour: int, bar: F32, worst: I64, best: F32, index: I64) -> None:
    """Into the k nearest of a row, in place of the lowest; of equals the one with the last place is the lowest."""
    slot = worst[row]
    top, where = best[row], index[row]
    if value < top[slot] or (value == top[slot] and neighbour > where[slot]):
        return
    top[slot], where[slot] = value, neighbour
    for i in range(len(top)):
        if top[i] < top[slot] or (top[i] == top[slot] and where[i] > where[slot]):
            slot = i
    worst[row], bar[row] = slot, top[slot]
