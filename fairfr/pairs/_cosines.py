"""Cosines of images with their nearest, in float64, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, F64, I32, I64

# reassoc lets the sum be vectorised: the same inputs still give the same bits
_compiled = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})


@_compiled  # type: ignore[untyped-decorator]
def dot(a: F32 | F64, b: F32) -> float:
    """a . b, products and sum in float64."""
    total = 0.0
    for c in range(len(a)):
        total += np.float64(a[c]) * np.float64(b[c])
    return total


@_compiled  # type: ignore[untyped-decorator]
def cosines(vectors: F32, row: I64, out: F64, images: I64) -> None:
    """out (n, w): cosines of some ``images`` with those at ``row`` (n, w)."""
    for i in images:
        for j in range(row.shape[1]):
            out[i, j] = dot(vectors[i], vectors[row[i, j]])


@_compiled  # type: ignore[untyped-decorator]
def exact_at_rank(
    cosine: F32, images: I64, vectors: F32, code: I32, rank: I64, rounded: F32, slack: float, out: F64
) -> None:
    """out (b,): the rank-th largest cosine of ``images`` (b,) with those of another ``code`` (u,).

    ``cosine`` (b, u) is rounded by less than ``slack`` / 2, and ``rounded`` (b,) the rank-th largest of it. Those near
    that are measured, and take the ranks that the larger ones leave.
    """
    near = np.empty(cosine.shape[1])
    for i in range(len(images)):
        row, image, larger, n = cosine[i], images[i], 0, 0
        low, high = rounded[i] - slack, rounded[i] + slack
        for j in range(len(row)):
            if row[j] < low or code[j] == code[image]:
                continue
            if row[j] > high:
                larger += 1
            else:
                near[n] = dot(vectors[image], vectors[j])
                n += 1
        out[i] = np.sort(near[:n])[n - (rank[i] - larger)]
