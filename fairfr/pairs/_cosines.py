"""Cosines of images with their nearest, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, F64, I64

# reassoc lets the sum be vectorised: the same inputs still give the same bits
_compiled = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})


@_compiled  # type: ignore[untyped-decorator]
def dot(a: F32, b: F32) -> float:
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
