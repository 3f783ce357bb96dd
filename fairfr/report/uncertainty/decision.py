"""What the paired intervals of one setting decide, in words: what is better, what is worse, what cannot be told.

A method is taken instead of a calibration of the score alone where its Brier score is lower and no group is found to
pay for it. What counts as an improvement has to lie outside the simultaneous band of all methods and measures; what
counts against a method needs only its own interval, so that harm is not overlooked for want of draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, NamedTuple, TypeAlias

from fairfr.core.names import ENOUGH_FALSE_MATCHES

Verdict: TypeAlias = Literal["better", "worse", "equal", "cannot be told"]
Interval: TypeAlias = tuple[float, float]
SAFE = "beta"
"""Calibrates the score alone: kept unless another method is shown to be better."""
CANDIDATES = ("ac_hinge", "ac_cohort")
"""May take its place: the first against it, the second against the first."""
ENOUGH_GENUINE = 100
"""With fewer genuine pairs a map of the score alone is all that can be fitted well."""
A_POINT = 0.01
"""So much of a group's true matches may be lost."""
CONDITIONS = "What no number shows: every group must be in the cohort, and the model's file may hold face vectors."


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of a method minus that of the reference, with its own interval and its part of a simultaneous band."""

    measure: str
    by: float
    interval: Interval
    band: Interval
    higher_is_better: bool
    digits: int = 4

    @property
    def verdict(self) -> Verdict:
        """What the band says, as it is printed."""
        low, high = (round(end, self.digits) for end in self.band)
        if low == high == 0:
            return "equal"
        if low > 0 or high < 0:
            return "better" if (low > 0) == self.higher_is_better else "worse"
        return "cannot be told"

    def __str__(self) -> str:
        if isnan(self.by) or isnan(self.band[0]):
            return self.measure
        low, high = self.band
        return f"{self.measure} ({self.by:+.{self.digits}f} [{low:+.{self.digits}f}, {high:+.{self.digits}f}])"


class GroupChange(NamedTuple):
    """What a method does to one group at the wanted false match rate, beside the reference.

    ``false_matches`` of the method and of the reference; ``fmr`` and ``fmr_by`` the intervals of the method's rate and
    of its difference; ``fnmr_by`` that of the difference in false non-matches.
    """

    group: str
    false_matches: tuple[float, float]
    fmr: Interval
    fmr_by: Interval
    fnmr_by: Interval

    @property
    def can_be_told(self) -> bool:
        """Whether one of both has enough false matches to judge the rate."""
        return max(self.false_matches) >= ENOUGH_FALSE_MATCHES


class Trial(NamedTuple):
    """A method that may take the place of the reference. ``brier``: the interval of the difference that must be < 0."""

    method: str
    reference: str
    brier: Interval
    groups: tuple[GroupChange, ...]


class Judgement(NamedTuple):
    """``taken``: yes, no, or None where the groups' rates cannot be told. ``reasons`` as they are printed."""

    taken: bool | None
    reasons: tuple[str, ...]


def sentence(method: str, reference: str, differences: Sequence[Difference]) -> str:
    """For one method: what is better than the reference, what is worse, and what cannot be told."""
    parts = []
    headings: tuple[tuple[Verdict, str], ...] = (
        ("better", "better in"),
        ("worse", "worse in"),
        ("equal", "equal in"),
        ("cannot be told", "cannot be told:"),
    )
    for verdict, heading in headings:
        named = [str(one) for one in differences if one.verdict == verdict]
        if named:
            parts.append(f"{heading} {', '.join(named)}")
    return f"{method} against {reference}: {'; '.join(parts)}."


def judge_trial(trial: Trial, fpr: float, level: str) -> Judgement:
    """Whether a method is taken: lower Brier score, no group above the wanted rate by it, none that loses a point."""
    against = []
    if not trial.brier[1] < 0:
        against.append(f"its Brier score is not found to be lower than that of {trial.reference}")
    for group in trial.groups:
        if group.can_be_told and group.fmr[0] > fpr and group.fmr_by[0] > 0:
            against.append(f"it raises the FMR of {group.group} further above {level}")
        if group.fnmr_by[0] > A_POINT:
            against.append(f"it takes more than a point of true matches from {group.group}")
    if against:
        return Judgement(False, tuple(against))
    told = [group for group in trial.groups if group.can_be_told]
    if not told:
        return Judgement(None, (f"its Brier score is lower, but {_untold(trial.groups, level)}",))
    reasons = [
        f"lower Brier score than {trial.reference}",
        f"no group found with an FMR above {level} and above that of {trial.reference}",
        "no group found to lose more than a point of true matches",
    ]
    return Judgement(True, tuple(reasons))


def advise(trial: Trial, successor: Trial | None, n_genuine: int, fpr: float, level: str) -> str:
    """Which method to take, in words.

    Parameters
    ----------
    trial
        A method against the safe one, which is kept unless the other is shown to be better.
    successor
        Another method against that one, taken in its place if the same holds for it.
    n_genuine
        Genuine pairs of the data.
    fpr, level
        The false match rate that is wanted, and how it is spelled.
    """
    safe = trial.reference
    if n_genuine < ENOUGH_GENUINE:
        return f"Stay with {safe}: {n_genuine} genuine pairs are too few for more than a map of the score."
    found = judge_trial(trial, fpr, level)
    if found.taken is None:
        return f"Whether to take {trial.method} instead of {safe} cannot be told: {found.reasons[0]}."
    if not found.taken:
        return f"Stay with {safe}. Not {trial.method}: {'; '.join(found.reasons)}."
    taken = trial
    said = []
    if successor is not None:
        instead = judge_trial(successor, fpr, level)
        if instead.taken:
            taken = successor
            said.append(f"Take {successor.method}: {', '.join(instead.reasons)}.")
            said.append(f"{trial.method} passes the same against {safe}.")
        else:
            said.append(f"Not {successor.method} instead: {'; '.join(instead.reasons)}.")
    if taken is trial:
        said.insert(0, f"Take {trial.method}: {', '.join(found.reasons)}.")
    untold = [group for group in taken.groups if not group.can_be_told]
    if untold:
        said.append(f"The FMR cannot be told for {_counted(untold)}.")
    return " ".join([*said, CONDITIONS])


def _untold(groups: Sequence[GroupChange], level: str) -> str:
    if not groups:
        return "the data has no groups, so nobody can tell whether one pays for it: give it a grouping"
    return f"no group has {ENOUGH_FALSE_MATCHES} false matches at FMR {level} to tell whether one pays for it"


def _counted(groups: Sequence[GroupChange]) -> str:
    return ", ".join(f"{group.group} ({max(group.false_matches):.0f} false matches)" for group in groups)
