"""The pairs that are audited: scores, labels, groups and people, checked once.

A row that cannot be right is refused, with its number; or it is left out and counted, if that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError
from fairfr.core.text import plural
from fairfr.core.types import F64, I32, I64, UNKNOWN, Bool
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.roc import auroc_of, roc_curve

BadRows: TypeAlias = Literal["refuse", "leave-out"]

MOST_LEVELS = 50
ENOUGH_KNOWN = 0.95
"""People are known if so many of all sides of pairs name one."""
NAMED_ROWS = 3


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of names: ``codes`` (p,) index ``levels``, -1 where it is blank."""

    codes: I32
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Grouping:
    """Groups of both sides of each pair: ``left`` and ``right`` (p,), codes of ``levels``, -1 where unknown.

    ``sides`` is 1 if one column says the group of both images.
    """

    id: str
    levels: tuple[str, ...]
    left: I32
    right: I32
    sides: int

    @classmethod
    def of(cls, id: str, left: Coded, right: Coded | None = None) -> Grouping:
        """One column for both images, or one for each of them."""
        if right is None:
            return cls._checked(cls(id, left.levels, left.codes, left.codes, 1))
        levels = tuple(sorted({*left.levels, *right.levels}))
        return cls._checked(cls(id, levels, _recoded(left, levels), _recoded(right, levels), 2))

    @staticmethod
    def _checked(grouping: Grouping) -> Grouping:
        found = len(grouping.levels)
        if found > MOST_LEVELS:
            raise DataError(
                f"group '{grouping.id}' has {found:,} different values, such as '{grouping.levels[0]}'; at most "
                f"{MOST_LEVELS} can be compared. Join values, or cut numbers into bins: --bins {grouping.id}=30,60 "
                "(arrays: numpy.digitize)."
            )
        return grouping

    @cached_property
    def inside(self) -> I32:
        """The group of each pair, (p,): -1 where the two images are of different or unknown groups."""
        return np.where(self.left == self.right, self.left, UNKNOWN).astype(np.int32)

    @cached_property
    def across(self) -> Bool:
        """Pairs of two different known groups, (p,)."""
        different: Bool = (self.left != self.right) & (self.left != UNKNOWN) & (self.right != UNKNOWN)
        return different

    def keep(self, chosen: Bool | I64) -> Grouping:
        return Grouping(self.id, self.levels, self.left[chosen], self.right[chosen], self.sides)


def _recoded(column: Coded, levels: tuple[str, ...]) -> I32:
    place = {level: code for code, level in enumerate(levels)}
    number = np.array([*(place[level] for level in column.levels), UNKNOWN], dtype=np.int32)
    return number[column.codes]


@dataclass(frozen=True)
class Sample:
    """Checked pairs. ``similarity`` (p,) is higher for more similar images: the score, or minus the distance.

    ``same`` (p,) is None without labels. ``people``: codes of the two people of each pair, None where they are not
    known. ``left_out`` counts rows by what was wrong with them, ``repeated`` those that repeat another.
    """

    similarity: F64
    same: Bool | None
    is_distance: bool = False
    groupings: tuple[Grouping, ...] = ()
    people: tuple[I64, I64] | None = None
    fold: I32 | None = None
    probability: F64 | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.similarity)

    @property
    def n_people(self) -> int | None:
        """How many people are met; None where they are not known."""
        if self.people is None:
            return None
        return len(np.union1d(*self.people))

    @property
    def orientation(self) -> str:
        """What was handed over: ``score`` or ``distance``."""
        if self.is_distance:
            return "distance"
        return "score"

    def shown(self, similarity: float) -> float:
        """A similarity in the user's units."""
        if self.is_distance:
            return -similarity
        return similarity

    def part(self, rows: I64) -> Sample:
        """Some of the pairs."""
        people = None
        if self.people is not None:
            people = (self.people[0][rows], self.people[1][rows])
        return replace(
            self,
            similarity=self.similarity[rows],
            same=_rows(self.same, rows),
            groupings=tuple(grouping.keep(rows) for grouping in self.groupings),
            people=people,
            fold=_rows(self.fold, rows),
            probability=_rows(self.probability, rows),
        )

    def people_of(self, chosen: Bool | I64) -> People | None:
        """Who is met in some of the pairs; None where that is not known."""
        if self.people is None:
            return None
        left, right = self.people
        return People.of(left[chosen], right[chosen])


@dataclass(frozen=True, slots=True)
class Columns:
    """What was handed over, row by row, before anything is checked.

    ``label`` (p,): 1, 0, and -1 where it cannot be read. ``identity``: of the left and of the right images.
    ``place`` names some rows for a message. ``other_cells`` has the columns that are not audited, of some rows.
    ``images``: ids of the left and of the right images, where a model is to compare them. ``argument``: what the score
    is called where arrays were handed over; None for columns of a file.
    """

    score: F64
    label: I32 | None
    place: Callable[[Sequence[int]], str]
    groupings: tuple[Grouping, ...] = ()
    identity: tuple[Coded, Coded] | None = None
    fold: I32 | None = None
    probability: F64 | None = None
    is_distance: bool = False
    other_cells: Callable[[I64], list[npt.NDArray[Any]]] | None = None
    images: tuple[Coded, Coded] | None = None
    argument: str | None = None


