"""The tables of a run folder: scores.parquet, a row for each pair, and metrics.parquet, the metrics of each fold.

Scores are written from codes and read column by column: BFW has 924,000 pairs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.core.names import POOLED
from fairfr.core.storage import open_regular, translate_os_errors
from fairfr.core.text import error_summary
from fairfr.core.types import F64, I16, I32, I64, ROW_SIDES, UNKNOWN, Bool, MetricRow, PlaceholderIds, StrArray
from fairfr.store.result_file import DamagedRunError

METRICS_FILE = "metrics.parquet"

MetricId: TypeAlias = tuple[str, str, str, str]
"""Grouping, rule, group and metric: what names one number of a run."""

SCORES_FILE = "scores.parquet"
MAX_DICTIONARY_TEXTS = 100_000  # texts
ALLOWED_ROWS = 2_000_000  # that a table may always claim
ROWS_PER_BYTE = 20  # and so many for each of its bytes
DICTIONARY_BYTES = 2**26  # bytes of distinct texts, up to which a column refers to them by number


@dataclass(frozen=True, slots=True)
class DictionaryColumn:
    """A column of text that repeats few ``values``: ``codes`` (p,) index them; -1 is blank."""

    codes: npt.NDArray[np.integer[Any]]
    values: Sequence[str] | StrArray

    @property
    def is_high_cardinality(self) -> bool:
        """Whether a dictionary would be nearly as long as the column: parquet repeats it for each million rows."""
        return len(self.values) > max(MAX_DICTIONARY_TEXTS, len(self.codes) // 2)

    def tolist(self) -> list[str | None]:
        """The text of each row; None where it is blank."""
        return [None if code == UNKNOWN else self.values[code] for code in self.codes.tolist()]


def write_scores(path: Path, columns: Mapping[str, npt.NDArray[Any] | DictionaryColumn]) -> None:
    """scores.parquet. Text is stored as a dictionary and numbers into it; masked whole numbers become blanks."""
    import pandas as pd

    frame = pd.DataFrame({name: _pandas_column(column) for name, column in columns.items()}, copy=False)
    # scores, row numbers and distinct texts: to look for repetitions takes longer than to write them
    repetitive = list(frame.select_dtypes(["category", "Int32"]).columns)
    with translate_os_errors(path):
        frame.to_parquet(path, index=False, use_dictionary=repetitive, dictionary_pagesize_limit=DICTIONARY_BYTES)


def _pandas_column(column: npt.NDArray[Any] | DictionaryColumn) -> Any:
    import pandas as pd

    if isinstance(column, DictionaryColumn) and column.is_high_cardinality:
        return _texts(column)
    if isinstance(column, DictionaryColumn):
        return pd.Categorical.from_codes(column.codes, pd.Index(column.values, dtype="str"))
    if isinstance(column, np.ma.MaskedArray):
        return pd.arrays.IntegerArray(column.data, np.ma.getmaskarray(column))
    return column


def _texts(column: DictionaryColumn) -> Any:
    """The text of each row, none of them blank."""
    import pandas as pd

    if not isinstance(column.values, PlaceholderIds):
        return pd.array(column.values, dtype="str").take(column.codes)
    rows = pd.Series(column.codes // 2).astype("str")
    sides = pd.Series(pd.Categorical.from_codes(column.codes % 2, ROW_SIDES)).astype("str")
    return "row" + rows + "_" + sides


class ScoreFile:
    """The p held-out pairs of one run. A column is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def pair(self) -> I64:
        """Rows of the pairs file, (p,)."""
        return np.asarray(self._column("pair").to_numpy(), dtype=np.int64)

    @cached_property
    def same(self) -> Bool:
        return np.asarray(self._column("same").to_numpy(zero_copy_only=False), dtype=np.bool_)

    @cached_property
    def cosine(self) -> F64:
        return self._floats("cosine")

    @cached_property
    def score(self) -> F64:
        return self._floats("score")

    @cached_property
    def probability(self) -> F64:
        return self._floats("probability")

    @cached_property
    def images(self) -> tuple[I64, I64]:
        """Left and right image of each pair, (p,) each, as numbers from 0 that both sides share."""
        left, left_names = self.words("left")
        right, right_names = self.words("right")
        _, numbers = np.unique(np.array([*left_names, *right_names], dtype=object), return_inverse=True)
        return numbers[left], numbers[len(left_names) + right]

    @cached_property
    def identities(self) -> tuple[I32, I32]:
        """Code of the person on the left and right image of each pair, (p,) each, -1 where unknown."""
        left, right = (
            np.asarray(self._column(f"identity_{side}").fill_null(UNKNOWN).to_numpy(), dtype=np.int32)
            for side in ("left", "right")
        )
        return left, right

    @cached_property
    def fits(self) -> tuple[I64, list[str]]:
        """The fit that gave each score as a position (p,) in a list of names; that of its split unless the file says.

        With ``protocol=transfer`` one fit may score several splits, with ``leave_group_out`` several fits score one.
        """
        from pyarrow import parquet

        with _reading(self.path), open_regular(self.path) as file:
            names = parquet.read_schema(file).names
        return self.words("fit" if "fit" in names else "split")

    def groups(self, grouping: str, levels: tuple[str, ...]) -> tuple[I16, I16]:
        """Group of the left and right image of each pair as a position in ``levels``, (p,) each; -1 is unknown."""
        words, names = self.words(grouping)
        code = {"": UNKNOWN, **{level: position for position, level in enumerate(levels)}}
        ends = [_ends_of(name, code) for name in names]
        codes = np.array([*ends, (UNKNOWN, UNKNOWN)], dtype=np.int16)[words]  # no word: the last
        return codes[:, 0], codes[:, 1]

    def words(self, name: str) -> tuple[I64, list[Any]]:
        """A text column as positions (p,) in a list of its distinct words; -1 where it is null."""
        column = self._column(name)
        coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
        return np.asarray(coded.indices.fill_null(-1).to_numpy(), dtype=np.int64), coded.dictionary.to_pylist()

    def _floats(self, name: str) -> F64:
        return np.asarray(self._column(name).to_numpy(), dtype=np.float64)

    def _column(self, name: str) -> Any:
        return read_columns(self.path, [name])[name].combine_chunks()


