"""Vectors at length 1, and a mark by which a vector is known again."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import F32, F64, I64, StrArray, read_only

CHUNK = 4096  # rows at a time, so that no float64 copy of the whole exists


def unit_rows(vectors: npt.NDArray[np.floating[Any]], rows: I64) -> F32:
    """``vectors[rows]`` at length 1, (rows, d): normalised in float64, kept in float32, read-only."""
    unit = np.empty((len(rows), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), CHUNK):
        chunk: F64 = vectors[rows[start : start + CHUNK]].astype(np.float64)
        # to size 1 first: squares of very large or very small values leave the range of float64
        chunk /= np.abs(chunk).max(axis=1, keepdims=True)
        unit[start : start + CHUNK] = chunk / np.linalg.norm(chunk, axis=1, keepdims=True)
    return read_only(unit)


def fingerprints(vectors: F32) -> StrArray:
    """A mark of each row, (n,): 16 hex digits, the same for the same numbers in any table, and practically unique."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    return np.array([hashlib.blake2b(row.data, digest_size=8).hexdigest() for row in rows], dtype="<U16")
