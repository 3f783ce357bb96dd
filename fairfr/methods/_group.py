"""Which group a pair belongs to, as far as a method may know."""

from __future__ import annotations

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import UnmetNeedError
from fairfr.core.types import I16, UNKNOWN, PairRule
from fairfr.pairs.view import PairView


def grouping_of(ctx: FitContext, asker: str) -> str:
    """The id of the grouping to use, or an error that says how to name one."""
    if ctx.grouping is None:
        raise UnmetNeedError(
            f"{asker} needs groups, but '{ctx.dataset}' is evaluated without any. "
            "Name the attribute columns of its images table: 'dataset.grouping=[ethnicity,gender]'."
        )
    return ctx.grouping


def pair_groups(view: PairView, grouping: str, rule: PairRule) -> I16:
    """Group of each pair, (p,).

    ``both``: -1 where the images differ or one is unknown; ``first``: the left image's, -1 where unknown.
    """
    left, right = view.ends(view.groups(grouping))
    if rule == "first":
        return left
    return np.where(left == right, left, np.int16(UNKNOWN))


def names_of(levels: tuple[str, ...], chosen: list[int]) -> list[str]:
    """Names of the groups with these codes, for a report."""
    return [levels[code] for code in chosen]
