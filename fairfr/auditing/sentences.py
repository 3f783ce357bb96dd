"""What an audit says in sentences: what is sure, what is unclear, and what should be known beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairfr.auditing.group_rates import (
    CURRENT,
    KINDS,
    AtLeast,
    GroupRates,
    Kind,
    Level,
    MeasuredRates,
    Rate,
    largest_ratio,
    needed_times,
)
from fairfr.auditing.probabilities import GroupCalibration, Probabilities
from fairfr.auditing.sample import Sample
from fairfr.core.text import plural

Certainty: TypeAlias = Literal["sure", "unclear", "note"]

TOO_LARGE_ECCE = 0.01
IMPOSTOR_LIKE = 0.01
HIGHER_ONLY = 1.1
"""Below so many times, a rate is said to be higher, without a number."""
MOST_GROUPS = 8
ALPHA = 0.05
NAME: dict[Kind, str] = {"fmr": "FMR", "fnmr": "FNMR"}
WHAT: dict[Kind, tuple[str, str]] = {"fmr": ("impostor", "accepted"), "fnmr": ("genuine", "rejected")}


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One sentence."""

    kind: Certainty
    text: str


@dataclass(frozen=True)
class Wording:
    """How thresholds are named: in the user's units."""

    sample: Sample

    def place(self, level: Level, threshold: float | None) -> str:
        """``0.4`` for the threshold in use, ``FMR 1e-3 (0.3065)`` for a level."""
        if threshold is None:
            return f"FMR {level_text(level)} (no threshold)"
        shown = f"{self.sample.shown(threshold):.4g}"
        if isinstance(level, str):
            return shown
        return f"FMR {level_text(level)} ({shown})"


def level_text(level: Level) -> str:
    """``1e-3`` for .001."""
    if isinstance(level, str):
        return level
    text = f"{level:.0e}".replace("e-0", "e-")
    if math.isclose(float(text), level):
        return text
    return f"{level:g}"


def percent(share: float) -> str:
    """Three digits: ``0.0123 %``."""
    if share == 0:
        return "0 %"
    return f"{float(f'{100 * share:.3g}'):g} %"


def rounded_down(times: float) -> str:
    """Two digits, never more than the bound itself: 1.698 is ``1.6``, 27.6 is ``27``, 1.99 is ``1.9``."""
    step = 10.0 ** (math.floor(math.log10(times)) - 1)
    down = math.floor(times / step + 1e-9) * step
    if step >= 1:
        return f"{down:.0f}"
    return f"{down:.{max(1, -round(math.log10(step)))}f}"


def listed(texts: Sequence[str]) -> str:
    """The first eight, and how many more there are."""
    text = ", ".join(texts[:MOST_GROUPS])
    if len(texts) > MOST_GROUPS:
        text += f" and {len(texts) - MOST_GROUPS} more"
    return text


def find(sample: Sample, rates: MeasuredRates, probabilities: Probabilities | None) -> list[AuditFinding]:
    """All sentences: what is sure first, then what is unclear, then notes."""
    found = [*_of_rates(sample, rates), *_of_probabilities(sample, probabilities), *notes_of(sample, rates)]
    order: tuple[Certainty, ...] = ("sure", "unclear", "note")
    found.sort(key=lambda finding: order.index(finding.kind))
    return [*of_people(sample), *found]


def notes_of(sample: Sample, rates: MeasuredRates) -> Iterator[AuditFinding]:
    """What should be known of the pairs themselves."""
    yield from _of_the_sample(sample)
    yield from _of_genuine_pairs(rates)
    yield from _of_groups(sample)
    if sample.repeated:
        yield AuditFinding("note", f"{plural(sample.repeated, 'row')} repeat another; all were kept.")


def of_people(sample: Sample) -> Iterator[AuditFinding]:
    """First of all, because everything else rests on it."""
    if sample.people is None and sample.same is not None:
        yield AuditFinding(
            "unclear",
            "It is not known who is on the images. Pairs are treated as independent: the intervals are too narrow (on "
            "real faces 1.0 to 3.5 times).",
        )


def _of_the_sample(sample: Sample) -> Iterator[AuditFinding]:
    if sample.same is None:
        yield AuditFinding("note", "There are no labels: no error rate can be measured.")
        return
    for reason, rows in sample.left_out.items():
        yield AuditFinding("note", f"{plural(rows, 'row')} left out: {reason}.")


