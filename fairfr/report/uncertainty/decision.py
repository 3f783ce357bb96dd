"""What the paired intervals of one setting decide, in words: what is better, what is worse, what is undetermined.

A method is taken instead of a calibration of the score alone where its Brier score is lower and no group is found to
pay for it. What counts as an improvement has to lie outside the simultaneous band of all methods and measures; what
counts against a method needs only its own interval, so that harm is not overlooked for want of draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Literal, NamedTuple, TypeAlias

from fairfr.core.names import ENOUGH_FALSE_MATCHES

Verdict: TypeAlias = Literal["better", "worse", "equal", "undetermined"]
Interval: TypeAlias = tuple[float, float]
SAFE = "beta"
"""Calibrates the score alone: kept unless another method is shown to be better."""
CANDIDATES = ("ac_hinge", "ac_cohort")
"""May take its place: the first against it, the second against the first."""
ENOUGH_GENUINE = 100
"""With fewer genuine pairs a map of the score alone is all that can be fitted well."""
A_POINT = 0.01
"""So much of a group's true matches may be lost."""
CONDITION = "What no number shows: every group must be among the training pairs."
"""Of the first candidate, which keeps weights alone."""
CONDITIONS = "What no number shows: every group must be in the cohort, and the model's file may hold face vectors."
"""Of the second."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of a method minus that of the reference, with its own interval and its part of a simultaneous band.

    ``false_matches`` of the group that it rests on most weakly; infinite where it rests on all pairs.
    """

    measure: str
    by: float
    interval: Interval
    band: Interval
    higher_is_better: bool
    digits: int = 4
    false_matches: float = inf

    @property
    def rests_on_few(self) -> bool:
        """Whether too few false matches of a group are behind it to be steady."""
        return self.false_matches < ENOUGH_FALSE_MATCHES

    @property
    def verdict(self) -> Verdict:
        """What the band says, as it is printed."""
        low, high = (round(end, self.digits) for end in self.band)
        if low == high == 0:
            return "equal"
        if low > 0 or high < 0:
            return "better" if (low > 0) == self.higher_is_better else "worse"
        return "undetermined"

    def __str__(self) -> str:
        if isnan(self.by) or isnan(self.band[0]):
            return self.measure
        low, high = self.band
        few = ""
        if self.rests_on_few:
            few = f", {_false_matches(self.false_matches)} in one group"
        form = f"+z.{self.digits}f"
        return f"{self.measure} ({self.by:{form}} [{low:{form}}, {high:{form}}]{few})"


class GroupChange(NamedTuple):
    """What a method does to one group at a wanted false match rate, ``level`` as it is spelled, beside the reference.

    ``false_matches`` of the method and of the reference; ``fmr`` is the interval of the method's rate alone, ``fmr_by``
    that of its difference, ``fnmr_by`` that of the difference in false non-matches.
    """

    group: str
    level: str
    false_matches: tuple[float, float]
    fmr: Interval
    fmr_by: Interval
    fnmr_by: Interval

    @property
    def can_be_told(self) -> bool:
        """Whether one of both has enough false matches to judge the rate."""
        return max(self.false_matches) >= ENOUGH_FALSE_MATCHES


class Trial(NamedTuple):
    """A method that may take the place of the reference. ``brier``: the interval of the difference that must be < 0.

    ``groups``: each group at each wanted rate.
    """

    method: str
    reference: str
    brier: Interval
    groups: tuple[GroupChange, ...]


class Judgement(NamedTuple):
    """``taken``: yes, no, or None where the groups' rates are undetermined. ``reasons`` as they are printed."""

    taken: bool | None
    reasons: tuple[str, ...]


