"""The centres that faiss's k-means++ draws, the same ones, for a part of the price.

Each further centre asks every vector whether it is nearer than those before. Most are not, and their shadows in a few
directions already say so: distances between shadows are never larger. Only the others are measured, by faiss itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fairfr.core.types import F32, F64, I64

MOST = 156  # numbers that come from the generator's first state alone
MARGIN = 1e-5  # above the rounding of float32 distances between unit vectors and between their shadows


def drawn(vectors: F32, shadows: F32, K: int, seed: int) -> F32:
    """K of the ``vectors`` (n, d), unit rows, as ``faiss_drawn`` has them; ``shadows`` (n, m) in orthonormal axes."""
    is_ours = K <= MOST and _is_as_faiss_draws()
    return _drawn(vectors, shadows, K, seed) if is_ours else faiss_drawn(vectors, K, seed)


def _drawn(vectors: F32, shadows: F32, K: int, seed: int) -> F32:
    from fairfr.methods._lloyd_loops import maybe_nearer

    draws = _mt19937_64(_counted(seed), K)
    squares: F32 = np.einsum("ij,ij->i", shadows, shadows)
    chosen = [(draws[0] * len(vectors)) >> 64]
    nearest: F64 = _squared_distances(vectors, np.arange(len(vectors)), chosen[0])
    for draw in draws[1:]:
        mass = np.cumsum(nearest)
        chosen.append(min(int(np.searchsorted(mass, draw / 2.0**64 * mass[-1])), len(vectors) - 1))
        some = maybe_nearer(shadows, squares, chosen[-1], nearest, MARGIN)
        nearest[some] = np.minimum(nearest[some], _squared_distances(vectors, some, chosen[-1]))
    return vectors[chosen]


def faiss_drawn(vectors: F32, K: int, seed: int) -> F32:
    """The centres (K, d) that faiss's k-means begins with."""
    import faiss

    library: Any = faiss  # whose stubs lack the class
    draw = library.ClusteringInitialization(vectors.shape[1], K)
    draw.method, draw.seed = library.ClusteringInitMethod_KMEANS_PLUS_PLUS, _counted(seed)
    centres = np.empty((K, vectors.shape[1]), dtype=np.float32)
    draw.init_centroids(len(vectors), faiss.swig_ptr(vectors), faiss.swig_ptr(centres))
    return centres


def _counted(seed: int) -> int:
    """As faiss's k-means counts its seeds."""
    return seed % 2**31 + 1


def _squared_distances(vectors: F32, rows: I64, to: int) -> F64:
    """Of some rows to one, in faiss's own arithmetic."""
    import faiss

    library: Any = faiss
    out, target = np.empty(len(rows), dtype=np.float32), np.full(len(rows), to)
    pointers = [faiss.swig_ptr(a) for a in (vectors, rows, vectors, target, out)]
    library.pairwise_indexed_L2sqr(vectors.shape[1], len(rows), *pointers)
    return out.astype(np.float64)


@cache
def _is_as_faiss_draws() -> bool:
    """Whether this faiss draws as it did when this was written; another one, or one of another compiler, may not."""
    angles = np.outer(np.arange(1, 301), np.arange(1, 9)) ** 1.5
    vectors = (np.cos(angles) / np.linalg.norm(np.cos(angles), axis=1, keepdims=True)).astype(np.float32)
    return bool(np.array_equal(_drawn(vectors, vectors, 6, 0), faiss_drawn(vectors, 6, 0)))


def _mt19937_64(seed: int, count: int) -> list[int]:
    """The first numbers, at most ``MOST``, of the generator of that name as C++ has it (Nishimura and Matsumoto)."""
    size, middle, mask = 2 * MOST, MOST, 2**64 - 1
    assert count <= MOST
    state = [seed]
    for i in range(1, size):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & mask)
    out = []
    for i in range(count):
        joined = (state[i] & 0xFFFFFFFF80000000) | (state[i + 1] & 0x7FFFFFFF)
        x = state[i + middle] ^ (joined >> 1) ^ (0xB5026F5AA96619E9 if joined & 1 else 0)
        x ^= (x >> 29) & 0x5555555555555555
        x ^= (x << 17) & 0x71D67FFFEDA60000
        x ^= (x << 37) & 0xFFF7EEE000000000
        out.append((x ^ (x >> 43)) & mask)
    return out