def check_sample(given: Columns, bad_rows: BadRows = "refuse") -> Sample:
    """Refuse, or leave out, what cannot be right.

    Parameters
    ----------
    given : Columns
        The rows.
    bad_rows : {"refuse", "leave-out"}, default "refuse"
        What becomes of rows that contradict themselves or cannot be read.

    Returns
    -------
    Sample
        The other rows.

    Raises
    ------
    DataError
        For bad rows, for no rows at all, and where impostors score higher than genuine pairs.
    """
    keep = np.ones(len(given.score), dtype=bool)
    left_out: dict[str, int] = {}
    for reason, arguments, wrong in _problems(given):
        first = wrong & keep
        if not first.any():
            continue
        if bad_rows == "refuse":
            rows = np.flatnonzero(first)
            remedy = "Correct them, or leave such rows out: --bad-rows leave-out."
            if given.argument is not None:
                remedy = f"Correct {arguments}, or leave these pairs out of every array."
            raise DataError(
                f"{plural(len(rows), 'row')}: {reason} ({given.place(rows[:NAMED_ROWS].tolist())}). {remedy}"
            )
        left_out[reason] = int(np.count_nonzero(first))
        keep &= ~first
    if not keep.any():
        raise DataError("there is no pair that can be audited. Check the file, and the names of its columns.")
    sample = _kept(given, keep, left_out)
    _check_direction(sample, given.argument)
    return sample


def _problems(given: Columns) -> Iterator[tuple[str, str, Bool]]:
    """What may be wrong with rows, in which arguments if they are arrays, and with which rows."""
    score = given.argument or "score"
    yield f"the {score} is not a finite number", score, ~np.isfinite(given.score)
    if given.label is not None:
        yield "the label cannot be read", "same", given.label < 0
    if given.probability is not None:
        outside = ~((given.probability >= 0) & (given.probability <= 1))
        yield "the probability is not between 0 and 1", "probability", outside
    if given.identity is not None and given.label is not None:
        left, right = _people(given.identity)
        known = (given.identity[0].codes != UNKNOWN) & (given.identity[1].codes != UNKNOWN)
        one = known & (given.label == 1) & (left != right)
        yield "labelled as one person, with two identities", "same or identities", one
        two = known & (given.label == 0) & (left == right)
        yield "labelled as two people, with one identity", "same or identities", two


def _people(identity: tuple[Coded, Coded]) -> tuple[I64, I64]:
    """Codes of the people of both sides; each blank side is a person of its own."""
    names = tuple(sorted({*identity[0].levels, *identity[1].levels}))
    ends = np.concatenate([_recoded(column, names) for column in identity]).astype(np.int64)
    blank = np.flatnonzero(ends == UNKNOWN)
    ends[blank] = len(names) + np.arange(len(blank))
    half = len(identity[0].codes)
    return ends[:half], ends[half:]


def _kept(given: Columns, keep: Bool, left_out: dict[str, int]) -> Sample:
    similarity = given.score[keep]
    if given.is_distance:
        similarity = -similarity
    same = None
    if given.label is not None:
        same = given.label[keep] == 1
    return Sample(
        similarity=similarity,
        same=same,
        is_distance=given.is_distance,
        groupings=tuple(grouping.keep(keep) for grouping in given.groupings),
        people=_known_people(given, keep),
        fold=_rows(given.fold, keep),
        probability=_rows(given.probability, keep),
        left_out=left_out,
        repeated=_repeated(given, keep),
    )


def _rows(column: Any, chosen: Bool | I64) -> Any:
    """Some rows of a column; None where there is no column."""
    if column is None:
        return None
    return column[chosen]


def _known_people(given: Columns, keep: Bool) -> tuple[I64, I64] | None:
    if given.identity is None:
        return None
    named = [column.codes[keep] != UNKNOWN for column in given.identity]
    if np.mean(named) < ENOUGH_KNOWN:
        return None
    left, right = _people(given.identity)
    left = left[keep]
    right = right[keep]
    if given.label is not None:
        # a genuine pair with one blank side shows the person of the other
        same = given.label[keep] == 1
        left = np.where(same & ~named[0], right, left)
        right = np.where(same, left, right)
    return left, right


def _repeated(given: Columns, keep: Bool) -> int:
    """How many rows are the same as an earlier one, in every cell."""
    columns: list[npt.NDArray[Any]] = [given.score[keep]]
    columns += [_rows(column, keep) for column in (given.label, given.fold, given.probability) if column is not None]
    columns += [column.codes[keep] for column in (*(given.identity or ()), *(given.images or ()))]
    for grouping in given.groupings:
        columns += [grouping.left[keep], grouping.right[keep]]
    order, is_repeated = _repeats(columns)
    if given.other_cells is None or not is_repeated.any():
        return int(np.count_nonzero(is_repeated))
    candidates = np.union1d(order[1:][is_repeated], order[:-1][is_repeated])
    columns = [column[candidates] for column in columns]
    _, is_repeated = _repeats([*columns, *given.other_cells(np.flatnonzero(keep)[candidates])])
    return int(np.count_nonzero(is_repeated))


def _repeats(columns: Sequence[npt.NDArray[Any]]) -> tuple[I64, Bool]:
    """Rows in an order that brings equal ones together, and which of them but the first are like the one before."""
    order = np.lexsort(columns)
    equal = np.ones(len(order) - 1, dtype=bool)
    for column in columns:
        in_order = column[order]
        equal &= in_order[1:] == in_order[:-1]
    return order, equal


def _check_direction(sample: Sample, argument: str | None) -> None:
    if sample.same is None:
        return
    area = auroc_of(roc_curve(sample.same, sample.similarity))
    if not area < 0.5:  # pairs of one kind have none
        return
    kind = "distances"
    use = "--distance COL"
    if sample.is_distance:
        kind = "scores that are higher for more similar images"
        use = "--score COL"
    if argument is not None:
        use = f"distance={not sample.is_distance}"
    advice = f"swapped labels, or {kind}: use {use}."
    if argument == "probability":
        advice = "are the labels in same swapped?"
    raise DataError(f"impostors rank above genuine pairs (AUROC {area:.3f}): {advice}")