# -- rates -----------------------------------------------------------------------------------------------------------


def _of_rates(sample: Sample, rates: MeasuredRates) -> Iterator[AuditFinding]:
    levels = rates.levels
    if CURRENT in levels:
        levels = [CURRENT]  # the sentences are about the threshold in use; the page shows the others
    wording = Wording(sample)
    for level in levels:
        (everything,) = rates.at(level, None)
        place = wording.place(level, everything.threshold)
        if everything.needed is not None:
            yield AuditFinding("unclear", f"At {place}: {_too_few([everything])}")
            continue
        if level == CURRENT:
            yield _all_pairs(place, everything)
        for grouping in sample.groupings:
            yield from _of_groups_at(place, level, rates.at(level, grouping.id), rates.people_known)


def _all_pairs(place: str, everything: GroupRates) -> AuditFinding:
    parts = []
    for kind in KINDS:
        rate = everything.rate(kind)
        what, verb = WHAT[kind]
        if rate.errors.pairs == 0:
            continue
        counted = f"{rate.errors.errors:,} of {rate.errors.pairs:,} {what} pairs were {verb}"
        parts.append(f"{counted} ({NAME[kind]} {_with_interval(rate)})")
    return AuditFinding("sure", f"At {place}: {'; '.join(parts)}.")


def _with_interval(rate: Rate) -> str:
    """``1.2 %, 0.9 % to 1.5 %``; the rate alone if both ends are printed as it is."""
    shown = percent(rate.errors.rate)
    low, high = map(percent, rate.interval)
    if low == high == shown:
        return shown
    return f"{shown}, {low} to {high}"


def _of_groups_at(place: str, level: Level, groups: Sequence[GroupRates], known: bool) -> Iterator[AuditFinding]:
    few = [row for row in groups if row.needed is not None]
    if level == CURRENT:
        yield from _accepted(place, groups)
    for kind in KINDS:
        found = largest_ratio(groups, kind, known)
        if found is not None:
            yield _comparison(place, kind, found)
    if few:
        yield AuditFinding("unclear", f"At {place}: {_too_few(few)}")


def _accepted(place: str, groups: Sequence[GroupRates]) -> Iterator[AuditFinding]:
    measured = [row for row in groups if row.fmr.errors.pairs > 0]
    ranked = sorted(measured, key=lambda row: -row.fmr.errors.rate)
    counts = [f"{row.group} {counts_of(row.fmr)}" for row in ranked]
    if counts:
        counts[0] += " impostor pairs"
        yield AuditFinding("sure", f"Accepted at {place}: {listed(counts)}.")


def _too_few(rows: Sequence[GroupRates]) -> str:
    groups = [f"{row.group} {row.fmr.errors.pairs:,} (FMR below {percent(row.fmr.interval[1])})" for row in rows]
    needed = max(row.needed or 0 for row in rows)
    return f"too few impostor pairs: {listed(groups)}; at least {needed:,} are needed."


def _comparison(place: str, kind: Kind, found: AtLeast) -> AuditFinding:
    counts = _counts(kind, found)
    higher = found.higher.group
    lower = found.lower.group
    if found.times <= 1:
        times = needed_times(found, kind)
        more = ""
        if times is not None:
            more = f" If the rates stay, about {times} times as many people and pairs would establish it."
        return AuditFinding("unclear", f"At {place}: no difference of {NAME[kind]} is established ({counts}).{more}")
    claim = f"At {place}: the {NAME[kind]} of {higher} {times_of(found.times)} that of {lower}"
    if found.if_people_vary is None:
        return AuditFinding("sure", f"{claim} ({counts}).")
    if found.if_people_vary > 1:
        vary = f"at least {rounded_down(found.if_people_vary)} times"
        if found.if_people_vary < HIGHER_ONLY:
            vary = "higher all the same"
        return AuditFinding(
            "sure",
            f"{claim} if pairs are independent, and {vary} if the choice of people changes a group's rate by 30 % "
            f"({counts}).",
        )
    return AuditFinding(
        "unclear",
        f"At {place}: {counts}. Cannot be told: established only if the choice of people changes a group's rate by "
        f"less than {percent(found.phi_at_one or 0.0)}. Identities would tell.",
    )


