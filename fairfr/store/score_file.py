"""scores.parquet, read column by column: BFW has 924,000 pairs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.types import F64, I16, I32, I64, UNKNOWN, Bool

FILE = "scores.parquet"


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
        (left, left_names), (right, right_names) = self.words("left"), self.words("right")
        _, numbers = np.unique(np.array([*left_names, *right_names], dtype=object), return_inverse=True)
        return numbers[left], numbers[len(left_names) + right]

    @cached_property
    def identities(self) -> tuple[I32, I32] | None:
        """Code of the person on the left and right image of each pair, (p,) each, -1 where unknown.

        None for a file that was written before runs kept them.
        """
        from pyarrow import parquet

        if "identity_left" not in parquet.read_schema(self.path).names:
            return None
        left, right = (
            np.asarray(self._column(f"identity_{side}").fill_null(UNKNOWN).to_numpy(), dtype=np.int32)
            for side in ("left", "right")
        )
        return left, right

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
        from pyarrow import parquet

        return parquet.read_table(self.path, columns=[name])[name].combine_chunks()


def _ends_of(word: str, code: Mapping[str, int]) -> tuple[int, int]:
    """Groups of the two images of a pair, read off the word that stands for it; -1 is unknown.

    ``asian`` is a pair within a group and ``asian|white`` a mixed one; an unknown side is blank, as in ``|white``.
    """
    if word in code:
        return code[word], code[word]
    splits = ((word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == "|")
    return next(((code[a], code[b]) for a, b in splits if a in code and b in code), (UNKNOWN, UNKNOWN))
