"""The published folds: leave one out, fit on the others, or on a random part of them.

``FewerTrainingPairs`` asks how much calibration data a method needs, ``LessOfOneGroup`` what a thinly covered group
loses. Their random samples are named by what they are for: the same for every method and in any order of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairfr.core.calibrator import rng_for
from fairfr.core.errors import ConfigError
from fairfr.core.types import I16, I64, Bool, FoldSplit, VerificationSet
from fairfr.folds._membership import group_code, protocol_grouping


@dataclass(frozen=True, slots=True)
class LeaveOneFoldOut:
    """One split for each fold of the pairs file, in the file's order."""

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        for code, label in enumerate(data.fold_labels):
            yield FoldSplit(label, partial(_all_but, data.fold, code), np.flatnonzero(data.fold == code))


def _all_but(fold: I16, code: int) -> I64:
    return np.flatnonzero(fold != code)


@dataclass(frozen=True, slots=True)
class FewerTrainingPairs:
    """Leave one published fold out, and fit on a random part of the other pairs.

    The sample keeps the share of genuine pairs, to a pair. A smaller sample is part of every larger one of its repeat:
    a curve over sizes shows what more pairs add.

    Parameters
    ----------
    size : int or None, default None
        How many pairs to fit on; None: all.
    repeat : int, default 0
        Number of the sample; each is another one of the same size.
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
            if self.size is None:
                yield split
            else:
                yield replace(split, train=self._sample(split, data, self.size))

    def _sample(self, split: FoldSplit, data: VerificationSet, size: int) -> I64:
        rows = split.train_rows()
        if size > len(rows):
            raise ConfigError(
                f"protocol.splitter.size={size}: the training folds of {data.id} have {len(rows):,} pairs "
                f"when fold {split.id} is held out. Ask for no more than that, or for null: all of them."
            )
        rng = rng_for("calibration_size", split.id, self.repeat)
        return rows[stratified_sample(data.same[rows], size, rng)]


@dataclass(frozen=True, slots=True)
class LessOfOneGroup:
    """Leave one published fold out, and fit on all other pairs but only a share of those of one group.

    A pair counts to the group if one of its images does: a pair of two groups covers both. The sample keeps the share
    of genuine pairs, to a pair; a smaller one is part of every larger one of its repeat. The test folds stay as they
    are.

    Parameters
    ----------
    group : str
        The group to thin out.
    keep : float, default 1.0
        Share of its training pairs to fit on.
    grouping : str or None, default None
        The property of images that ``group`` is a level of; None: the one that group-aware methods use.
    repeat : int, default 0
        Number of the sample; each is another one of the same size.
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
        grouping = protocol_grouping(data, self.grouping, "coverage")
        code = group_code(grouping, self.group, data.id)
        in_group = (grouping.codes[data.pairs.left] == code) | (grouping.codes[data.pairs.right] == code)
        for split in LeaveOneFoldOut().split(data):
            yield replace(split, train=self._thinned(split, data, in_group))

    def _thinned(self, split: FoldSplit, data: VerificationSet, in_group: Bool) -> I64:
        rows = split.train_rows()
        inside = in_group[rows]
        theirs = rows[inside]
        rng = rng_for("coverage", split.id, self.repeat)
        kept = theirs[stratified_sample(data.same[theirs], round(self.keep * len(theirs)), rng)]
        return np.sort(np.concatenate([rows[~inside], kept]))


def stratified_sample(same: Bool, size: int, rng: np.random.Generator) -> I64:
    """Draw pairs without replacement, keeping the share of genuine pairs, to a pair.

    Of a generator in the same state, a smaller sample is part of every larger one.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    size : int
        How many pairs to draw.
    rng : numpy.random.Generator
        Where the random order comes from.

    Returns
    -------
    ndarray of int64, shape (size,)
        Positions of the pairs drawn, ascending.
    """
    n_same = 0
    if len(same):
        n_same = round(size * float(same.mean()))
    order = rng.permutation(len(same))
    kept = [order[same[order]][:n_same], order[~same[order]][: size - n_same]]
    return np.sort(np.concatenate(kept))
