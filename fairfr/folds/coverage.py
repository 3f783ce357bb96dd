"""The published folds with fewer training pairs of one group: what does a thinly covered group lose?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fairfr.core.errors import ConfigError
from fairfr.core.types import I64, Bool, FoldSplit, VerificationSet
from fairfr.folds._draw import rng_of, stratified
from fairfr.folds._groups import grouping_of, level_of
from fairfr.folds.published import LeaveOneFoldOut


@dataclass(frozen=True, slots=True)
class LessOfOneGroup:
    """Leave one published fold out, and fit on all other pairs but only the share ``keep`` of those of ``group``.

    A pair counts to the group if one of its images does: a pair of two groups covers both. The sample keeps the share
    of genuine pairs, to a pair; a smaller one is part of every larger one of its ``repeat``. ``grouping`` names the
    property of images that ``group`` is a level of (None: the data set's own). The test folds stay as they are.
    """

    group: str
    keep: float = 1.0
    grouping: str | None = None
    repeat: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.keep <= 1:
            raise ConfigError(f"protocol.splitter.keep must be between 0 and 1, found {self.keep}.")
        if self.repeat < 0:
            raise ConfigError(f"protocol.splitter.repeat must not be negative, found {self.repeat}.")

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        grouping = grouping_of(data, self.grouping, "coverage")
        code = level_of(grouping, self.group, data.id)
        in_group = (grouping.codes[data.pairs.left] == code) | (grouping.codes[data.pairs.right] == code)
        for split in LeaveOneFoldOut().split(data):
            yield replace(split, train=self._thinned(split, data, in_group))

    def _thinned(self, split: FoldSplit, data: VerificationSet, in_group: Bool) -> I64:
        inside = in_group[split.train]
        theirs = split.train[inside]
        rng = rng_of("coverage", split.id, self.repeat)
        kept = theirs[stratified(data.same[theirs], round(self.keep * len(theirs)), rng)]
        return np.sort(np.concatenate([split.train[~inside], kept]))
