"""Unit vectors, fingerprints by which a vector is known again, and cosines of pairs."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import F32, F64, I64, Bool, Pairs, StrArray, read_only

ROWS_PER_CHUNK = 4096  # so that no float64 copy of the whole exists
COSINE_RANGE = (-1.0, 1.0)
COSINE_TOLERANCE = 1e-6  # cosines computed in float32 overshoot 1 by rounding


def unit_rows(vectors: npt.NDArray[np.floating[Any]], rows: I64) -> F32:
    """``vectors[rows]`` at length 1, (rows, d): normalised in float64, kept in float32, read-only."""
    unit = np.empty((len(rows), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), ROWS_PER_CHUNK):
        chunk: F64 = vectors[rows[start : start + ROWS_PER_CHUNK]].astype(np.float64)
        # to size 1 first: squares of very large or very small values leave the range of float64
        chunk /= np.abs(chunk).max(axis=1, keepdims=True)
        unit[start : start + ROWS_PER_CHUNK] = chunk / np.linalg.norm(chunk, axis=1, keepdims=True)
    return read_only(unit)


def fingerprints(vectors: F32) -> StrArray:
    """A mark of each row, (n,): 16 hex digits, the same for the same numbers in any table, and practically unique."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    return np.array([hashlib.blake2b(row.data, digest_size=8).hexdigest() for row in rows], dtype="<U16")


def pair_cosines(vectors: F32, pairs: Pairs) -> F64:
    """z_left . z_right for unit rows, (p,): products and sums in float64, a chunk of pairs at a time."""
    out = np.empty(len(pairs))
    for start in range(0, len(pairs), ROWS_PER_CHUNK):
        part = slice(start, start + ROWS_PER_CHUNK)
        left = vectors[pairs.left[part]].astype(np.float64)
        out[part] = np.einsum("ij,ij->i", left, vectors[pairs.right[part]].astype(np.float64))
    return np.clip(out, *COSINE_RANGE, out=out)


def invalid_cosines(values: F64) -> Bool:
    """Which of the numbers (p,) cannot be cosines; nan is none either."""
    wrong: Bool = ~(np.abs(values) <= 1 + COSINE_TOLERANCE)
    return wrong
