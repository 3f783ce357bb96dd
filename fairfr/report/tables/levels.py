"""LU-AUROC and LD-TPR: how many of the worst-served groups a method lifts before it fails one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fairfr.report.run import Reading, Run

TOLERANCE = 1e-12
"""Two maps that order pairs in the same way give the same AUROC up to rounding, which is not an improvement."""


class LiftedGroups(NamedTuple):
    """K of N groups: the longest run of groups, worst first, that all improve on the Baseline."""

    lifted: int
    groups: int

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
        if not method.get(group, float("-inf")) > baseline[group] + TOLERANCE:
            break
        lifted += 1
    return LiftedGroups(lifted, len(worst_first))


def lifted_groups(result: Run, baseline: Run, metric: str, reading: Reading) -> LiftedGroups | None:
    """K/N of a run against the Baseline's run of the same setting; None where no group has a value."""
    found = count_lifted(group_means(baseline, metric, reading), group_means(result, metric, reading))
    if not found.groups:
        return None
    return found


def group_means(result: Run, metric: str, reading: Reading) -> dict[str, float]:
    """The fold mean of each group that has one, in the order of the data's levels."""
    means = {group: result.mean(metric, group, reading) for group in group_names(result)}
    return {group: mean for group, mean in means.items() if mean is not None and mean == mean}


def group_names(result: Run) -> tuple[str, ...]:
    """The groups that the data set's grouping tells apart."""
    data = result.result.data
    return data.groups.get(data.grouping or "", ())
