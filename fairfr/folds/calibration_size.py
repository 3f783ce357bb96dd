"""The published folds with fewer pairs to fit on: how much calibration data does a method need?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairfr.core.errors import ConfigError
from fairfr.core.types import I64, FoldSplit, VerificationSet
from fairfr.folds._draw import rng_of, stratified
from fairfr.folds.published import LeaveOneFoldOut


@dataclass(frozen=True, slots=True)
class FewerTrainingPairs:
    """Leave one published fold out, and fit on ``size`` of the other pairs (None: on all).

    The sample keeps the share of genuine pairs, to a pair. ``repeat`` is another sample of the same size. A smaller
    sample is part of every larger one of its repeat: a curve over sizes shows what more pairs add.
    """

    size: int | None = None
    repeat: int = 0

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 2:
            raise ConfigError(f"protocol.splitter.size must be at least 2, found {self.size}.")
        if self.repeat < 0:
            raise ConfigError(f"protocol.splitter.repeat must not be negative, found {self.repeat}.")

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        for split in LeaveOneFoldOut().split(data):
            yield replace(split, train=split.train if self.size is None else self._sample(split, data))

    def _sample(self, split: FoldSplit, data: VerificationSet) -> I64:
        assert self.size is not None
        if self.size > len(split.train):
            raise ConfigError(
                f"protocol.splitter.size={self.size}: the training folds of {data.id} have {len(split.train):,} pairs "
                f"when fold {split.id} is held out. Ask for no more than that, or for null: all of them."
            )
        rng = rng_of("calibration_size", split.id, self.repeat)
        return split.train[stratified(data.same[split.train], self.size, rng)]
