"""The inner loops of the neighbour search, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, F64, I64

LANE = 32


# nnan and nsz let the maximum be vectorised; full fastmath would also rule out the infinities that best starts with
@numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})  # type: ignore[untyped-decorator]
def update_top_k(sums: F32, left: I64, right: I64, offset: int, best: F32, index: I64) -> None:
    """Merge a block of references into each query's k largest ``sums[left] + sums[right]``.

    ``best`` and ``index`` (q, k) are kept sorted, largest first, and updated in place; ``offset`` is the position of
    the block's first reference.
    """
    k = best.shape[1]
    n_references = sums.shape[1]
    for query in range(len(left)):
        a, b = sums[left[query]], sums[right[query]]
        top, where = best[query], index[query]
        for start in range(0, n_references, LANE):
            stop = min(start + LANE, n_references)
            # most lanes hold no new neighbour: one vectorised maximum settles it
            highest = np.float32(-np.inf)
            for r in range(start, stop):
                highest = max(highest, a[r] + b[r])
            if highest <= top[k - 1]:
                continue
            for r in range(start, stop):
                value = a[r] + b[r]
                if value <= top[k - 1]:
                    continue
                slot = k - 1
                while slot > 0 and top[slot - 1] < value:
                    top[slot] = top[slot - 1]
                    where[slot] = where[slot - 1]
                    slot -= 1
                top[slot] = value
                where[slot] = offset + r


# reassoc lets the sum be vectorised: the same inputs still give the same bits, wherever they stand
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def measure(query_vectors: F32, left: I64, right: I64, vectors: F32, ends: I64, index: I64, distance: F64) -> None:
    """Distances of query midpoints to their references in float64, each row sorted anew, in place.

    ``index`` and ``distance`` (q, k); ``ends`` (r, 2) are the references' rows of ``vectors``.
    """
    d = vectors.shape[1]
    doubled = np.empty(d)
    for query in range(len(left)):
        a, b = query_vectors[left[query]], query_vectors[right[query]]
        for c in range(d):
            doubled[c] = np.float64(a[c]) + np.float64(b[c])
        row, where = distance[query], index[query]
        for j in range(len(row)):
            reference = where[j]
            e, f = vectors[ends[reference, 0]], vectors[ends[reference, 1]]
            total = 0.0
            for c in range(d):
                gap = doubled[c] - (np.float64(e[c]) + np.float64(f[c]))
                total += gap * gap
            value = np.sqrt(total) / 2
            slot = j
            while slot > 0 and row[slot - 1] > value:
                row[slot] = row[slot - 1]
                where[slot] = where[slot - 1]
                slot -= 1
            row[slot] = value
            where[slot] = reference
