"""What a number of a report is: a metric of all pairs, of one group, of the worst group, or groups lifted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fairfr.core.names import ALL
from fairfr.metrics.catalogue import METRIC_BY_ID, OverGroups, OwnTprAt, RateAt
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS
from fairfr.stored.run import Run

IDENTIFIER = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
LIFTED = "lifted"
"""In the place of a group: K/N, the worst-served groups that improve on the Baseline (``lifted_groups``)."""
NO_IMPROVEMENT = 1e-12  # a difference that rounding makes
"""Two maps that order pairs in the same way give the same AUROC up to rounding, which is not an improvement."""


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


class LiftedGroups(NamedTuple):
    """K of N groups: the longest run of groups, worst first, that all improve on the Baseline."""

    lifted: int
    groups: int

    @property
    def share(self) -> float:
        return self.lifted / self.groups

    def __str__(self) -> str:
        return f"{self.lifted}/{self.groups}"


def count_lifted(baseline: Mapping[str, float], method: Mapping[str, float]) -> LiftedGroups:
    """Order groups by their Baseline value, worst first, and count those lifted before the first that is not.

    Values are unrounded fold means, higher is better. N counts the groups that have a Baseline value; equals keep the
    order in which they are given; a group without a value of the method is not lifted.
    """
    worst_first = sorted(baseline, key=lambda group: baseline[group])
    lifted = 0
    for group in worst_first:
        if not method.get(group, float("-inf")) > baseline[group] + NO_IMPROVEMENT:
            break
        lifted += 1
    return LiftedGroups(lifted, len(worst_first))


def lifted_groups(run: Run, baseline: Run | None, metric: str) -> LiftedGroups | None:
    """K/N of a run against the Baseline's run of the same setting; None without it, or where no group has a value."""
    if baseline is None:
        return None
    found = count_lifted(baseline.by_group(metric), run.by_group(metric))
    if not found.groups:
        return None
    return found
