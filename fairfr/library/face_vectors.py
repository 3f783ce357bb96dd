"""Which training vectors are in a fitted model: counted among its arrays, whatever its method says of itself.

The vector of a face is a biometric template. A model that keeps some has to be handled like the images it was fitted
on, so the number goes into the file, and everything that shows a file says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.text import plural
from fairfr.core.types import F32, F64, Bool

KEY = "face_vectors"
NEAR = 1e-6
"""Two vectors of length 1 this close are one: float32 rounds to about 1e-7."""
AXES = 8
CHUNK = 4096  # rows at a time, so that no float64 copy of the whole exists

Array = npt.NDArray[Any]


def holds_text(holds: Mapping[str, int]) -> str:
    """For people: ``12,215 face vectors of training images: treat as biometric data``, or ``no face vectors``."""
    count = holds[KEY]
    if not count:
        return "no face vectors"
    return f"{plural(count, 'face vector')} of training images: treat as biometric data"


def count_face_vectors(arrays: Iterable[Array], vectors: F32) -> int:
    """How many of the training ``vectors`` (n, d), each of length 1, are rows of some array, at whatever scale.

    Columns, and rows that lie one behind the other, count as well.
    """
    n, d = vectors.shape
    axes = _axes(d)
    wanted = _projected(vectors, axes)
    found = np.zeros(n, dtype=bool)
    for array in arrays:
        for rows in _as_rows(array, d):
            found |= _found(vectors, wanted, rows, axes)
    return int(np.count_nonzero(found))


def _as_rows(array: Array, d: int) -> Iterator[Array]:
    """The ways to read an array as rows of d numbers."""
    if array.dtype.kind != "f" or not array.size:
        return
    if array.shape[-1:] and array.shape[-1] % d == 0:
        yield array.reshape(-1, d)
    if array.ndim == 2 and array.shape[0] == d:
        yield array.T


def _found(vectors: F32, wanted: F64, rows: Array, axes: F64) -> Bool:
    """Whether each of the vectors is among the rows, (n,).

    Rows near a vector are also near it on a few axes: those are searched, and what they find is compared in full.
    """
    from scipy.spatial import cKDTree

    # many equal rows would make the search slow
    places, first = np.unique(_projected(rows, axes), axis=0, return_index=True)
    finite = np.isfinite(places).all(axis=1)
    places, first = places[finite], first[finite]
    out = np.zeros(len(vectors), dtype=bool)
    if not len(places):
        return out
    distance, nearest = cKDTree(places).query(wanted, distance_upper_bound=NEAR)
    near = np.flatnonzero(np.isfinite(distance))
    for start in range(0, len(near), CHUNK):
        some = near[start : start + CHUNK]
        gap = _unit(rows[first[nearest[some]]]) - vectors[some]
        out[some] = np.linalg.norm(gap, axis=1) <= NEAR
    return out


def _axes(d: int) -> F64:
    """Some directions at right angles, (d, AXES or fewer): no two vectors are further apart along them than in full."""
    drawn = np.random.default_rng(0).normal(size=(d, min(d, AXES)))
    return np.linalg.qr(drawn)[0]


def _projected(rows: Array, axes: F64) -> F64:
    """Where the rows, at length 1, lie on the axes, (n, AXES or fewer)."""
    out = np.empty((len(rows), axes.shape[1]))
    for start in range(0, len(rows), CHUNK):
        out[start : start + CHUNK] = _unit(rows[start : start + CHUNK]) @ axes
    return out


def _unit(rows: Array) -> F64:
    """At length 1 in float64; NaN for rows of zeros, which are not a face's vector."""
    wide = rows.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return wide
