"""The inner loops of FALCON, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, F64, I32, I64

LANE = 32


# nnan and nsz let the maximum be vectorised; full fastmath would also rule out the infinities that the list starts with
@numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})  # type: ignore[untyped-decorator]
def at_rank(cosine: F32, own: I32, code: I32, rank: I64, out: F32) -> None:
    """out (b,): the rank-th largest of each row of ``cosine`` (b, u) among columns of another ``code`` (u,) than the
    row's ``own`` (b,)."""
    n = cosine.shape[1]
    highest = np.empty(rank.max(), dtype=np.float32)
    for i in range(len(own)):
        k, row = rank[i], cosine[i]
        highest[:k] = -np.inf
        for start in range(0, n, LANE):
            stop = min(start + LANE, n)
            # most lanes hold nothing that counts: one vectorised maximum settles it
            best = np.float32(-np.inf)
            for j in range(start, stop):
                best = max(best, row[j])
            if best <= highest[k - 1]:
                continue
            for j in range(start, stop):
                value = row[j]
                if value <= highest[k - 1] or code[j] == own[i]:
                    continue
                slot = k - 1
                while slot > 0 and highest[slot - 1] < value:
                    highest[slot] = highest[slot - 1]
                    slot -= 1
                highest[slot] = value
        out[i] = highest[k - 1]


# reassoc lets the sum be vectorised: the same inputs still give the same bits
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def matvec(matrix: F32, vector: F64) -> F64:
    """matrix (m, n) @ vector (n,), summed in float64."""
    out = np.empty(len(matrix))
    for i in range(len(matrix)):
        row, total = matrix[i], 0.0
        for j in range(len(row)):
            total += np.float64(row[j]) * vector[j]
        out[i] = total
    return out


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def add_cubes(inner: F32, weights: F32, out: F64) -> None:
    """out (m,) += inner^3 (m, n) @ weights (n,): cubes in the precision of ``inner``, their sum in float64."""
    for i in range(len(inner)):
        row, total = inner[i], 0.0
        for j in range(len(row)):
            total += np.float64(row[j] * row[j] * row[j] * weights[j])
        out[i] += total


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def add_cubes_of(inner: F32, columns: I64, weights: F32, out: F64) -> None:
    """As ``add_cubes``, of some ``columns`` (n,) of ``inner`` (m, >= n)."""
    for i in range(len(inner)):
        row, total = inner[i], 0.0
        for j in range(len(columns)):
            x = row[columns[j]]
            total += np.float64(x * x * x * weights[j])
        out[i] += total
