"""Lloyd's steps as faiss takes them, bit for bit, for a part of the price.

One step decides by rounding between two centres once in a while, and some steps later a tenth of the images are
elsewhere: a step that is only nearly faiss's ends in other clusters. Here an image is compared with all centres in the
principal directions that hold most of the images, with a bound for the rest; the few centres that this leaves open are
compared in float64; and where two are closer than faiss's rounding, faiss itself decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfr.core.types import F32, I64
from fairfr.methods._seeding import drawn

# fewer directions leave too many centres open, more cost more than they close; chosen on the stand-in of RFW and on two
# real embeddings of LFW
HELD = 0.96
MULTIPLE = 32
MAX_SHARE = 0.6  # of all directions; with more of them faiss is as quick
MIN_VECTORS = 8192
MARGIN = 4e-6  # above the rounding of float32 products of unit vectors
# of |v|^2 - |v - c|^2, halved: faiss errs by 4e-7 at most among 3.7 million such distances in 512 dimensions
CLOSE_CALL = 1e-6


class Steps:
    """Lloyd's steps on ``vectors`` (n, d), unit rows."""

    def __init__(self, vectors: F32, basis: F32) -> None:
        """``basis`` (d, m): orthonormal columns."""
        import faiss

        self._block = int(faiss.cvar.distance_compute_blas_query_bs)  # faiss multiplies so many rows at a time
        self._vectors = vectors
        self._basis = basis
        self._short = vectors @ basis
        self._reach = _rest(vectors, self._short)

    @classmethod
    def where_they_pay(cls, vectors: F32) -> Steps | None:
        """None for small sets, and for those that fill all directions alike."""
        n, d = vectors.shape
        if n < MIN_VECTORS:
            return None
        held, directions = np.linalg.eigh(vectors.T @ vectors)
        share = np.cumsum(held[::-1]) / held.sum()
        width = -(-(int(np.searchsorted(share, HELD)) + 1) // MULTIPLE) * MULTIPLE
        return cls(vectors, directions[:, -width:].astype(np.float32)) if width <= MAX_SHARE * d else None

    def drawn(self, K: int, seed: int) -> F32:
        """The centres (K, d) that faiss's k-means begins with."""
        import faiss

        faiss.omp_set_num_threads(1)  # of the calling thread only
        return drawn(self._vectors, self._short, K, seed)

    def step(self, centres: F32) -> F32 | None:
        """The centres (K, d) after one step; None where a cluster is empty, which faiss has its own way to fill."""
        from fairfr.methods._lloyd_loops import means

        moved, size = means(self._vectors, self.assign(centres), len(centres))
        return moved if size.all() else None

    def assign(self, centres: F32) -> I64:
        """The nearest centre of each vector, (n,)."""
        from fairfr.methods._lloyd_loops import assign

        short = centres @ self._basis
        reach = _rest(centres, short)
        half_norms = np.einsum("ij,ij->i", centres, centres, dtype=np.float64) / 2
        margins = np.array([MARGIN, CLOSE_CALL])
        out = np.empty(len(self._vectors), dtype=np.int64)
        for start in range(0, len(out), self._block):
            part = slice(start, start + self._block)
            closeness = self._short[part] @ short.T
            closeness -= half_norms.astype(np.float32)
            rows = self._reach[part], self._vectors[part]
            if assign(closeness, *rows, reach, centres, half_norms, margins, out[part]):
                self._ask_faiss(centres, start, out)
        return out

    def _ask_faiss(self, centres: F32, start: int, out: I64) -> None:
        """Its own answer for the block of rows at ``start``: a row's last bits depend on its place in the block, and in
        a search of few rows on how many they are, so that a short block at the end is asked for with the one before."""
        import faiss

        if len(out) - start < self._block:
            start -= self._block
        stop = start + self._block if start + 2 * self._block <= len(out) else len(out)
        lookup: Any = faiss.IndexFlatL2(centres.shape[1])
        lookup.add(centres)
        out[start:stop] = lookup.search(self._vectors[start:stop], 1)[1][:, 0]


def _rest(vectors: F32, short: F32) -> F32:
    """At least the length of what the short form leaves out of each vector."""
    squared = (np.einsum("ij,ij->i", m, m, dtype=np.float64) for m in (vectors, short))
    out: F32 = np.sqrt(np.maximum(next(squared) - next(squared), 0.0) + MARGIN).astype(np.float32)
    return out
