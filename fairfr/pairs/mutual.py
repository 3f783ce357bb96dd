"""Nearest neighbours within one set of midpoints: every two meet once, by their leading coordinates first.

In the axes of their principal components y, two midpoints a and b have

    -|a - b|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2   and   a.b <= a_head.b_head + |a_tail| |b_tail|.

The right side costs a product over the head and one column more. Only where it reaches the k-th best of a or of b is
the tail looked at. Nothing is lost whatever the data; how much is saved depends on them: vectors that lie in all
directions alike need a head of all axes, which still is half of what comparing each with all others takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from fairfr.core.types import F32, F64, I64
from fairfr.pairs.blas import one_blas_thread

if TYPE_CHECKING:
    from fairfr.pairs.neighbours import Midpoints

TILE = 1024
CHUNK = 16_384
SAMPLE = 64  # midpoints on which the length of the head is chosen
BASIS_SAMPLE = 4096
HEADS = (1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
LOOK = 13_000  # what a tail to look at costs, in products of the head: until bars are high, more are looked at


@dataclass(frozen=True, slots=True)
class _Rotated:
    """Midpoints ``y`` (p, d) about their mean in axes of their own, leading ones first.

    ``head`` (p, h + 1) ends with ``tail_length`` (p,); where h is d it is ``y`` itself.
    """

    y: F32
    h: int
    head: F32
    tail_length: F32
    half_squares: F32


def mutual_neighbours(midpoints: Midpoints, k: int, threads: int) -> I64:
    """Places (p, k) of the k nearest of each among all of them, itself included, in no particular order."""
    p = len(midpoints)
    order = _by_place(midpoints)
    rotated = _rotate(type(midpoints)(midpoints.vectors, midpoints.pairs.take(order)), k)
    best = np.full((p, k), -np.inf, dtype=np.float32)
    index = np.full((p, k), p, dtype=np.int64)
    _compare(rotated, best, index, threads)
    out = np.empty_like(index)
    out[order] = order[index]
    return out


def _by_place(midpoints: Midpoints) -> I64:
    """Midpoints ordered by which of some of them is nearest: those in one tile set each other a high bar early."""
    places = midpoints.build_some(_spread(len(midpoints), -(-len(midpoints) // TILE)))
    half_squares = np.einsum("ij,ij->i", places, places) / 2
    nearest = [np.argmax(chunk @ places.T - half_squares, axis=1) for _, chunk in _chunks(midpoints)]
    return np.argsort(np.concatenate(nearest), kind="stable")


def _rotate(midpoints: Midpoints, k: int) -> _Rotated:
    some = midpoints.build_some(_spread(len(midpoints), BASIS_SAMPLE)).astype(np.float64)
    mean = some.mean(axis=0)
    with one_blas_thread():
        axes = np.linalg.eigh((some - mean).T @ (some - mean))[1][:, ::-1].astype(np.float32)
    y = np.empty((len(midpoints), len(axes)), dtype=np.float32)
    for rows, chunk in _chunks(midpoints):
        np.matmul(chunk - mean.astype(np.float32), axes, out=y[rows])
    h = _head_length(y, k)
    tail = y[:, h:]
    length = np.sqrt(np.einsum("ij,ij->i", tail, tail))
    head = np.column_stack([y[:, :h], length]) if h < len(axes) else y
    return _Rotated(y, h, head, length, np.einsum("ij,ij->i", y, y) / 2)


def _head_length(y: F32, k: int) -> int:
    """The head that is cheapest in all, judged by what it would leave of some rows' tails to look at."""
    p, d = y.shape
    some = y[_spread(p, SAMPLE)]
    half_squares: F32 = np.einsum("ij,ij->i", y, y) / 2
    bar = np.partition(some @ y.T - half_squares, p - k, axis=1)[:, p - k, None]
    lengths = [max(1, round(share * d)) for share in HEADS]
    costs: list[float] = [p * d / 2]
    for h in lengths:
        lent = np.outer(*(np.linalg.norm(rows[:, h:], axis=1) for rows in (some, y)))
        reached = some[:, :h] @ y[:, :h].T + lent - half_squares >= bar
        costs.append(p * h / 2 + LOOK * float(reached.sum(axis=1).mean()))
    length: int = [d, *lengths][int(np.argmin(costs))]
    return length


def _compare(rotated: _Rotated, best: F32, index: I64, threads: int) -> None:
    """Every tile once; whichever thread takes it has both of its blocks of rows for itself."""
    from fairfr.pairs._mutual import merge_tile

    head, p = rotated.head, len(best)
    bar, worst = np.full(p, -np.inf, dtype=np.float32), np.zeros(p, dtype=np.int64)
    rows = rotated.y, rotated.h, rotated.tail_length, rotated.half_squares, bar, worst, best, index
    locks = [Lock() for _ in range(0, p, TILE)]
    tiles = _tiles(len(locks))

    def work(_: int) -> None:
        room = np.empty((TILE, TILE), dtype=np.float32)
        for i, j in tiles:
            a, b = i * TILE, j * TILE
            products = room[: min(TILE, p - a), : min(TILE, p - b)]
            np.matmul(head[a : a + TILE], head[b : b + TILE].T, out=products)
            with ExitStack() as held:
                for block in sorted({i, j}):
                    held.enter_context(locks[block])
                merge_tile(products, a, b, *rows)

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(threads)):
            pass


def _tiles(n: int) -> Iterator[tuple[int, int]]:
    """All i <= j < n, the diagonal first. A list's iterator: threads share it."""
    return iter([(i, i + band) for band in range(n) for i in range(n - band)])


def _chunks(midpoints: Midpoints) -> Iterator[tuple[slice, F32]]:
    for start in range(0, len(midpoints), CHUNK):
        stop = min(start + CHUNK, len(midpoints))
        yield slice(start, stop), midpoints.build(start, stop)


def _spread(n: int, count: int) -> I64:
    """At most ``count`` of n rows, at equal distances."""
    rows: F64 = np.linspace(0, n - 1, min(n, count))
    return rows.astype(np.int64)
