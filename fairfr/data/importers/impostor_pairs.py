"""Impostor pairs inside groups and folds, counted and drawn without a list of all that there are.

Images are put in the order of group, fold and person. The partners of an image are then those that follow its own
person, up to the end of its group and fold: every pair has a number, and cumulated counts find its two images. So
memory follows the pairs that are drawn, and never those that would be possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfr.core.types import I64


@dataclass(frozen=True, slots=True)
class ImpostorPairs:
    """All pairs of two people of one group and fold; the numbers of a group's pairs follow each other.

    ``image`` (n,): rows of images in order; ``partners`` (n,): where in this order the partners of each one begin;
    ``before`` (n + 1,): how many pairs come before those of each image; ``starts`` (g + 1,): each group's first pair.
    """

    image: I64
    partners: I64
    before: I64
    starts: I64

    @classmethod
    def of(cls, group: I64, fold: I64, person: I64) -> ImpostorPairs:
        """Count the pairs of images of these groups 0..g-1, folds and people, (n,) each."""
        order = np.lexsort((person, fold, group))
        new_part = _changes(group[order]) | _changes(fold[order])
        part_ends = _ends(new_part)
        person_ends = _ends(new_part | _changes(person[order]))
        before = np.concatenate([[0], np.cumsum(part_ends - person_ends)])
        groups = np.arange(int(group.max(initial=-1)) + 2)
        starts = before[np.searchsorted(group[order], groups)]
        return cls(order, person_ends, before, starts)

    @property
    def possible(self) -> I64:
        """How many pairs each group has (g,)."""
        return np.diff(self.starts)

    def draw(self, counts: I64, rng: np.random.Generator) -> tuple[I64, I64]:
        """So many different pairs of each group (g,), each equally likely: left and right rows of images."""
        chosen = [np.empty(0, dtype=np.int64)]
        for start, possible, count in zip(self.starts, self.possible, counts, strict=False):
            chosen.append(start + draw_different(int(possible), int(count), rng))
        number = np.concatenate(chosen)
        place = np.searchsorted(self.before, number, side="right") - 1
        partner = self.partners[place] + number - self.before[place]
        return self.image[place], self.image[partner]


def _changes(value: I64) -> np.typing.NDArray[np.bool_]:
    """Where a value differs from the one before it; the first one does."""
    changed = np.ones(len(value), dtype=bool)
    changed[1:] = value[1:] != value[:-1]
    return changed


def _ends(begins: np.typing.NDArray[np.bool_]) -> I64:
    """For each place, where the next part begins (n,), given where parts begin."""
    bounds = np.append(np.flatnonzero(begins), len(begins))
    ends: I64 = np.repeat(bounds[1:], np.diff(bounds))
    return ends


def draw_different(possible: int, count: int, rng: np.random.Generator) -> I64:
    """``count`` different ones of the numbers below ``possible``, sorted; any such set is equally likely."""
    if 2 * count > possible:
        keep = np.ones(possible, dtype=bool)
        keep[draw_different(possible, possible - count, rng)] = False
        return np.flatnonzero(keep)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = rng.integers(possible, size=count - len(drawn))
        drawn = np.union1d(drawn, more)
    return drawn


def share_out(wanted: Sequence[int] | I64, most: int) -> I64:
    """What each group gets (g,) where all may have ``most`` together: small ones all, the others the same number."""
    wanted = np.asarray(wanted, dtype=np.int64)
    given = np.zeros(len(wanted), dtype=np.int64)
    for done, group in enumerate(np.argsort(wanted, kind="stable")):
        given[group] = min(int(wanted[group]), most // (len(wanted) - done))
        most -= int(given[group])
    return given
