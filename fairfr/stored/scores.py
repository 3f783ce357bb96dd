"""A run's held-out values, as its reading and its groups ask for them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import F64, I16, I32, I64, UNKNOWN, PairRule, pair_groups
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.bootstrap import identities
from fairfr.store.parquet_files import SCORES_FILE, DictionaryColumn, ScoreFile
from fairfr.store.result_file import DamagedRunError, check_files
from fairfr.stored.run import SOURCE_LABEL, Run

log = logging.getLogger("fairfr")
ENOUGH_KNOWN = 0.95
"""People are known if so many of all sides of pairs name one."""
_whole: set[Path] = set()  # folders whose scores were compared with their checksum


class RunScores(ScoreFile):
    """The scores of one run, with what its result says about them."""

    def __init__(self, run: Run) -> None:
        if run.folder is None:
            raise FileNotFoundError(f"run {run.result.key} has no folder here, so its scores cannot be read")
        super().__init__(run.folder / SCORES_FILE)
        self.run = run

    @classmethod
    def if_available(cls, result: Run | None) -> RunScores | None:
        """The scores of a run, or None where the run or its file is missing (results may come without folders).

        Also None, with a line in the log, where the file is not the one that the run wrote.
        """
        if result is None or result.folder is None or not (result.folder / SCORES_FILE).is_file():
            return None
        if result.folder in _whole or _is_whole(result, result.folder):
            return cls(result)
        return None

    @property
    def ranking_values(self) -> F64:
        """What ranks the pairs, (p,): the probability of a method that has its own, where the reading asks for it."""
        if self.run.reading.ranks_by_probability and self.run.gives_probability:
            return self.probability
        return self.score

    @cached_property
    def people(self) -> tuple[I64, I64] | None:
        """Who is on both images of each pair, (p,) each; None if fewer than 95 % of the sides name somebody.

        An image without an identity shows the person of those that genuine pairs link it to, or one of its own.
        """
        if self.identities is None or np.mean([side >= 0 for side in self.identities]) < ENOUGH_KNOWN:
            return None
        left, right = self.images
        person = identities(left, right, self.same, self.identities)
        return person[left], person[right]

    def people_of(self, rows: I64) -> People | None:
        """Who is met in some of the pairs; None if that is not known."""
        if self.people is None:
            return None
        return People.of(self.people[0][rows], self.people[1][rows])

    @property
    def levels(self) -> tuple[str, ...]:
        """Groups of the data set's own grouping; none if it has no grouping."""
        return self.run.groups

    def pair_groups(self, rule: PairRule | None = None) -> I16:
        """Group of each pair as a position in ``levels``, (p,); -1 is none. ``rule``: another than the reading's."""
        if not self.levels:
            return np.full(len(self.same), UNKNOWN, dtype=np.int16)
        grouping = self.run.result.data.grouping
        assert grouping is not None
        left, right = self.groups(grouping, self.levels)
        return pair_groups(left, right, rule or self.run.reading.rule)


class ScoresInMemory(RunScores):
    """The scores of a run that has no folder: ``columns`` are those that its file would have."""

    def __init__(self, run: Run, columns: Mapping[str, npt.NDArray[Any] | DictionaryColumn]) -> None:
        self.run = run
        self._columns = columns
        self.pair = self._array("pair")
        self.same = self._array("same")
        self.cosine = self._array("cosine")
        self.score = self._array("score")
        self.probability = self._array("probability")

    @cached_property
    def images(self) -> tuple[I64, I64]:
        """As those of a file, numbered by their sorted ids."""
        left = self._columns["left"]
        right = self._columns["right"]
        assert isinstance(left, DictionaryColumn) and isinstance(right, DictionaryColumn)
        number = np.unique(np.asarray(left.values), return_inverse=True)[1]
        return number[left.codes], number[right.codes]

    @cached_property
    def identities(self) -> tuple[I32, I32]:
        """As those of a file."""
        left, right = (np.ma.filled(self._array(f"identity_{side}"), UNKNOWN) for side in ("left", "right"))
        return left, right

    @cached_property
    def fits(self) -> tuple[I64, list[str]]:
        """As those of a file."""
        if "fit" in self._columns:
            return self.words("fit")
        return self.words("split")

    def words(self, name: str) -> tuple[I64, list[Any]]:
        """A column of text as positions (p,) in a list of its distinct words; -1 where it is blank."""
        column = self._columns[name]
        assert isinstance(column, DictionaryColumn)
        return column.codes.astype(np.int64), list(column.values)

    def _array(self, name: str) -> npt.NDArray[Any]:
        column = self._columns[name]
        assert isinstance(column, np.ndarray)
        return column


def _is_whole(result: Run, folder: Path) -> bool:
    try:
        check_files(folder, result.result.files, [SCORES_FILE])
    except DamagedRunError as error:
        log.warning("left out: %s", error)
        return False
    _whole.add(folder)
    return True


def setting_label(result: Run) -> str:
    """Data set and backbone as a caption or title names them; a stand-in says so."""
    label = f"{result.result.dataset.label} x {result.result.backbone.label}"
    if result.result.is_synthetic:
        label += f" ({SOURCE_LABEL['synthetic']})"
    return label
