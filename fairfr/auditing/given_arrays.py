"""Columns of an audit from arrays, for people who have no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.auditing.sample import Coded, Columns, Grouping
from fairfr.core.errors import DataError
from fairfr.core.text import shorten_list
from fairfr.core.types import F64, I32, UNKNOWN
from fairfr.library.arrays import as_numpy, check_names

Names: TypeAlias = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]
"""One name for each pair, or a tuple (left, right): one for each of its two images. Blank where unknown."""


def given_columns(
    score: npt.ArrayLike,
    same: npt.ArrayLike | None,
    groups: Mapping[str, Names] | None = None,
    identities: Names | None = None,
    what: str = "score",
) -> Columns:
    """Columns of arrays that have a value for each pair; ``what``: how ``score`` is called in messages."""
    values = read_numbers(score, what)
    n = len(values)
    label = people = None
    if same is not None:
        label = _labels(same, n)
    if identities is not None:
        people = _two_columns(identities, n, "identities")
    groupings = tuple(_grouping(name, of, n) for name, of in (groups or {}).items())
    return Columns(values, label, _numbered, groupings, people, argument=what)


def read_numbers(given: npt.ArrayLike, what: str, n: int | None = None) -> F64:
    """Numbers (n_pairs,); DataError for anything else."""
    array = as_numpy(given)
    if array.ndim != 1 or array.dtype.kind not in "fiub" or (n is not None and len(array) != n):
        wanted = "(n_pairs,)" if n is None else f"({n},)"
        raise DataError(f"{what} must be numbers of shape {wanted}, found {array.dtype} of shape {array.shape}.")
    return array.astype(np.float64)


def _labels(given: npt.ArrayLike, n: int) -> I32:
    array = as_numpy(given)
    if array.shape != (n,):
        raise DataError(f"same must have a label for each of the {n:,} pairs, found shape {array.shape}.")
    label = np.full(n, UNKNOWN, dtype=np.int32)
    readable = np.array([item in (0, 1) for item in array.tolist()], dtype=bool)
    label[readable] = array[readable].astype(np.int32)
    return label


def _grouping(name: str, given: Names, n: int) -> Grouping:
    if isinstance(given, tuple):
        return Grouping.of(name, *_two_columns(given, n, f"groups['{name}']"))
    return Grouping.of(name, coded_names(given, n, f"groups['{name}']"))


def _two_columns(given: Any, n: int, what: str) -> tuple[Coded, Coded]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(f"{what} must be two arrays: of the left and of the right images.")
    return coded_names(given[0], n, what), coded_names(given[1], n, what)


def coded_names(given: npt.ArrayLike, n: int, what: str) -> Coded:
    """Names (n,) as codes."""
    names = check_names(given, n, what)
    levels, codes = np.unique(names, return_inverse=True)
    if len(levels) and levels[0] == "":
        return Coded((codes - 1).astype(np.int32), tuple(levels[1:].tolist()))
    return Coded(codes.astype(np.int32), tuple(levels.tolist()))


def _numbered(rows: Sequence[int]) -> str:
    return f"pairs {shorten_list([str(row) for row in rows], len(rows))}, counting from 0"
