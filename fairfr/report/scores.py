"""A run's held-out values, read column by column from its scores.parquet."""

from __future__ import annotations

import logging
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.types import F64, I16, I32, I64, UNKNOWN, Bool, PairRule
from fairfr.report.readings import RULE, Reading, Result
from fairfr.store.reading import DamagedRunError, check_files

FILE = "scores.parquet"

log = logging.getLogger("fairfr")
_whole: set[Path] = set()  # folders whose scores were compared with their checksum


class Scores:
    """The p held-out pairs of one run. A column is read when it is first asked for: BFW has 924,000 pairs."""

    def __init__(self, result: Result) -> None:
        if result.folder is None:
            raise FileNotFoundError(f"run {result.stored['key']} has no folder here, so its scores are not at hand")
        self.result = result
        self.path = result.folder / FILE

    @classmethod
    def at_hand(cls, result: Result | None) -> Scores | None:
        """The scores of a run, or None where the run or its file is missing (results may come without folders).

        Also None, with a line in the log, where the file is not the one that the run wrote.
        """
        if result is None or result.folder is None or not (result.folder / FILE).is_file():
            return None
        return cls(result) if result.folder in _whole or _is_whole(result, result.folder) else None

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

    def ranked(self, reading: Reading) -> F64:
        """What ranks the pairs, (p,): the probability of a method that has its own in the paper's reading."""
        native = self.result.stored["method"]["native_probability"]
        return self.probability if reading == "paper" and native else self.score

    @cached_property
    def images(self) -> tuple[I64, I64]:
        """Left and right image of each pair, (p,) each, as numbers from 0 that both sides share."""
        (left, left_names), (right, right_names) = self._words("left"), self._words("right")
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

    @property
    def levels(self) -> tuple[str, ...]:
        """Groups of the data set's own grouping; none if it has no grouping."""
        data = self.result.stored["data"]
        return tuple(data["groups"][data["grouping"]]) if data.get("grouping") else ()

    def groups(self, reading: Reading) -> I16:
        """Group of each pair as a position in ``levels``, (p,); -1 is none."""
        if not self.levels:
            return np.full(len(self.same), UNKNOWN, dtype=np.int16)
        rule: PairRule = "first" if RULE[reading] == "first" else "both"
        words, names = self._words(self.result.stored["data"]["grouping"])
        codes = np.array([*(level_of(name, self.levels, rule) for name in names), UNKNOWN], dtype=np.int16)
        return codes[words]

    def _floats(self, name: str) -> F64:
        return np.asarray(self._column(name).to_numpy(), dtype=np.float64)

    def _words(self, name: str) -> tuple[I64, list[Any]]:
        """A text column as positions (p,) in a list of its distinct words; -1 where it is null."""
        column = self._column(name)
        coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
        return np.asarray(coded.indices.fill_null(-1).to_numpy(), dtype=np.int64), coded.dictionary.to_pylist()

    def _column(self, name: str) -> Any:
        from pyarrow import parquet

        return parquet.read_table(self.path, columns=[name])[name].combine_chunks()


def _is_whole(result: Result, folder: Path) -> bool:
    try:
        check_files(folder, result.stored, [FILE])
    except DamagedRunError as error:
        log.warning("left out: %s", error)
        return False
    _whole.add(folder)
    return True


def level_of(word: str, levels: tuple[str, ...], rule: PairRule) -> int:
    """Position of a pair's group under a rule, read off the word that stands in scores.parquet; -1 is none.

    ``asian`` is a pair within a group and ``asian|white`` a mixed one; an unknown side is blank, as in ``|white``.
    """
    first, bar, _ = word.partition("|")
    if (bar and rule == "both") or first not in levels:
        return UNKNOWN
    return levels.index(first)


def where(result: Result) -> str:
    """Data set and backbone as a caption or title names them; a stand-in says so."""
    synthetic = " (SYNTHETIC stand-in, not faces)" if result.stored["source"] == "synthetic" else ""
    return f"{result.stored['dataset']['label']} x {result.stored['backbone']['label']}{synthetic}"
