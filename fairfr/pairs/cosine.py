"""Cosines of pairs of unit vectors, and what may be called a cosine."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F32, F64, Bool, Pairs

CHUNK = 4096
COSINE_RANGE = (-1.0, 1.0)
TOLERANCE = 1e-6  # cosines computed in float32 overshoot 1 by rounding


def pair_cosines(vectors: F32, pairs: Pairs) -> F64:
    """z_left . z_right for unit rows, (p,): products and sums in float64, a chunk of pairs at a time."""
    out = np.empty(len(pairs))
    for start in range(0, len(pairs), CHUNK):
        part = slice(start, start + CHUNK)
        left = vectors[pairs.left[part]].astype(np.float64)
        out[part] = np.einsum("ij,ij->i", left, vectors[pairs.right[part]].astype(np.float64))
    return np.clip(out, *COSINE_RANGE, out=out)


def invalid_cosines(values: F64) -> Bool:
    """Which of the numbers (p,) cannot be cosines; nan is none either."""
    wrong: Bool = ~(np.abs(values) <= 1 + TOLERANCE)
    return wrong
