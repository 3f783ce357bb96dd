"""Nearest reference midpoints of query midpoints: two engines find them, one measure says how far they are.

``scan`` factors through images. For a reference R let H = Z @ R.T - |R|^2 / 2; then H[left] + H[right] = 2 m.R - |R|^2,
so the largest sums are the nearest references: every image meets every reference once, however many pairs share it.
``faiss`` builds the midpoints and searches them; it is faster where images barely repeat. Both search in float32.
Distances to what they found are then taken in float64, so that neither the engine nor the other pairs of a table
show in them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.state import piece
from fairfr.core.types import F32, F64, I64, Pairs

Engine: TypeAlias = Literal["auto", "scan", "faiss"]

REFERENCE_BLOCK = 1024
QUERY_BLOCK = 16_384


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
        left, right = self.pairs.left[start:stop], self.pairs.right[start:stop]
        return (self.vectors[left] + self.vectors[right]) / np.float32(2)


class Neighbours(NamedTuple):
    """``position`` (q, k): places in the reference list, nearest first. ``distance`` (q, k): Euclidean."""

    position: I64
    distance: F64


def nearest(queries: Midpoints, references: Midpoints, k: int, engine: Engine = "auto", threads: int = 1) -> Neighbours:
    """The k nearest reference midpoints of each query midpoint (k is capped at the number of references)."""
    k = min(k, len(references))
    if engine == "auto":
        # the engines do n and q dot products per reference; equal counts favour faiss, which skips the scan
        n_images = len(queries.pairs.compact(len(queries.vectors))[0])
        engine = "scan" if 2 * n_images < len(queries) else "faiss"
    search = _scan if engine == "scan" else _search_faiss
    index = search(queries, references, k, threads)
    return Neighbours(index, _measure(queries, references, index, threads))


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

    p = len(queries)
    used, compact = queries.pairs.compact(len(queries.vectors))
    left, right = compact.left.astype(np.int64), compact.right.astype(np.int64)
    images = queries.vectors[used]
    index = np.full((p, k), -1, dtype=np.int64)
    best = np.full((p, k), -np.inf, dtype=np.float32)
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(references), REFERENCE_BLOCK):
            block = references.build(start, min(start + REFERENCE_BLOCK, len(references)))
            half_norms = np.einsum("ij,ij->i", block, block) / 2
            sums = images @ block.T
            sums -= half_norms
            jobs = [
                pool.submit(update_top_k, sums, left[part], right[part], start, best[part], index[part])
                for part in _shares(p, threads)
            ]
            for job in jobs:
                job.result()
    return index


def _measure(queries: Midpoints, references: Midpoints, index: I64, threads: int) -> F64:
    """Distances (q, k) to the references at ``index``, which is sorted by them in place."""
    from fairfr.pairs._topk import measure

    distance = np.empty(index.shape)
    left, right = queries.pairs.left.astype(np.int64), queries.pairs.right.astype(np.int64)
    ends = np.column_stack([references.pairs.left, references.pairs.right]).astype(np.int64)
    vectors = (np.ascontiguousarray(side.vectors) for side in (queries, references))
    own, theirs = vectors
    with ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(measure, own, left[part], right[part], theirs, ends, index[part], distance[part])
            for part in _shares(len(queries), threads)
        ]
        for job in jobs:
            job.result()
    return distance


def _shares(n: int, threads: int) -> list[slice]:
    bounds = np.linspace(0, n, threads + 1).astype(np.int64)
    return [slice(a, b) for a, b in pairwise(bounds)]