def read_columns(path: Path, names: Sequence[str]) -> Any:
    """Columns of a table of a run folder, as an Arrow table. Raises DamagedRunError."""
    from pyarrow import parquet

    with _reading(path), open_regular(path) as file:
        table = parquet.ParquetFile(file)
        # a value that repeats takes no room: a kilobyte can claim a billion rows
        if table.metadata.num_rows > max(ALLOWED_ROWS, ROWS_PER_BYTE * os.fstat(file.fileno()).st_size):
            raise ValueError(f"{table.metadata.num_rows:,} rows are more than it can have values for")
        missing = [name for name in names if name not in table.schema_arrow.names]
        if missing:
            raise ValueError(f"it has no column {missing[0]}")
        return table.read(columns=list(names))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Meanwhile, a table that cannot be read is a DamagedRunError."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:  # Arrow's own errors are ValueErrors
        raise DamagedRunError(f"{path} cannot be read: {error_summary(error)}") from error


def _ends_of(word: str, code: Mapping[str, int]) -> tuple[int, int]:
    """Groups of the two images of a pair, read off the word for it; -1 is unknown.

    ``asian`` is a pair within a group and ``asian|white`` a mixed one; an unknown side is blank, as in ``|white``.
    """
    if word in code:
        return code[word], code[word]
    splits = ((word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == "|")
    return next(((code[a], code[b]) for a, b in splits if a in code and b in code), (UNKNOWN, UNKNOWN))


def write_metrics(path: Path, rows: Iterable[MetricRow]) -> None:
    """metrics.parquet: one tidy row per number."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(MetricRow._fields))
    with translate_os_errors(path):
        frame.to_parquet(path, index=False)


def fold_values(folder: Path) -> dict[MetricId, list[float | None]]:
    """Values of each metric in the order of the folds, (k,) each; None where a fold has none.

    Raises DamagedRunError.
    """
    columns = ("fold", "grouping", "rule", "group", "metric", "value")
    table = read_columns(folder / METRICS_FILE, columns)
    folds, *names, values = (table[column].to_pylist() for column in columns)
    position: dict[str, int] = {}
    for fold in folds:
        if fold != POOLED:
            position.setdefault(fold, len(position))
    found: dict[MetricId, list[float | None]] = {}
    for fold, row, value in zip(folds, zip(*names, strict=True), values, strict=True):
        if fold != POOLED:
            series = found.setdefault(row, [None] * len(position))
            series[position[fold]] = None if value is None or math.isnan(value) else value
    return found
