"""Which group a pair belongs to, as far as a method may know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import no_groups
from fairfr.core.types import I16, UNKNOWN, PairRule
from fairfr.pairs.view import PairView


def grouping_of(ctx: FitContext, asker: str) -> str:
    """The id of the grouping to use, or an error that says how to name one."""
    if ctx.grouping is None:
        raise no_groups(asker, ctx.dataset)
    return ctx.grouping


@dataclass(frozen=True, slots=True)
class GroupRule:
    """Puts pairs into groups: made once, when a method is fitted, and asked again when it predicts.

    ``both``: a pair is in the group that its images share; ``first``: in the left image's.
    """

    grouping: str
    rule: PairRule

    def groups(self, view: PairView) -> I16:
        """Group of each pair, (p,); -1 where the rule finds none: mixed (``both``) or unknown."""
        left, right = view.ends(view.groups(self.grouping))
        if self.rule == "first":
            return left
        return np.where(left == right, left, np.int16(UNKNOWN))

    def levels(self, view: PairView) -> tuple[str, ...]:
        """Names of the groups that the codes index."""
        return view.group_levels(self.grouping)


def names_of(levels: tuple[str, ...], chosen: list[int]) -> list[str]:
    """Names of the groups with these codes, for a report."""
    return [levels[code] for code in chosen]
