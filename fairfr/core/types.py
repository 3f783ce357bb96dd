"""The types that packages exchange: frozen values of numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from fairfr.core.findings import Finding
from fairfr.core.names import placeholder_id

F32: TypeAlias = npt.NDArray[np.float32]
F64: TypeAlias = npt.NDArray[np.float64]
I16: TypeAlias = npt.NDArray[np.int16]
I32: TypeAlias = npt.NDArray[np.int32]
I64: TypeAlias = npt.NDArray[np.int64]
Bool: TypeAlias = npt.NDArray[np.bool_]
StrArray: TypeAlias = npt.NDArray[np.str_]

Need: TypeAlias = Literal["embeddings", "groups", "identities"]
PairRule: TypeAlias = Literal["both", "first"]
Source: TypeAlias = Literal["files", "synthetic"]

PAIR_RULES: tuple[PairRule, ...] = ("both", "first")
ROW_SIDES = ("left", "right")
UNKNOWN = -1


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, with writing switched off: shared data is never modified in place."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True)
class PlaceholderIds(Sequence[str]):
    """Names of images that have none, two for each of ``n_rows`` rows: ``row0_left``, ``row0_right``, ``row1_left``.

    Spelled out only where they are read: millions of texts would take most of a run's time and memory.
    """

    n_rows: int

    def __len__(self) -> int:
        return 2 * self.n_rows

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self[place] for place in range(*at.indices(len(self))))
        place = range(len(self))[at]
        return placeholder_id(place // 2, ROW_SIDES[place % 2])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self[:], dtype=dtype or np.str_)


@dataclass(frozen=True, slots=True)
class EmbeddingSet:
    """One backbone's vectors: ``images`` (n,) and unit rows ``vectors`` (n, d)."""

    id: str
    digest: str
    images: StrArray
    vectors: F32


@dataclass(frozen=True, slots=True)
class Pairs:
    """A pair is two row numbers into the image table, never two vectors."""

    left: I32
    right: I32

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: I64) -> Pairs:
        return Pairs(self.left[rows], self.right[rows])

    def compact(self, n: int) -> tuple[I64, Pairs]:
        """Which of n images are used, (u,), ascending, and the same pairs as places among these."""
        if 16 * len(self) < n:
            rows, places = np.unique(np.concatenate([self.left, self.right]), return_inverse=True)
            place = places.astype(np.int32)
            return rows.astype(np.int64), Pairs(place[: len(self)], place[len(self) :])
        used = np.zeros(n, dtype=bool)
        used[self.left] = used[self.right] = True
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(used), Pairs(number[self.left], number[self.right])


@dataclass(frozen=True, slots=True)
class Grouping:
    """A property of images: ``codes`` (n,) index ``levels``; -1 is unknown."""

    id: str
    levels: tuple[str, ...]
    codes: I16

    def of(self, pairs: Pairs, rule: PairRule) -> I16:
        """Group of each pair (p,): see ``pair_groups``."""
        return pair_groups(self.codes[pairs.left], self.codes[pairs.right], rule)


def pair_groups(left: I16, right: I16, rule: PairRule) -> I16:
    """Group of each pair (p,) from those of its images ``left`` and ``right`` (p,).

    ``both``: the group that they share, -1 for mixed pairs; ``first``: the left image's.
    """
    return left if rule == "first" else np.where(left == right, left, np.int16(UNKNOWN))


def cross_groupings(groupings: tuple[Grouping, ...]) -> Grouping:
    """The product of several groupings: level ``asian_female``; any unknown part makes the whole unknown.

    Only combinations that occur become levels, in lexicographic order of the parts' own order.
    """
    if len(groupings) == 1:
        return groupings[0]
    flat = np.zeros(len(groupings[0].codes), dtype=np.int64)
    known = np.ones(len(flat), dtype=bool)
    for part in groupings:
        flat = flat * len(part.levels) + part.codes
        known &= part.codes != UNKNOWN
    present = np.unique(flat[known])
    codes = np.where(known, np.searchsorted(present, flat), UNKNOWN).astype(np.int16)
    shape = tuple(len(part.levels) for part in groupings)
    names = [
        "_".join(part.levels[i] for part, i in zip(groupings, index, strict=True))
        for index in zip(*np.unravel_index(present, shape), strict=True)
    ]
    return Grouping("_x_".join(part.id for part in groupings), tuple(names), codes)


