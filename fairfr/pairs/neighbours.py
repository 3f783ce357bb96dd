"""Nearest reference midpoints of query midpoints: some engines find them, one measure says how far they are.

``scan`` factors through images. For a reference R let H = Z @ R.T - |R|^2 / 2; then H[left] + H[right] = 2 m.R - |R|^2,
so the largest sums are the nearest references: every image meets every reference once, however many pairs share it.
Sums of rounded products leave a few more than k references, and their distances say which are the nearest.
``faiss`` builds the midpoints and searches them in float32; it is faster where images barely repeat. For a few queries
no reference is built: the queries meet the references' images (``few``), in float64.
Distances to what was found are taken in float64, so that neither the engine nor the other pairs of a table
show in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.overlap import pair_keys
from fairfr.core.state import piece
from fairfr.core.types import F32, F64, I32, I64, Pairs
from fairfr.pairs.products import RoundedProducts
from fairfr.pairs.shares import in_threads

Engine: TypeAlias = Literal["auto", "scan", "faiss"]
Way: TypeAlias = Literal["scan", "faiss", "few"]

REFERENCE_BLOCK = 8192
SMALLEST_BLOCK = 512
SUMS_BYTES = 200 * 2**20  # of rounded products, and of sums of references
QUERY_BLOCK = 16_384
FEW = 128  # queries: with more it takes less time to build the references
FEW_AT_ONCE = 64


@piece
@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Midpoints:
    """Midpoints of ``pairs`` over image ``vectors`` (n, d), never built all at once."""

    vectors: F32
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def n_images(self) -> int:
        """How many different images they are of."""
        return len(self.pairs.compact(len(self.vectors))[0])

    def compact(self) -> Midpoints:
        """The same midpoints over a copy of the vectors that they use, and of no others."""
        used, pairs = self.pairs.compact(len(self.vectors))
        return Midpoints(self.vectors[used], pairs)

    def build(self, start: int, stop: int) -> F32:
        """Some of them in float32, (stop - start, d)."""
        pairs = self.pairs.take(np.arange(start, stop))
        return (self.vectors[pairs.left] + self.vectors[pairs.right]) / np.float32(2)


class Neighbours(NamedTuple):
    """``position`` (q, k): places in the reference list, nearest first. ``distance`` (q, k): Euclidean."""

    position: I32 | I64
    distance: F64


def nearest(queries: Midpoints, references: Midpoints, k: int, engine: Engine = "auto", threads: int = 1) -> Neighbours:
    """The k nearest reference midpoints of each query midpoint (k is capped at the number of references)."""
    k = min(k, len(references))
    way = _quickest(queries) if engine == "auto" else engine
    if way == "scan":
        return _scan(queries, references, k, threads)
    if way == "few":
        index = _search_few(queries, references, k, threads)
    else:
        index = _search_faiss(queries, references, k, threads)
    return Neighbours(index, _measure(queries, references, index, threads))


def _quickest(queries: Midpoints) -> Way:
    """By dot products for each reference: n by the scan, q by faiss.

    For a few queries to build the references would take longer than any products.
    """
    if 2 * queries.n_images < len(queries):
        return "scan"
    return "few" if len(queries) <= FEW else "faiss"


def _search_faiss(queries: Midpoints, references: Midpoints, k: int, threads: int) -> I64:
    """Places (q, k) of the nearest references."""
    import faiss

    faiss.omp_set_num_threads(threads)
    lookup = faiss.IndexFlatL2(references.vectors.shape[1])
    lookup.add(references.build(0, len(references)))
    index = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), QUERY_BLOCK):
        stop = min(start + QUERY_BLOCK, len(queries))
        index[start:stop] = lookup.search(queries.build(start, stop), k)[1]
    return index


def _search_few(queries: Midpoints, references: Midpoints, k: int, threads: int) -> I64:
    """Places (q, k) of the nearest references R, those with the largest 2 q.R - |R|^2 = q.left + q.right - |R|^2."""
    from fairfr.pairs._topk import image_products, squared_midpoints

    if len(references.vectors) > 2 * len(references):
        references = references.compact()
    left, right = references.pairs.left.astype(np.int64), references.pairs.right.astype(np.int64)
    images, squares = references.vectors, np.empty(len(references))
    in_threads(threads, np.arange(len(squares)), partial(squared_midpoints, images, left, right, squares))
    index = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), FEW_AT_ONCE):
        some = np.arange(start, min(start + FEW_AT_ONCE, len(queries)))
        products = np.empty((len(some), len(images)))
        in_threads(
            threads, np.arange(len(images)), partial(image_products, _build_exactly(queries, some), images, products)
        )
        in_threads(threads, some, partial(_take_nearest, products, start, left, right, squares, index))
    return index


def _build_exactly(midpoints: Midpoints, rows: I64) -> F64:
    """Some of them in float64, (r, d)."""
    pairs = midpoints.pairs.take(rows)
    return (midpoints.vectors[pairs.left].astype(np.float64) + midpoints.vectors[pairs.right]) / 2


def _take_nearest(products: F64, first: int, left: I64, right: I64, squares: F64, index: I64, rows: I64) -> None:
    """Rows of ``index`` (q, k); ``products`` are of the queries from ``first`` on."""
    k = index.shape[1]
    for row in rows:
        nearness = products[row - first, left] + products[row - first, right] - squares
        index[row] = np.sort(np.argpartition(nearness, -k)[-k:])  # of equals the first comes first


def _scan(queries: Midpoints, references: Midpoints, k: int, threads: int) -> Neighbours:
    from fairfr.pairs._topk import merge_block

    used, pairs = queries.pairs.compact(len(queries.vectors))
    order = _by_image(pairs)
    left, right = pairs.left.astype(np.int64), pairs.right.astype(np.int64)
    own, target = queries.vectors[used], _Target.of(references, k * len(queries))
    found = Neighbours(np.full((len(queries), k), -1, dtype=np.int32), np.full((len(queries), k), np.inf))
    products = RoundedProducts.of(own, references)
    for start, stop in pairwise(_block_bounds(len(references), len(used))):
        block = products.block(start, stop, threads)
        images = products.images, own, left, right
        merge = partial(merge_block, block, start, stop, products.scale, *images, *target, *found)
        in_threads(threads, order, merge)
    return found


def _block_bounds(n_references: int, n_images: int) -> list[int]:
    """Where blocks of references begin and end: of about one size, products of one block within SUMS_BYTES."""
    size = min(REFERENCE_BLOCK, max(SMALLEST_BLOCK, SUMS_BYTES // (2 * n_images)))
    bounds: list[int] = np.linspace(0, n_references, -(-n_references // size) + 1).astype(int).tolist()
    return bounds


class _Target(NamedTuple):
    """References as the compiled loops take them: ``sums`` is empty where it would take too much room or time."""

    vectors: F32
    ends: I64
    sums: F64

    @classmethod
    def of(cls, references: Midpoints, n_distances: int) -> _Target:
        """For so many distances to some of them."""
        vectors = np.ascontiguousarray(references.vectors)
        ends = np.column_stack([references.pairs.left, references.pairs.right]).astype(np.int64)
        sums = np.empty((0, vectors.shape[1]))
        if len(references) * vectors.shape[1] * 8 <= SUMS_BYTES and n_distances >= len(references):
            sums = vectors[ends[:, 0]].astype(np.float64) + vectors[ends[:, 1]]
        return cls(vectors, ends, sums)


def _by_image(pairs: Pairs) -> I64:
    """Rows of pairs by left image, then right: what one pair has brought into the cache serves the next."""
    return np.argsort(pair_keys(pairs.left, pairs.right, int(max(pairs.left.max(), pairs.right.max())) + 1))


def _measure(queries: Midpoints, references: Midpoints, index: I64, threads: int) -> F64:
    """Distances (q, k) to the references at ``index``, which is sorted by them in place."""
    from fairfr.pairs._topk import measure

    distance = np.empty(index.shape)
    own, target = np.ascontiguousarray(queries.vectors), _Target.of(references, index.size)
    left, right = queries.pairs.left.astype(np.int64), queries.pairs.right.astype(np.int64)
    in_threads(
        threads,
        _by_image(queries.pairs),
        partial(measure, own, left, right, *target, index, distance),
    )
    return distance
