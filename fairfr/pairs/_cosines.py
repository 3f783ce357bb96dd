"""Products of vectors in float64, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F32, F64
from fairfr.pairs.compiled import compiled

# reassoc lets the sum be vectorised: the same inputs still give the same bits
_compiled = compiled(fastmath={"reassoc", "contract"})


@_compiled
def dot(a: F32 | F64, b: F32) -> float:
    """a . b, products and sum in float64."""
    total = 0.0
    for c in range(len(a)):
        total += np.float64(a[c]) * np.float64(b[c])
    return total
