"""Which group a pair belongs to, as far as a method may know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import missing_groups_error
from fairfr.core.serialization import serializable
from fairfr.core.types import I16, UNKNOWN, PairRule, pair_groups
from fairfr.pairs.view import PairView


def grouping_of(ctx: FitContext, asker: str) -> str:
    """The id of the grouping to use, or an error that says how to name one."""
    if ctx.grouping is None:
        raise missing_groups_error(asker, ctx.dataset)
    return ctx.grouping


@serializable("Levels")
@dataclass(frozen=True, slots=True)
class Levels:
    """The groups that a method was fitted with: a grouping, and the ``names`` of its levels.

    A group is its name. Codes are places in ``names``, so that they mean the same for every table.
    """

    grouping: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, view: PairView, ctx: FitContext, asker: str) -> Levels:
        """Those of the training pairs' table."""
        grouping = grouping_of(ctx, asker)
        return cls(grouping, view.group_levels(grouping))

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, view: PairView) -> I16:
        """Group of every image, (n,): its place in ``names``, -1 where unknown, and from ``len(names)`` on for groups
        that were not there in training: these are groups, but nothing was fitted for them."""
        theirs = view.group_levels(self.grouping)
        if theirs == self.names:
            return view.groups(self.grouping)
        own = {name: code for code, name in enumerate(self.names)}
        for name in theirs:
            own.setdefault(name, len(own))
        # one more entry at the end, so that code -1 (unknown) stays -1
        number = np.array([*(own[name] for name in theirs), UNKNOWN], dtype=np.int16)
        return number[view.groups(self.grouping)]


@serializable("GroupRule")
@dataclass(frozen=True, slots=True)
class GroupRule:
    """Puts pairs into groups: made once, when a method is fitted, and asked again when it predicts.

    ``both``: a pair is in the group that its images share; ``first``: in the left image's.
    """

    levels: Levels
    rule: PairRule

    def groups(self, view: PairView) -> I16:
        """Group of each pair, (p,); -1 where the rule finds none: mixed (``both``) or unknown."""
        return pair_groups(*self.ends(view), self.rule)

    def ends(self, view: PairView) -> tuple[I16, I16]:
        """Group of the left and of the right image of each pair, (p,) and (p,)."""
        left, right = view.ends(self.levels.codes(view))
        return left, right


def names_of(levels: tuple[str, ...], chosen: list[int]) -> list[str]:
    """Names of the groups with these codes, for a report."""
    return [levels[code] for code in chosen]