def sentence(method: str, reference: str, differences: Sequence[Difference]) -> str:
    """For one method: what is better than the reference, what is worse, and what is undetermined."""
    parts = []
    headings: tuple[tuple[Verdict, str], ...] = (
        ("better", "better in"),
        ("worse", "worse in"),
        ("equal", "equal in"),
        ("undetermined", "undetermined:"),
    )
    for verdict, heading in headings:
        named = [str(one) for one in differences if one.verdict == verdict]
        if verdict == "equal":  # as printed all ends are zero
            named = [one.measure for one in differences if one.verdict == verdict]
        if named:
            parts.append(f"{heading} {', '.join(named)}")
    return f"{method} against {reference}: {'; '.join(parts)}."


def judge_trial(trial: Trial) -> Judgement:
    """Whether a method is taken: lower Brier score, no group above a wanted rate by it, none that loses a point."""
    against = []
    if not trial.brier[1] < 0:
        against.append(f"its Brier score is not found to be lower than that of {trial.reference}")
    for one in trial.groups:
        if one.can_be_told and one.fmr[0] > float(one.level) and one.fmr_by[0] > 0:
            against.append(f"it raises the FMR of {one.group} further above {one.level}")
        if one.fnmr_by[0] > A_POINT:
            against.append(f"at FPR {one.level} it takes more than a point of true matches from {one.group}")
    if against:
        return Judgement(False, tuple(against))
    if not any(one.can_be_told for one in trial.groups):
        return Judgement(None, (f"its Brier score is lower, but {_untold(trial.groups)}",))
    levels = " or ".join(dict.fromkeys(one.level for one in trial.groups))
    reasons = [
        f"lower Brier score than {trial.reference}",
        f"no group found with an FMR above {levels} and above that of {trial.reference}",
        "no group found to lose more than a point of true matches",
    ]
    return Judgement(True, tuple(reasons))


def advise(trial: Trial, successor: Trial | None, n_genuine: int) -> str:
    """Which method to take, in words.

    Parameters
    ----------
    trial
        A method against the safe one, which is kept unless the other is shown to be better.
    successor
        Another method against that one, taken in its place if the same holds for it.
    n_genuine
        Genuine pairs of the data.
    """
    safe = trial.reference
    if n_genuine < ENOUGH_GENUINE:
        return f"Stay with {safe}: {n_genuine} genuine pairs are too few for more than a map of the score."
    found = judge_trial(trial)
    if found.taken is None:
        return f"Whether to take {trial.method} instead of {safe} is undetermined: {found.reasons[0]}."
    if not found.taken:
        return f"Stay with {safe}. Not {trial.method}: {'; '.join(found.reasons)}."
    taken = trial
    said = []
    if successor is not None:
        instead = judge_trial(successor)
        if instead.taken:
            taken = successor
            said.append(f"Take {successor.method}: {', '.join(instead.reasons)}.")
            said.append(f"{trial.method} passes the same against {safe}.")
        else:
            said.append(f"Not {successor.method} instead: {'; '.join(instead.reasons)}.")
    if taken is trial:
        said.insert(0, f"Take {trial.method}: {', '.join(found.reasons)}.")
    said += _undetermined(taken.groups)
    said.append(CONDITION if taken is trial else CONDITIONS)
    return " ".join(said)


def _untold(groups: Sequence[GroupChange]) -> str:
    if not groups:
        return "no group can be judged: the data has no groups, too few impostors, or a rate that no threshold meets"
    return f"no group has {ENOUGH_FALSE_MATCHES} false matches to tell whether one pays for it"


def _undetermined(groups: Sequence[GroupChange]) -> list[str]:
    """A sentence for each wanted rate that names the groups with too few false matches."""
    untold: dict[str, list[str]] = {}
    for one in groups:
        if not one.can_be_told:
            untold.setdefault(one.level, []).append(f"{one.group} ({_false_matches(max(one.false_matches))})")
    return [f"The FMR at {level} is undetermined for {', '.join(named)}." for level, named in untold.items()]


def _false_matches(count: float) -> str:
    if round(count) == 1:
        return "1 false match"
    return f"{count:.0f} false matches"