@dataclass(frozen=True, slots=True)
class VerificationSet:
    """Labelled pairs over a table of images, with what is known about each image.

    ``embeddings`` is None for a scores-only set, which brings ``cosine`` (p,) instead. ``fold`` (p,) indexes
    ``fold_labels``; ``identity`` (n,) is -1 where unknown and otherwise indexes ``people``, names that mean the same
    in every set (None: the codes themselves do). ``groupings`` are for evaluation; the one called ``grouping`` (None:
    the set has no groups) is what group-aware methods use. ``row`` (p,) is the row of the pairs file each pair came
    from (None: its own position). ``group_columns`` are columns that could be groups, with their numbers of levels,
    where none are named.
    """

    id: str
    source: Source
    backbone: str
    digest: str
    images: StrArray | PlaceholderIds
    identity: I32
    pairs: Pairs
    same: Bool
    fold: I16
    fold_labels: tuple[str, ...]
    groupings: Mapping[str, Grouping]
    grouping: str | None
    embeddings: EmbeddingSet | None
    cosine: F64 | None = None
    row: I64 | None = None
    warnings: tuple[Finding, ...] = ()
    people: tuple[str, ...] | None = None
    group_columns: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_pairs(self) -> int:
        return len(self.pairs)

    def take(self, rows: I64) -> VerificationSet:
        """The same set with some of its pairs only; ``rows`` (q,) strictly increasing."""
        if len(rows) == self.n_pairs:
            return self
        return replace(
            self,
            pairs=self.pairs.take(rows),
            same=self.same[rows],
            fold=self.fold[rows],
            cosine=None if self.cosine is None else self.cosine[rows],
            row=rows if self.row is None else self.row[rows],
        )


@dataclass(frozen=True, slots=True)
class FoldSplit:
    """Rows to fit on and rows to score.

    Over all splits no row is tested twice; pairs that none tests are not part of the result.

    Parameters
    ----------
    id : str
        Name of the split.
    train : ndarray of int64, shape (n_train,), or callable that returns one
        Rows of the same table, disjoint from ``test``; where a protocol has a training set of its own, rows of that
        set. A function saves memory: with many folds each fits on nearly all pairs, and only the rows of the fits that
        run now need to exist. Read them with ``train_rows()``.
    test : ndarray of int64, shape (n_test,)
        Rows of the pair table to score.
    fold : str, default ``id``
        The fold whose metrics the scores belong to; splits that share one are measured together.
    fit_id : str, default ``id``
        Splits that share one have the same training rows, follow one another, and are scored by one fitted method,
        whose random numbers it seeds.
    findings : tuple of Finding
        What a reader of the scores should know about the split; one that several splits share is shown once.
    """

    id: str
    train: I64 | Callable[[], I64]
    test: I64
    fold: str = ""
    fit_id: str = ""
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        for name in ("fold", "fit_id"):
            object.__setattr__(self, name, getattr(self, name) or self.id)

    def train_rows(self) -> I64:
        """Rows to fit on, (n_train,); made again by each call where ``train`` is a function."""
        if callable(self.train):
            return self.train()
        return self.train


class Prediction(NamedTuple):
    """``score`` (p,): any real; higher means more similar. ``probability`` (p,) in [0, 1], or None."""

    score: F64
    probability: F64 | None = None


@dataclass(frozen=True, slots=True)
class ScoreFrame:
    """Held-out scores of one cell: one entry per scored pair, in the set's order, all finite."""

    fold: I16
    same: Bool
    score: F64
    probability: F64


class MetricRow(NamedTuple):
    """One number: a metric of one fold (or ``pooled``), for one group (or ``all``, ``worst``, ``gap``)."""

    fold: str
    grouping: str
    rule: str
    group: str
    metric: str
    value: float
    n_same: int
    n_diff: int
