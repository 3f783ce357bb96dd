"""Find the nearest reference midpoints of many pairs without building the pairs' midpoints.

Problem. A query is the midpoint m = (z_l + z_r) / 2 of two images, and a reference R is a midpoint as well. There are
far more queries than images: a fold of BFW has 740,000 pairs of 16,000 images.

Idea. With H[i, R] = z_i . R - |R|^2 / 2 for every image i, |m - R|^2 = |m|^2 - (H[l, R] + H[r, R]): the nearest
references are those with the largest H[l] + H[r]. H has one row per image, not one per pair.

Steps. For each block of references: (1) compute H for all images (float32, one matrix product); (2) for each query,
add two rows of H and keep the k + SPARE largest sums so far. At the end, (3) measure what was kept in float64 and sort
it by distance, and equal distances by reference number.

Exactness. A float32 sum is off by at most ``slack``. A reference that was left out had no larger sum than any that was
kept, so its squared distance is at least that of the farthest kept one minus 2 ``slack``. Where the k-th squared
distance is smaller than this, nothing that belongs was left out. Elsewhere, as among references that lie closer
together than float32 can tell, the query is marked as not certain, and the caller searches it in float64.
Distances do not change when all vectors move together: they are taken about a centre of the references, because sums
of long vectors that all point one way would be rounded far more. tests/property/test_neighbours.py compares the result
with distances between built midpoints.

Cost. n_images * d * n_references operations in matrix products, n_queries * n_references additions and comparisons,
and n_queries * (k + SPARE) * d operations in float64. Memory: BLOCK_BYTES for H, 16 bytes for each query and kept
reference.

This module is apart from ``neighbours`` because importing numba costs half a second.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairfr.core.types import F32, F64, I32, I64, Bool, Pairs
from fairfr.pairs.compiled import compiled
from fairfr.pairs.overlap import pair_keys
from fairfr.pairs.parallel import parallel_rows

if TYPE_CHECKING:
    from fairfr.pairs.neighbours import Midpoints

SPARE = 4  # references kept beyond k: with four, hardly a query of the paper's data sets is not certain
BLOCK = 1024  # references at a time
BLOCK_BYTES = 100 * 2**20  # of H
STRETCH = 16  # sums that are compared at once: in most stretches none is large enough

# reassoc lets sums be vectorised: the same inputs still give the same bits
_compiled = compiled(fastmath={"reassoc", "contract"})


def scan(queries: Midpoints, references: Midpoints, k: int, threads: int) -> tuple[I32, F64, Bool]:
    """The nearest references of each query: place and distance (q, k), nearest first, and which are certain (q,)."""
    used, pairs = queries.pairs.compact(len(queries.vectors))
    left = pairs.left.astype(np.int64)
    right = pairs.right.astype(np.int64)
    order = _by_image(queries.pairs)
    kept = min(k + SPARE, len(references))
    position = np.zeros((len(queries), kept), dtype=np.int32)
    nearness = np.full((len(queries), kept), -np.inf, dtype=np.float32)
    centre = references.centre()
    images = _with_column(queries.vectors[used] - centre.astype(np.float32), 1.0)
    longest = _longest(images[:, :-1])
    block = min(BLOCK, max(1, BLOCK_BYTES // (4 * len(images))))
    for start in range(0, len(references), block):
        rows = np.arange(start, min(start + block, len(references)))
        others = references.dense_rows(rows) - centre
        longest = max(longest, _longest(others))
        half_squares = np.einsum("ij,ij->i", others, others) / 2
        sums = images @ _with_column(others, -half_squares).T
        parallel_rows(threads, order, partial(keep_nearest, sums, start, left, right, nearness, position))
    del nearness, sums
    distance = measured(queries, references, position, threads)
    # a sum of d + 1 products in float32, of vectors that were rounded themselves; there are two of them
    slack = 2 * (images.shape[1] + 8) * float(np.finfo(np.float32).eps) * longest**2
    certain = distance[:, k - 1] ** 2 < distance[:, -1] ** 2 - 2 * slack
    return position[:, :k], distance[:, :k], certain | (kept == len(references))


def measured(queries: Midpoints, references: Midpoints, position: I32 | I64, threads: int) -> F64:
    """Distances (q, k) to the references at ``position`` (q, k), which is sorted by them in place."""
    distance = np.empty(position.shape)
    work = partial(
        measure,
        np.ascontiguousarray(queries.vectors),
        np.ascontiguousarray(references.vectors),
        queries.pairs.left.astype(np.int64),
        queries.pairs.right.astype(np.int64),
        references.pairs.left.astype(np.int64),
        references.pairs.right.astype(np.int64),
        position,
        distance,
    )
    parallel_rows(threads, _by_image(queries.pairs), work)
    return distance


def _by_image(pairs: Pairs) -> I64:
    """Rows of pairs by their images: what one pair has brought into the cache serves the next."""
    return np.argsort(pair_keys(pairs.left, pairs.right, int(max(pairs.left.max(), pairs.right.max())) + 1))


def _with_column(rows: F32 | F64, column: F64 | float) -> F32:
    """``rows`` (n, d) in float32 with one more column to their right."""
    out = np.empty((len(rows), rows.shape[1] + 1), dtype=np.float32)
    out[:, :-1] = rows
    out[:, -1] = column
    return out


def _longest(rows: F32 | F64) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))


@_compiled
def keep_nearest(products: F32, start: int, left: I64, right: I64, nearness: F32, position: I32, rows: I64) -> None:
    """Merge a block of references, from ``start`` on, into the nearest of the queries in ``rows``.

    ``products`` (images, references of the block) is H. ``nearness`` (q, kept), largest first, and ``position``
    (q, kept) are updated in place.
    """
    last = nearness.shape[1] - 1
    whole = products.shape[1] - products.shape[1] % STRETCH
    for query in rows:
        a = products[left[query]]
        b = products[right[query]]
        best = nearness[query]
        where = position[query]
        for first in range(0, len(a), STRETCH):
            if first < whole and _none_above(best[last], a, b, first):
                continue
            for j in range(first, min(first + STRETCH, len(a))):
                value = a[j] + b[j]
                if value <= best[last]:
                    continue
                slot = last
                while slot > 0 and best[slot - 1] < value:
                    best[slot] = best[slot - 1]
                    where[slot] = where[slot - 1]
                    slot -= 1
                best[slot] = value
                where[slot] = start + j


@_compiled
def _none_above(bar: float, a: F32, b: F32, first: int) -> bool:
    """Whether no sum of a stretch is above the bar: so many that the compiler takes them all at once."""
    n_above = np.int32(0)
    for j in range(first, first + STRETCH):
        n_above += np.int32(a[j] + b[j] > bar)
    return bool(n_above == 0)


@_compiled
def measure(
    query_vectors: F32,
    vectors: F32,
    query_left: I64,
    query_right: I64,
    left: I64,
    right: I64,
    position: I32,
    distance: F64,
    rows: I64,
) -> None:
    """Distances of the queries in ``rows`` to their references at ``position`` (q, k), both sorted by them in place."""
    doubled = np.empty(vectors.shape[1])
    for query in rows:
        where = position[query]
        found = distance[query]
        for c in range(len(doubled)):
            doubled[c] = np.float64(query_vectors[query_left[query], c]) + query_vectors[query_right[query], c]
        for i in range(len(where)):
            reference = where[i]
            a = vectors[left[reference]]
            b = vectors[right[reference]]
            total = 0.0
            for c in range(len(doubled)):
                total += (doubled[c] - (np.float64(a[c]) + np.float64(b[c]))) ** 2
            gap = np.sqrt(total) / 2
            slot = i
            while slot > 0 and (found[slot - 1] > gap or (found[slot - 1] == gap and where[slot - 1] > reference)):
                found[slot] = found[slot - 1]
                where[slot] = where[slot - 1]
                slot -= 1
            found[slot] = gap
            where[slot] = reference
