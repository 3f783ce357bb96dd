"""Nearest reference midpoints of query midpoints, by two engines that agree to float noise.

``scan`` factors through images. For a reference R let H = Z @ R.T - |R|^2 / 2; then H[left] + H[right] = 2 m.R - |R|^2,
so the largest sums are the nearest references and d^2 = |m|^2 - (H[left] + H[right]): every image meets every
reference once, however many pairs share it. ``faiss`` builds the midpoints and searches them; it is faster where
images barely repeat.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F32, F64, I64, Pairs

Engine: TypeAlias = Literal["auto", "scan", "faiss"]

REFERENCE_BLOCK = 1024
QUERY_BLOCK = 16_384
# d^2 comes from a difference of numbers of order 1 in float32: below this it has lost digits and is computed anew.
CANCELLATION = 0.02


class Neighbours(NamedTuple):
    """``position`` (q, k): places in the reference list, nearest first. ``distance`` (q, k): Euclidean."""

    position: I64
    distance: F64


def nearest(
    vectors: F32, queries: Pairs, references: Pairs, k: int, engine: Engine = "auto", threads: int = 1
) -> Neighbours:
    """The k nearest reference midpoints of each query midpoint (k is capped at the number of references)."""
    k = min(k, len(references))
    if engine == "auto":
        # the engines do n and q dot products per reference; equal counts favour faiss, which skips the scan
        n_images = len(np.unique(np.concatenate([queries.left, queries.right])))
        engine = "scan" if 2 * n_images < len(queries) else "faiss"
    search = _scan if engine == "scan" else _search_faiss
    index, squared = search(vectors, queries, references, k, threads)
    _recompute_small(vectors, queries, references, index, squared)
    return Neighbours(index, np.sqrt(np.maximum(squared, 0.0)))


def _midpoints(vectors: F32, pairs: Pairs) -> F32:
    return (vectors[pairs.left] + vectors[pairs.right]) / np.float32(2)


def _search_faiss(vectors: F32, queries: Pairs, references: Pairs, k: int, threads: int) -> tuple[I64, F64]:
    import faiss

    faiss.omp_set_num_threads(threads)
    lookup = faiss.IndexFlatL2(vectors.shape[1])
    lookup.add(_midpoints(vectors, references))
    index = np.empty((len(queries), k), dtype=np.int64)
    squared = np.empty((len(queries), k))
    for start in range(0, len(queries), QUERY_BLOCK):
        part = np.arange(start, min(start + QUERY_BLOCK, len(queries)))
        squared[part], index[part] = lookup.search(_midpoints(vectors, queries.take(part)), k)
    return index, squared


def _scan(vectors: F32, queries: Pairs, references: Pairs, k: int, threads: int) -> tuple[I64, F64]:
    from fairfr.pairs._topk import update_top_k

    used, compact = np.unique(np.concatenate([queries.left, queries.right]), return_inverse=True)
    left, right = compact[: len(queries)], compact[len(queries) :]
    images = vectors[used]
    index = np.full((len(queries), k), -1, dtype=np.int64)
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    bounds = np.linspace(0, len(queries), threads + 1).astype(np.int64)
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(references), REFERENCE_BLOCK):
            stop = min(start + REFERENCE_BLOCK, len(references))
            block = _midpoints(vectors, references.take(np.arange(start, stop)))
            half_norms = np.einsum("ij,ij->i", block, block) / 2
            sums = images @ block.T
            sums -= half_norms
            jobs = [
                pool.submit(update_top_k, sums, left[a:b], right[a:b], start, best[a:b], index[a:b])
                for a, b in pairwise(bounds)
            ]
            for job in jobs:
                job.result()
    norms = np.einsum("ij,ij->i", images, images, dtype=np.float64)
    return index, _squared_norms(vectors, queries, norms, left, right)[:, None] - best


def _squared_norms(vectors: F32, queries: Pairs, norms: F64, left: I64, right: I64) -> F64:
    """|m|^2 of each query, from the cosine of its ends (which need not be exactly unit after rounding)."""
    from fairfr.pairs.cosine import pair_cosines

    return (norms[left] + norms[right] + 2 * pair_cosines(vectors, queries)) / 4


def _recompute_small(vectors: F32, queries: Pairs, references: Pairs, index: I64, squared: F64) -> None:
    """Replace squared distances that cancellation has eaten by directly computed ones, in place."""
    rows, columns = np.nonzero(squared < CANCELLATION)
    for start in range(0, len(rows), QUERY_BLOCK):
        part = slice(start, start + QUERY_BLOCK)
        q, r = rows[part], index[rows[part], columns[part]]
        gap = vectors[queries.left[q]].astype(np.float64) + vectors[queries.right[q]]
        gap -= vectors[references.left[r]].astype(np.float64) + vectors[references.right[r]]
        squared[q, columns[part]] = np.einsum("ij,ij->i", gap, gap) / 4
