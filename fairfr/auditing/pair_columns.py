"""Read the table of pairs that is audited: csv, tsv or parquet, in the user's own columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.auditing.sample import Coded, Columns, Grouping
from fairfr.core.errors import ConfigError, DataError, did_you_mean
from fairfr.core.types import F64, I32, I64, UNKNOWN
from fairfr.data.files import DataFile
from fairfr.data.importers.bins import cut_column
from fairfr.data.importers.own_columns import DIFFERENT_WORDS, SAME_WORDS
from fairfr.data.text_table import TextTable, delimiter_of, read_table

SCORES = ("score", "similarity", "cosine")
DISTANCES = ("distance", "dist")
LABELS = ("label", "same", "match")
IDENTITIES = ("left_identity", "right_identity")
FOLD = "fold"
IDENTITIES_OF_A_RUN = ("identity_left", "identity_right")
OF_A_RUN = {"pair", "split", "same", "probability"}
"""Columns by which the scores.parquet of a run is known."""


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """How the columns of a table are called; None: by one of the usual names, if there is one.

    ``bins``: groups that are made from numbers, with the edges between them. ``images``: of the two images' ids, where
    a model is to compare vectors. Without ``needs_score`` the score is the probability, if there is one, else 0.
    """

    score: str | None = None
    distance: str | None = None
    label: str | None = None
    groups: tuple[str, ...] = ()
    identity_left: str | None = None
    identity_right: str | None = None
    fold: str | None = None
    probability: str | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    images: tuple[str, str] | None = None
    needs_score: bool = True


def read_columns(path: Path, wanted: ColumnNames) -> tuple[Columns, DataFile]:
    """Read the columns that an audit needs.

    Parameters
    ----------
    path : Path
        A csv, tsv or parquet file; commas, semicolons or tabs between cells.
    wanted : ColumnNames
        The names that the command line gives.

    Returns
    -------
    Columns, DataFile
        The columns as they are, not yet checked; and the file with the digest of its bytes.
    """
    file = DataFile.at(path)
    delimiter = delimiter_of(file)
    header = read_table(file, (), delimiter)
    found = _Header(path, header.names, wanted)
    table = read_table(file, found.used, delimiter)
    others = [name for name in header.names if name not in found.used]

    def other_cells(rows: I64) -> list[I32]:
        rest = read_table(file, others, delimiter)
        return [_codes(rest.arrays[name].take(rows)) for name in others]

    return replace(found.columns(table), other_cells=other_cells), file


def _codes(array: Any) -> I32:
    """Numbers (rows,) that are equal where the cells are, -1 for a cell without a value."""
    encoded = array.dictionary_encode()
    return np.asarray(encoded.indices.fill_null(UNKNOWN), dtype=np.int32)


class _Header:
    """Which column is what."""

    def __init__(self, path: Path, names: Sequence[str], wanted: ColumnNames) -> None:
        self._path = path
        self._stored = {name.strip(): name for name in names}
        self._score = self._distance = None
        self._is_of_a_run = set(names) >= OF_A_RUN
        if wanted.distance is None and wanted.needs_score:
            self._score = self._usual(wanted.score, SCORES)
        if wanted.score is None and wanted.needs_score:
            self._distance = self._usual(wanted.distance, DISTANCES)
        if self._score is not None and self._distance is not None:
            raise DataError(
                f"{path} has both '{self._score}' and '{self._distance}'. Say which one counts: --score or --distance."
            )
        if self._score is None and self._distance is None and wanted.needs_score:
            raise DataError(
                f"{path} has no column called {' or '.join((*SCORES, *DISTANCES))}. Name it with --score COL or "
                f"--distance COL. Its columns: {', '.join(self._stored)}."
            )
        self._images = wanted.images
        for name in wanted.images or ():
            self._known(name)
        self._label = self._usual(wanted.label, LABELS)
        self._identity = self._both_sides(wanted.identity_left, wanted.identity_right)
        self._fold = self._usual(wanted.fold, (FOLD,))
        self._probability = self._usual(wanted.probability, ())
        self._groups = {name: self._group(name) for name in wanted.groups}
        self._bins = wanted.bins
        for name in wanted.bins:
            if name not in self._groups:
                raise ConfigError(f"--bins {name}: name the group too, with --group {name}.")

    def _usual(self, given: str | None, usual: Sequence[str]) -> str | None:
        if given is not None:
            return self._known(given)
        there = [name for name in usual if name in self._stored]
        if len(there) > 1:
            raise DataError(f"{self._path} has {' and '.join(map(repr, there))}. Say which one counts, by its option.")
        return there[0] if there else None

    def _known(self, name: str) -> str:
        if name not in self._stored:
            raise DataError(f"{self._path} has no column '{name}'.{did_you_mean(name, self._stored)}")
        return name

    def _both_sides(self, left: str | None, right: str | None) -> tuple[str, str] | None:
        if left is None and right is None:
            usual = IDENTITIES_OF_A_RUN if self._is_of_a_run else IDENTITIES
            if all(name in self._stored for name in usual):
                return usual
            return None
        if left is None or right is None:
            raise DataError("--identity-left and --identity-right go together: name both columns.")
        return self._known(left), self._known(right)

    def _group(self, name: str) -> tuple[str, ...]:
        if name in self._stored:
            return (name,)
        sides = (f"left_{name}", f"right_{name}")
        if all(side in self._stored for side in sides):
            return sides
        raise DataError(
            f"{self._path} has neither a column '{name}' nor both '{sides[0]}' and '{sides[1]}'."
            f"{did_you_mean(name, self._stored)}"
        )

    @property
    def used(self) -> list[str]:
        """The columns to be read, as the file has them."""
        names = [self._score, self._distance, self._label, self._fold, self._probability]
        names += [*(self._identity or ()), *(self._images or ())]
        for columns in self._groups.values():
            names += columns
        return list(dict.fromkeys(self._stored[name] for name in names if name is not None))

    def columns(self, table: TextTable) -> Columns:
        """Their content."""
        identity = images = None
        if self._identity is not None:
            left, right = self._identity
            identity = (self._text(table, left), self._text(table, right))
        label = fold = probability = None
        if self._label is not None:
            label = _labels(self._text(table, self._label))
        if self._fold is not None:
            fold = self._text(table, self._fold).codes
        if self._probability is not None:
            probability = _numbers(table, self._stored[self._probability])
        if self._images is not None:
            images = (self._text(table, self._images[0]), self._text(table, self._images[1]))
        score = np.zeros(table.n_rows)
        named = self._score or self._distance
        if named is not None:
            score = _numbers(table, self._stored[named])
        elif probability is not None:
            score = probability
        return Columns(
            score=score,
            label=label,
            place=table.places,
            groupings=tuple(self._grouping(table, name, columns) for name, columns in self._groups.items()),
            identity=identity,
            fold=fold,
            probability=probability,
            is_distance=self._distance is not None,
            images=images,
        )

    def _text(self, table: TextTable, name: str) -> Coded:
        column = table.text(self._stored[name])
        levels = [value.strip() for value in column.values]
        names = tuple(sorted(set(levels)))
        place = {level: code for code, level in enumerate(names)}
        number = np.array([*(place[level] for level in levels), UNKNOWN], dtype=np.int32)
        return Coded(number[column.codes], names)

    def _sides(self, table: TextTable, columns: tuple[str, ...]) -> Sequence[Coded]:
        """One column for both images, or one for each of them."""
        sides = [self._text(table, column) for column in columns]
        if len(sides) == 1 and self._is_of_a_run and any("|" in level for level in sides[0].levels):
            return _both_ends(sides[0])
        return sides

    def _grouping(self, table: TextTable, name: str, columns: tuple[str, ...]) -> Grouping:
        if name not in self._bins:
            return Grouping.of(name, *self._sides(table, columns))
        cut = [cut_column(table, self._stored[column], self._bins[name]) for column in columns]
        return Grouping.of(name, *(Coded(column.codes, column.values) for column in cut))


def _both_ends(column: Coded) -> tuple[Coded, Coded]:
    """The groups of both images, where a run's scores.parquet has one word for them: ``asian|white``, ``|white``."""
    ends = [level.split("|") for level in column.levels]
    found: set[str] = set()
    for both in ends:
        found.update(both)
    names = tuple(sorted(found - {""}))
    place = {name: code for code, name in enumerate(names)} | {"": UNKNOWN}
    sides = []
    for end in (0, -1):
        number = np.array([*(place[both[end]] for both in ends), UNKNOWN], dtype=np.int32)
        sides.append(Coded(number[column.codes], names))
    return sides[0], sides[1]


def _labels(column: Coded) -> I32:
    """1 for genuine, 0 for impostor, -1 for what is neither."""
    label = np.full(len(column.levels) + 1, UNKNOWN, dtype=np.int32)
    for code, level in enumerate(column.levels):
        word = level.casefold()
        if word in SAME_WORDS:
            label[code] = 1
        elif word in DIFFERENT_WORDS:
            label[code] = 0
    return label[column.codes]


def _numbers(table: TextTable, name: str) -> F64:
    """A column as numbers (rows,); NaN where a cell is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = table.arrays[name]
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = pc.utf8_trim_whitespace(array)
        array = pc.if_else(pc.equal(array, ""), None, array)
    try:
        values = array.cast(pa.float64()).fill_null(math.nan)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.array([_number(cell) for cell in array.to_pylist()], dtype=np.float64)
    return np.array(values, dtype=np.float64)


def _number(cell: object) -> float:
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