def times_of(times: float) -> str:
    """How a bound above 1 is said."""
    if times < HIGHER_ONLY:
        return "is higher than"
    return f"is at least {rounded_down(times)} times"


def _counts(kind: Kind, found: AtLeast) -> str:
    (a, higher), (b, lower) = ((row.group, row.rate(kind).errors) for row in (found.higher, found.lower))
    what, verb = WHAT[kind]
    return (
        f"{a} {higher.errors:,} of {higher.pairs:,}, {b} {lower.errors:,} of {lower.pairs:,} {what} pairs were {verb}"
    )


# -- probabilities, genuine pairs, groups ----------------------------------------------------------------------------


def _of_probabilities(sample: Sample, probabilities: Probabilities | None) -> Iterator[AuditFinding]:
    if probabilities is None or probabilities.judged is None:
        return
    method = probabilities.judged
    for grouping in sample.groupings:
        rows = [row for row in probabilities.groups if row.method == method and row.grouping == grouping.id]
        rows = [row for row in rows if row.test is not None]
        wrong = [row for row in rows if _is_wrong(row, len(rows))]
        for word, kept in (("high", +1), ("low", -1)):
            told = [_said(row) for row in wrong if _off_on_average(row, len(rows)) == kept]
            if told:
                yield AuditFinding("sure", f"{_owner(method)} probabilities are too {word} for {listed(told)}.")
        levels = [row.group for row in wrong if _off_on_average(row, len(rows)) == 0]
        if levels:
            yield AuditFinding(
                "sure",
                f"{_owner(method)} probabilities are right on average, but not at each level, for {listed(levels)}.",
            )


def _owner(method: str) -> str:
    if method == "given":
        return "The given"
    return f"{method.capitalize()}-calibrated"


def _is_wrong(row: GroupCalibration, n_groups: int) -> bool:
    assert row.test is not None
    return row.test.p_value < ALPHA / n_groups and row.test.ecce >= TOO_LARGE_ECCE


def _off_on_average(row: GroupCalibration, n_groups: int) -> int:
    """1 if the probabilities are too high on average, -1 if too low, 0 if that cannot be told."""
    from scipy.special import ndtri

    assert row.test is not None
    assert row.said is not None
    assert row.true is not None
    difference = row.said - row.true
    if abs(difference) <= row.test.sigma * float(ndtri(1 - ALPHA / 2 / n_groups)):
        return 0
    return int(np.sign(difference))


def _said(row: GroupCalibration) -> str:
    assert row.said is not None
    assert row.true is not None
    return f"{row.group} (said {row.said:.3f}, true {row.true:.3f})"


def _of_genuine_pairs(rates: MeasuredRates) -> Iterator[AuditFinding]:
    shares = {subset.group: subset.impostor_like for subset in rates.subsets if subset.grouping is not None}
    if len(shares) == 0:
        shares = {subset.group: subset.impostor_like for subset in rates.subsets}
    told = [f"{group} {percent(share)}" for group, share in shares.items() if share >= IMPOSTOR_LIKE]
    if told:
        yield AuditFinding(
            "note",
            f"Genuine pairs that score like impostors: {listed(told)}. Labels may be wrong, or the "
            "matcher cannot tell these faces.",
        )


def _of_groups(sample: Sample) -> Iterator[AuditFinding]:
    if sample.same is None:
        return
    impostor = ~sample.same
    for grouping in sample.groupings:
        inside = int(np.count_nonzero(impostor & (grouping.inside >= 0)))
        across = int(np.count_nonzero(impostor & grouping.across))
        outside = int(np.count_nonzero(impostor)) - inside
        text = f"By {grouping.id}: {inside:,} impostor pairs are inside a group, {across:,} across groups."
        if grouping.sides == 1:
            text = f"By {grouping.id}: {inside:,} impostor pairs are inside a group, {outside:,} in none."
        if across == 0:
            text += " Pairs across groups were not tested."
        yield AuditFinding("note", text)


def counts_of(rate: Rate) -> str:
    """``3 of 1,000``."""
    return f"{rate.errors.errors:,} of {rate.errors.pairs:,}"
