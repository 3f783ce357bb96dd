"""Nearest reference midpoints of query midpoints: some engines find them, one measure says how far they are.

``scan`` factors through images. For a reference R let H = Z @ R.T - |R|^2 / 2; then H[left] + H[right] = 2 m.R - |R|^2,
so the largest sums are the nearest references: every image meets every reference once, however many pairs share it.
``faiss`` builds the midpoints and searches them; it is faster where images barely repeat. Many midpoints that look for
neighbours among themselves compare every two once (``mutual``). All search in float32.
Distances to what they found are then taken in float64, so that neither the engine nor the other pairs of a table
show in them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.overlap import pair_keys
from fairfr.core.state import piece
from fairfr.core.types import F32, F64, I64, Pairs
from fairfr.pairs.mutual import mutual_neighbours

Engine: TypeAlias = Literal["auto", "scan", "faiss"]

REFERENCE_BLOCK = 8192
SMALLEST_BLOCK = 512
SUMS_BYTES = 400 * 2**20
QUERY_BLOCK = 16_384
MUTUAL_FROM = 50_000  # below, finding the axes costs as much as it saves


@piece
@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Midpoints:
    """Midpoints of ``pairs`` over image ``vectors`` (n, d), never built all at once."""

    vectors: F32
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def compact(self) -> Midpoints:
        """The same midpoints over a copy of the vectors that they use, and of no others."""
        used, pairs = self.pairs.compact(len(self.vectors))
        return Midpoints(self.vectors[used], pairs)

    def build(self, start: int, stop: int) -> F32:
        """Some of them in float32, (stop - start, d)."""
        return self.build_some(np.arange(start, stop))

    def build_some(self, rows: I64) -> F32:
        """Those at ``rows`` in float32, (r, d)."""
        pairs = self.pairs.take(rows)
        return (self.vectors[pairs.left] + self.vectors[pairs.right]) / np.float32(2)


class Neighbours(NamedTuple):
    """``position`` (q, k): places in the reference list, nearest first. ``distance`` (q, k): Euclidean."""

    position: I64
    distance: F64


def nearest(queries: Midpoints, references: Midpoints, k: int, engine: Engine = "auto", threads: int = 1) -> Neighbours:
    """The k nearest reference midpoints of each query midpoint (k is capped at the number of references)."""
    k = min(k, len(references))
    index = _search(queries, references, k, engine, threads)
    return Neighbours(index, _measure(queries, references, index, threads))


def _search(queries: Midpoints, references: Midpoints, k: int, engine: Engine, threads: int) -> I64:
    """Places (q, k) of the nearest references."""
    # dot products for each reference: n by the scan, q by faiss, q / 2 or less among themselves
    mutual = engine == "auto" and queries is references and len(queries) >= MUTUAL_FROM
    if engine == "auto":
        n_images = len(queries.pairs.compact(len(queries.vectors))[0])
        engine = "scan" if (3 if mutual else 2) * n_images < len(queries) else "faiss"
    if engine == "scan":
        return _scan(queries, references, k, threads)
    return mutual_neighbours(queries, k, threads) if mutual else _search_faiss(queries, references, k, threads)


def _search_faiss(queries: Midpoints, references: Midpoints, k: int, threads: int) -> I64:
    import faiss

    faiss.omp_set_num_threads(threads)
    lookup = faiss.IndexFlatL2(references.vectors.shape[1])
    lookup.add(references.build(0, len(references)))
    index = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), QUERY_BLOCK):
        stop = min(start + QUERY_BLOCK, len(queries))
        index[start:stop] = lookup.search(queries.build(start, stop), k)[1]
    return index


def _scan(queries: Midpoints, references: Midpoints, k: int, threads: int) -> I64:
    from fairfr.pairs._topk import update_top_k

    p, d = len(queries), queries.vectors.shape[1]
    used, pairs = queries.pairs.compact(len(queries.vectors))
    order = _by_image(pairs)
    left, right = pairs.left.astype(np.int64), pairs.right.astype(np.int64)
    index = np.full((p, k), -1, dtype=np.int64)
    best = np.full((p, k), -np.inf, dtype=np.float32)
    # the last column meets -|R|^2 / 2, so that the product is H itself
    images = np.ones((len(used), d + 1), dtype=np.float32)
    images[:, :d] = queries.vectors[used]
    for start, stop in pairwise(_block_bounds(len(references), len(used))):
        sums = images @ _block(references, start, stop).T
        merge = partial(update_top_k, sums, left, right, offset=start, best=best, index=index)
        _in_threads(threads, order, merge)
    return index


def _block(references: Midpoints, start: int, stop: int) -> F32:
    """Some references R as rows [R, -|R|^2 / 2]; rows [0, -inf], which are nobody's neighbours, fill the last lanes."""
    from fairfr.pairs._topk import MULTIPLE

    midpoints = references.build(start, stop)
    n, d = midpoints.shape
    out = np.zeros((-(-n // MULTIPLE) * MULTIPLE, d + 1), dtype=np.float32)
    out[:n, :d] = midpoints
    out[:n, d] = np.einsum("ij,ij->i", midpoints, midpoints) / -2
    out[n:, d] = -np.inf
    return out


def _block_bounds(n_references: int, n_images: int) -> list[int]:
    """Where blocks of references begin and end: of about one size, H of one block within SUMS_BYTES."""
    size = min(REFERENCE_BLOCK, max(SMALLEST_BLOCK, SUMS_BYTES // (4 * n_images)))
    bounds: list[int] = np.linspace(0, n_references, -(-n_references // size) + 1).astype(int).tolist()
    return bounds


def _by_image(pairs: Pairs) -> I64:
    """Rows of pairs by left image, then right: what one pair has brought into the cache serves the next."""
    return np.argsort(pair_keys(pairs.left, pairs.right, int(max(pairs.left.max(), pairs.right.max())) + 1))


def _measure(queries: Midpoints, references: Midpoints, index: I64, threads: int) -> F64:
    """Distances (q, k) to the references at ``index``, which is sorted by them in place."""
    from fairfr.pairs._topk import measure

    distance = np.empty(index.shape)
    own, theirs = (np.ascontiguousarray(side.vectors) for side in (queries, references))
    ends = np.column_stack([references.pairs.left, references.pairs.right]).astype(np.int64)
    sums = np.empty((0, own.shape[1]))
    if len(references) * own.shape[1] * 8 <= SUMS_BYTES:
        sums = theirs[ends[:, 0]].astype(np.float64) + theirs[ends[:, 1]]
    left, right = queries.pairs.left.astype(np.int64), queries.pairs.right.astype(np.int64)
    _in_threads(
        threads,
        _by_image(queries.pairs),
        lambda part: measure(own, left, right, part, theirs, ends, sums, index, distance),
    )
    return distance


def _in_threads(threads: int, order: I64, work: Callable[[I64], None]) -> None:
    """``work`` on an equal share of ``order`` in each thread."""
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, np.array_split(order, threads)):
            pass
