"""Nearest neighbours within one set of midpoints: every two meet once, by their leading coordinates first.

In the axes of their principal components y, two midpoints a and b have

    -|a - b|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2   and   a.b <= a_head.b_head + |a_tail| |b_tail|.

The right side costs a product over the head. Only where it reaches the k-th best of a or of b is the tail looked at,
some axes at a time, until the bound falls below. Each tile has the head that is cheapest for it. Nothing is lost
whatever the data; how much is saved depends on them: vectors that lie in all directions alike need a head of most
axes, which still is half of what comparing each with all others takes.

What the k-th best must at least be is found before, where it pays, from neighbours of neighbours.

With a ``label`` for each midpoint, only those with another label are neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
BARS_FROM = 250_000  # below, finding bars before costs more than it saves
BARS_BLOCK = 256
BARS_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class _Rotated:
    """Midpoints ``y`` (p, d) about their mean in axes of their own, leading ones first.

    ``tail`` (p, s + 1): lengths of what is left of them after each ``STEP`` axes, from none to all. ``label`` (p,) is
    empty where all are neighbours.
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

    def forget(self, slack: np.float32) -> None:
        """Keep the bars only, lowered by what rounding may have raised them."""
        self.best.fill(-np.inf)
        self.place.fill(len(self.bar))
        self.worst.fill(0)
        self.bar[...] -= slack


def mutual_neighbours(midpoints: Midpoints, k: int, threads: int, label: I64 | None = None) -> I64:
    """Places (p, k) of the k nearest of each among all of them, itself included, in no particular order.

    With a ``label`` (p,) among those with another label, of which there must be k.
    """
    order = _by_place(midpoints)
    ordered = type(midpoints)(midpoints.vectors, midpoints.pairs.take(order))
    rotated, nearest = _rotate(ordered, label if label is None else label[order]), _Nearest.none(len(order), k)
    if len(order) >= BARS_FROM:
        _raise_bars(rotated, nearest, ordered, threads)
    _compare(rotated, nearest, threads)
    out = np.empty_like(nearest.place)
    out[order] = order[nearest.place]
    return out


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


def _rotate(midpoints: Midpoints, label: I64 | None = None) -> _Rotated:
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
    return _Rotated(y, tail, half_squares, np.empty(0, dtype=np.int64) if label is None else label)


def _raise_bars(rotated: _Rotated, nearest: _Nearest, midpoints: Midpoints, threads: int) -> None:
    """Bars before all meet: neighbours of neighbours soon are the nearest, once there are some to begin with.

    These are the rows around and those that share an image. Where none do, there is no way from block to block.
    """
    from fairfr.pairs._mutual import SLACK, meet_neighbours, meet_sharing, merge_tile

    used, pairs = midpoints.pairs.compact(len(midpoints.vectors))
    p, y = len(midpoints), rotated.y
    if len(used) >= p:
        return
    ends = np.column_stack([pairs.left, pairs.right]).astype(np.int64)
    by_image = np.argsort(ends.ravel(), kind="stable")
    first = np.searchsorted(ends.ravel()[by_image], np.arange(len(used) + 1))
    rows = *rotated.columns, *nearest

    def meet_block(start: int, stop: int) -> None:
        merge_tile(y[start:stop] @ y[start:stop].T, start, start, y.shape[1], STEP, *rows)

    def share_out(meet: Callable[[int, int], None]) -> None:
        with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
            starts = range(0, p, BARS_BLOCK)
            for _ in pool.map(meet, starts, [min(start + BARS_BLOCK, p) for start in starts]):
                pass

    share_out(meet_block)
    share_out(lambda start, stop: meet_sharing(start, stop, STEP, ends, first, by_image // 2, *rows))
    for _ in range(BARS_ROUNDS):
        share_out(lambda start, stop: meet_neighbours(start, stop, STEP, *rows))
    nearest.forget(SLACK)


def _compare(rotated: _Rotated, nearest: _Nearest, threads: int) -> None:
    """Every tile once; whichever thread takes it has both of its blocks of rows for itself."""
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
            h = head_length(a, n, b, m, STEP, -(-TILE // SAMPLED), *points, nearest.bar)
            np.matmul(y[a : a + n, :h], y[b : b + m, :h].T, out=room[:n, :m])
            with ExitStack() as held:
                for block in sorted({i, j}):
                    held.enter_context(locks[block])
                merge_tile(room[:n, :m], a, b, h, STEP, *points, *nearest)

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
