"""Keys with their vectors, and what one vector must look like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError


@dataclass(frozen=True, slots=True)
class KeyedVectors:
    """What one file or folder holds: ``keys`` and ``vectors`` (n, d) of float16, float32 or float64.

    ``blank`` are keys that are there without a vector, as where no face was found.
    """

    path: Path
    keys: tuple[str, ...]
    vectors: npt.NDArray[Any]
    blank: tuple[str, ...] = ()


def stack(path: Path, items: Iterable[tuple[str, Any]]) -> KeyedVectors:
    """A vector for each key; None and nan stand for one that could not be computed."""
    keys: list[str] = []
    rows: list[npt.NDArray[Any]] = []
    blank: list[str] = []
    for key, value in items:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            blank.append(key)
            continue
        row = _row(path, key, value)
        if rows and len(row) != len(rows[0]):
            raise DataError(
                f"{path}: the vector of '{key}' has {len(row)} values, that of '{keys[0]}' has {len(rows[0])}. "
                "All must have the same width."
            )
        keys.append(key)
        rows.append(row)
    if not rows:
        raise DataError(f"{path} holds no vectors. Export it again.")
    return KeyedVectors(path, tuple(keys), np.stack(rows), tuple(blank))


def _row(path: Path, key: str, value: Any) -> npt.NDArray[Any]:
    """One vector (d,) from (d,) or (1, d)."""
    row = _listed(value) if isinstance(value, list | tuple) else np.asarray(value)
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim != 1 or not row.size:
        raise DataError(f"{path}: the vector of '{key}' has the shape {row.shape}; it must be (d,) or (1, d).")
    return _floats(path, row, f"the vector of '{key}'")


def _listed(value: Any) -> npt.NDArray[Any]:
    """A vector that is kept as a list. Lists in lists are never unfolded: ten of ten of ten fill any memory."""
    inside = (list, tuple, np.ndarray)
    while isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], inside):
        value = value[0]
    nested = isinstance(value, list | tuple) and any(isinstance(part, inside) for part in value)
    return np.empty((0, 0)) if nested else np.asarray(value)


def aligned(path: Path, keys: Sequence[str], vectors: npt.NDArray[Any]) -> tuple[tuple[str, ...], npt.NDArray[Any]]:
    """Keys and vectors (n, d), given that they belong together in this order."""
    if vectors.ndim == 3 and vectors.shape[1] == 1:
        vectors = vectors[:, 0]
    if vectors.ndim != 2 or not vectors.size:
        raise DataError(f"{path}: the vectors have the shape {vectors.shape}; they must be (n, d).")
    if len(keys) != len(vectors):
        raise DataError(f"{path} has {len(vectors)} vectors for {len(keys)} names. Each vector needs its own name.")
    return tuple(keys), _floats(path, vectors, "the array of vectors")


def _floats(path: Path, values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise DataError(f"{path}: {what} is {values.dtype}; it must be float16, float32 or float64.")
    return values
