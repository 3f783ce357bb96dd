"""Nearest neighbours within one set of midpoints: every two meet once, by their leading coordinates first.

In the axes of their principal components y, two midpoints a and b have

    -|a - b|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2   and   a.b <= a_head.b_head + |a_tail| |b_tail|.

The right side costs a product over the head. Only where it reaches the k-th best of a or of b is the tail looked at,
some axes at a time, until the bound falls below. Each tile has the head that is cheapest for it. Nothing is lost
whatever the data; how much is saved depends on them: vectors that lie in all directions alike need a head of most
axes, which still is half of what comparing each with all others takes.

With a label for each midpoint, the nearest of those with another label are found on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairfr.core.types import F32, F64, I64
from fairfr.pairs.blas import one_blas_thread

if TYPE_CHECKING:
    from fairfr.pairs.neighbours import Midpoints

TILE = 1024
CHUNK = 16_384
STEP = 32  # axes between two bounds
SAMPLED = 32  # rows of either side of a tile on which the length of its head is chosen
BASIS_SAMPLE = 4096
LENGTHS = 8  # of midpoints, in shares of the mean square: tiles of long ones need a shorter head


@dataclass(frozen=True, slots=True)
class _Rotated:
    """Midpoints ``y`` (p, d) about their mean in axes of their own, leading ones first.

    ``tail`` (p, s + 1): lengths of what is left of them after each ``STEP`` axes, from none to all. ``label`` (p,) may
    be empty.
    """

    y: F32
    tail: F32
    half_squares: F32
    label: I64

    @property
    def columns(self) -> tuple[F32, F32, F32, I64]:
        """As the compiled loops take them."""
        return self.y, self.tail, self.half_squares, self.label


class _Nearest(NamedTuple):
    """The k nearest so far: ``best`` and their ``place`` (p, k), of which slot ``worst`` (p,) is the lowest.

    ``bar`` (p,) is what one more must reach.
    """

    bar: F32
    worst: I64
    best: F32
    place: I64

    @classmethod
    def none(cls, p: int, k: int) -> _Nearest:
        best, place = np.full((p, k), -np.inf, dtype=np.float32), np.full((p, k), p, dtype=np.int64)
        return cls(np.full(p, -np.inf, dtype=np.float32), np.zeros(p, dtype=np.int64), best, place)

    def places(self, order: I64) -> I64:
        """Of rows that were put in ``order``, as they were before, (p, k)."""
        out = np.empty_like(self.place)
        out[order] = order[self.place]
        return out


def mutual_neighbours(midpoints: Midpoints, k: int, threads: int) -> I64:
    """Places (p, k) of the k nearest of each among all of them, itself included, in no particular order."""
    order, rotated = _arrange(midpoints, None)
    nearest = _Nearest.none(len(order), k)
    _compare(rotated, nearest, nearest, threads)
    return nearest.places(order)


def mutual_neighbours_and_others(
    midpoints: Midpoints, k: int, label: I64, k_others: int, threads: int
) -> tuple[I64, I64]:
    """As ``mutual_neighbours``, and the ``k_others`` nearest with another ``label`` (p,); there must be as many."""
    order, rotated = _arrange(midpoints, label)
    nearest, others = _Nearest.none(len(order), k), _Nearest.none(len(order), k_others)
    _compare(rotated, nearest, others, threads)
    return nearest.places(order), others.places(order)


def _arrange(midpoints: Midpoints, label: I64 | None) -> tuple[I64, _Rotated]:
    order = _by_place(midpoints)
    ordered = type(midpoints)(midpoints.vectors, midpoints.pairs.take(order))
    return order, _rotate(ordered, np.empty(0, dtype=np.int64) if label is None else label[order])


def _by_place(midpoints: Midpoints) -> I64:
    """Midpoints ordered by length, then by which of some of them is nearest.

    Those in one tile need much the same head, and set each other a high bar early.
    """
    places = midpoints.build_some(_spread(len(midpoints), -(-len(midpoints) // TILE)))
    half_squares = np.einsum("ij,ij->i", places, places) / 2
    nearest, squares = [], []
    for _, chunk in _chunks(midpoints):
        nearest.append(np.argmax(chunk @ places.T - half_squares, axis=1))
        squares.append(np.einsum("ij,ij->i", chunk, chunk))
    square = np.concatenate(squares)
    return np.lexsort((np.concatenate(nearest), np.rint(LENGTHS * square / square.mean())))


def _rotate(midpoints: Midpoints, label: I64) -> _Rotated:
    some = midpoints.build_some(_spread(len(midpoints), BASIS_SAMPLE)).astype(np.float64)
    mean = some.mean(axis=0)
    with one_blas_thread():
        axes = np.linalg.eigh((some - mean).T @ (some - mean))[1][:, ::-1].astype(np.float32)
    p, d = len(midpoints), len(axes)
    parts = np.arange(0, d, STEP)
    y, tail = np.empty((p, d), dtype=np.float32), np.zeros((p, len(parts) + 1), dtype=np.float32)
    for rows, chunk in _chunks(midpoints):
        np.matmul(chunk - mean.astype(np.float32), axes, out=y[rows])
        squares = np.add.reduceat(np.square(y[rows]), parts, axis=1)
        tail[rows, :-1] = np.sqrt(np.cumsum(squares[:, ::-1], axis=1)[:, ::-1])
    half_squares: F32 = np.einsum("ij,ij->i", y, y) / 2
    return _Rotated(y, tail, half_squares, label)


def _compare(rotated: _Rotated, nearest: _Nearest, others: _Nearest, threads: int) -> None:
    """Every tile once; whichever thread takes it has both of its blocks of rows for itself.

    Without labels ``others`` are ``nearest`` themselves.
    """
    from fairfr.pairs._mutual import head_length, merge_tile

    y, p = rotated.y, len(rotated.y)
    points = rotated.columns
    locks = [Lock() for _ in range(0, p, TILE)]
    tiles = _tiles(len(locks))

    def work(_: int) -> None:
        room = np.empty((TILE, TILE), dtype=np.float32)
        for i, j in tiles:
            a, b = i * TILE, j * TILE
            n, m = min(TILE, p - a), min(TILE, p - b)
            h = head_length(a, n, b, m, STEP, -(-TILE // SAMPLED), *points, nearest.bar, others.bar)
            np.matmul(y[a : a + n, :h], y[b : b + m, :h].T, out=room[:n, :m])
            with ExitStack() as held:
                for block in sorted({i, j}):
                    held.enter_context(locks[block])
                merge_tile(room[:n, :m], a, b, h, STEP, *points, *nearest, *others)

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
