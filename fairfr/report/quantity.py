"""What a number of a report is: a metric of all pairs, of one group, of the worst group, or groups lifted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairfr.core.names import ALL
from fairfr.metrics.catalogue import METRIC_BY_ID, OverGroups, OwnTprAt, RateAt
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS

IDENTIFIER = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
LIFTED = "lifted"
"""In the place of a group: K/N, the worst-served groups that improve on the Baseline (``tables.columns``)."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """``group`` is ``all``, ``worst``, ``gap``, ``lifted`` or the name of a group. Direction and FPR follow from the
    catalogue of metrics."""

    metric: str
    group: str = ALL
    label: str = ""

    @property
    def higher_is_better(self) -> bool | None:
        """None: neither direction is good."""
        if self.group == LIFTED:
            return True
        return higher_is_better(self.metric)

    @property
    def alpha(self) -> str | None:
        """The false positive rate that the number depends on, as the catalogue spells it; None if on none."""
        how = METRIC_BY_ID[self.metric].compute
        if isinstance(how, OverGroups):
            how = METRIC_BY_ID[how.metric].compute
        if not isinstance(how, RateAt | OwnTprAt):
            return None
        for name, level in ALL_FPR_LEVELS.items():
            if level == how.alpha:
                return name
        return None


def group_words(group: str) -> str:
    """``asian_female`` as ``asian female``; other names are not changed, so that names stay distinct."""
    if IDENTIFIER.fullmatch(group):
        return group.replace("_", " ")
    return group


def group_heading(group: str) -> str:
    """``Asian female``, for the head of a column."""
    if IDENTIFIER.fullmatch(group):
        return group_words(group).capitalize()
    return group


def higher_is_better(metric: str) -> bool | None:
    """Which direction of a metric is good; None for neither."""
    better = METRIC_BY_ID[metric].better
    if better is None:
        return None
    return better == "higher"
