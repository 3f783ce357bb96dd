"""Midpoints of a batch of pairs, shifted and scaled, in one pass: compiled, and apart because importing numba costs
half a second."""

from __future__ import annotations

from fairfr.core.types import F32, F64, I64
from fairfr.pairs.compiled import compiled


@compiled(error_model="numpy")
def standardised(rows: F64, left: I64, right: I64, mean: F64, scale: F64, out: F32) -> None:
    """out (b, >= d): ((rows[left] + rows[right]) / 2 - mean) / scale, by column."""
    for i in range(len(left)):
        a, b, target = rows[left[i]], rows[right[i]], out[i]
        for c in range(len(a)):
            target[c] = ((a[c] + b[c]) / 2 - mean[c]) / scale[c]


@compiled(error_model="numpy")
def directions(rows: F64, left: I64, right: I64, length: F64, out: F32) -> None:
    """out (b, >= d): (rows[left] + rows[right]) / 2 / length, by row."""
    for i in range(len(left)):
        a, b, target, by = rows[left[i]], rows[right[i]], out[i], length[i]
        for c in range(len(a)):
            target[c] = (a[c] + b[c]) / 2 / by
