"""Which training vectors are in a fitted model: counted among its arrays, whatever its method says of itself.

The vector of a face is a biometric template. A model that keeps some has to be handled like the images it was fitted
on, so the number goes into the file, and everything that shows a file says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairfr.core.text import plural
from fairfr.core.types import F32, F64, I64, Bool, Pairs
from fairfr.pairs.vectors import pair_cosines

KEY = "face_vectors"
NEAR = 1e-6
"""Two vectors of length 1 this close are one: float32 rounds to about 1e-7."""
AXES = 8
CHUNK = 4096  # rows at a time, so that no float64 copy of the whole exists

Array = npt.NDArray[Any]


def holds_text(holds: Mapping[str, int]) -> str:
    """For people: ``numbers made of 12,215 face vectors of training images: ...``, or ``no face vectors``."""
    count = holds[KEY]
    if not count:
        return "no face vectors"
    return f"numbers made of {plural(count, 'face vector')} of training images: treat as biometric data"


def count_face_vectors(arrays: Iterable[Array], vectors: F32, pairs: Pairs | None = None) -> int:
    """How many of the training ``vectors`` (n, d), each of length 1, can be read from some array, at whatever scale.

    A vector counts if a row is that vector, or the midpoint of a training pair that it is in: as a template a midpoint
    recognises both people. Columns, and rows that lie one behind the other, count as well. ``pairs`` has the rows of
    both images (p,).
    """
    n, d = vectors.shape
    axes = _axes(d)
    alone = Wanted(_projected(vectors, axes), lambda some: vectors[some])
    midpoints: Wanted | None = None
    if pairs is not None:
        midpoints = _midpoints(vectors, pairs, alone.places)
    found = np.zeros(n, dtype=bool)
    for array in arrays:
        for rows in _as_rows(array, d):
            found |= _found(alone, rows, axes)
            if pairs is not None and midpoints is not None:
                inside = _found(midpoints, rows, axes)
                found[pairs.left[inside]] = True
                found[pairs.right[inside]] = True
    return int(np.count_nonzero(found))


class Wanted(NamedTuple):
    """Directions that are looked for: where all lie on the axes (m, AXES), and some of them in full (k, d)."""

    places: F64
    full: Callable[[I64], Array]


def _midpoints(vectors: F32, pairs: Pairs, places: F64) -> Wanted:
    """Of all pairs, without an array of them all: ``places`` are those of the vectors."""
    length = np.sqrt(np.maximum(2 + 2 * pair_cosines(vectors, pairs), NEAR))
    between = (places[pairs.left] + places[pairs.right]) / length[:, None]
    return Wanted(
        between, lambda some: _unit(vectors[pairs.left[some]].astype(np.float64) + vectors[pairs.right[some]])
    )


def _as_rows(array: Array, d: int) -> Iterator[Array]:
    """The ways to read an array as rows of d numbers."""
    if array.dtype.kind != "f" or not array.size:
        return
    if array.shape[-1:] and array.shape[-1] % d == 0:
        yield array.reshape(-1, d)
    if array.ndim == 2 and array.shape[0] == d:
        yield array.T


def _found(wanted: Wanted, rows: Array, axes: F64) -> Bool:
    """Whether each of the directions is among the rows, (m,).

    Rows near a direction are also near it on a few axes: those are searched, and what they find is compared in full.
    """
    from scipy.spatial import cKDTree

    # many equal rows would make the search slow
    places, first = np.unique(_projected(rows, axes), axis=0, return_index=True)
    finite = np.isfinite(places).all(axis=1)
    places, first = places[finite], first[finite]
    out = np.zeros(len(wanted.places), dtype=bool)
    if not len(places):
        return out
    distance, nearest = cKDTree(places).query(wanted.places, distance_upper_bound=NEAR)
    near = np.flatnonzero(np.isfinite(distance))
    for start in range(0, len(near), CHUNK):
        some = near[start : start + CHUNK]
        gap = _unit(rows[first[nearest[some]]]) - wanted.full(some)
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
