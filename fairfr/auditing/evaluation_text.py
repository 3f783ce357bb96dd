"""What an evaluation says: the verdict in words, what it rests on, and the same as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fairfr.auditing.kept import Kept
from fairfr.auditing.probabilities import GroupCalibration
from fairfr.auditing.report import plain
from fairfr.auditing.sentences import NAME, AuditFinding, listed, notes_of, of_people, percent
from fairfr.auditing.shift import Shift
from fairfr.auditing.verdict import FEWEST_PAIRS, Checks, DoublingCheck, RateCheck, Verdict
from fairfr.core.names import ALL
from fairfr.numerics.rate_bounds import Errors

if TYPE_CHECKING:
    from fairfr.auditing.evaluate import Evaluation

WORDS: dict[Verdict, str] = {
    "holds": "HOLDS",
    "cannot_be_told_yet": "CANNOT BE TOLD YET",
    "holds_after_a_new_prior": "HOLDS AFTER A NEW PRIOR",
    "ranking_holds_refit": "RANKING HOLDS, REFIT",
    "does_not_hold": "DOES NOT HOLD",
    "cannot_be_told": "CANNOT BE TOLD",
}


def verdict_text(found: Evaluation) -> str:
    """The verdict with the numbers that it rests on; without labels an empty text."""
    if found.verdict is None:
        return ""
    parts = [f"{WORDS[found.verdict]}."]
    if found.checks is None:
        parts.append(found.kept.missing or _too_few_pairs(found))
        return " ".join(parts)
    parts += [*_numbers(found, found.checks), *_advice(found, found.checks)]
    return " ".join(parts)


def _too_few_pairs(found: Evaluation) -> str:
    assert found.sample.same is not None
    genuine = int(found.sample.same.sum())
    return (
        f"{genuine:,} genuine and {len(found.sample) - genuine:,} impostor pairs are too few: at least {FEWEST_PAIRS} "
        "of each are needed."
    )


def _numbers(found: Evaluation, checks: Checks) -> Iterator[str]:
    of_all = {check.kind: check for check in checks.rates if check.group == ALL}
    rates = []
    place = "at the stored threshold "  # said once, of the first
    for kind in ("fnmr", "fmr"):
        if kind in of_all:
            rates.append(f"{NAME[kind]} {place}{_now_and_then(of_all[kind])}")
            place = ""
    yield "; ".join(rates) + "."
    as_is = _of_as_is(found)
    expected = found.kept.expected
    if as_is is not None and as_is.said is not None and expected is not None:
        yield f"Said {as_is.said:.2f}, true {as_is.true:.2f}; Cllr {as_is.cllr:.2g} (was {expected.cllr:.2g})."


def _of_as_is(found: Evaluation) -> GroupCalibration | None:
    """How the probabilities of all pairs are calibrated as they are."""
    if found.probabilities is None:
        return None
    for row in found.probabilities.groups:
        if row.method == "as_is" and row.grouping is None:
            return row
    return None


def _now_and_then(check: RateCheck) -> str:
    return f"{percent(check.now.rate)} (was {percent(check.stored.rate)})"


def _advice(found: Evaluation, checks: Checks) -> Iterator[str]:
    """What to do, or what is missing."""
    if found.verdict == "cannot_be_told_yet":
        yield from (_doubling(check) for check in checks.doubling if not check.is_excluded)
    elif found.verdict == "holds_after_a_new_prior":
        yield f"Pass prior={checks.prior.prior:.3g}."
    elif found.verdict == "ranking_holds_refit":
        yield "Fit it again, on pairs like these: fairfr calibrate fit."


def _doubling(check: DoublingCheck) -> str:
    text = f"A doubling of {NAME[check.kind]} is not excluded"
    if check.pairs_needed is not None:
        kind = "impostor" if check.kind == "fmr" else "genuine"
        text += f"; {check.pairs_needed:,} {kind} pairs would do"
    return f"{text}."


def findings_of(found: Evaluation) -> list[AuditFinding]:
    """The sentences below the verdict."""
    told = list(of_people(found.sample))
    if found.checks is not None:
        told += _rates(found.checks)
    if found.sample.same is None:
        told += _without_labels(found.kept, found.shift)
    return [*told, *notes_of(found.sample, found.rates)]


def _rates(checks: Checks) -> Iterator[AuditFinding]:
    worse = [f"{NAME[check.kind]} of {check.group} {_now_and_then(check)}" for check in checks.worse]
    if worse:
        yield AuditFinding("sure", f"Worse: {listed(worse)}.")
    for check in checks.unclear:
        yield AuditFinding(
            "unclear",
            f"{NAME[check.kind]} of {check.group} {_now_and_then(check)}: worse if pairs are independent.",
        )


def _without_labels(kept: Kept, shifts: tuple[Shift, ...]) -> Iterator[AuditFinding]:
    if kept.expected is None:
        yield AuditFinding("unclear", f"CANNOT BE TOLD. {kept.missing}")
    for shift in shifts:
        if shift.share is None:
            yield AuditFinding(
                "sure",
                f"No share of genuine pairs explains the scores of {shift.group}: conditions have changed.",
            )
            continue
        yield AuditFinding(
            "unclear",
            f"The scores of {shift.group} are compatible with {percent(shift.share)} genuine pairs; this does not show "
            "that error rates hold.",
        )
    accepted = [
        f"{shift.group} {shift.accepted:,} of {shift.pairs:,} ({percent(shift.accepted / shift.pairs)})"
        for shift in shifts
        if shift.accepted is not None
    ]
    if accepted:
        yield AuditFinding("sure", f"Accepted at the stored threshold: {listed(accepted)}.")


# -- as JSON ---------------------------------------------------------------------------------------------------------


def checks_as_dict(checks: Checks | None) -> dict[str, Any] | None:
    """What the verdict rests on."""
    if checks is None:
        return None
    rates = []
    for check in checks.rates:
        entry = {"group": check.group, "kind": check.kind, "now": _errors(check.now), "stored": _errors(check.stored)}
        rates.append(entry | {"at_least": check.times, "worse": check.is_worse, "unclear": check.is_unclear})
    ranking = checks.ranking
    return {
        "rates": rates,
        "as_is": asdict(checks.as_is),
        "prior": asdict(checks.prior),
        "ranking": {
            "now": _errors(ranking.now),
            "stored": _errors(ranking.stored),
            "at_least": ranking.times,
            "lost": ranking.is_lost,
        },
        "doubling": [asdict(check) | {"at_most": plain(check.at_most)} for check in checks.doubling],
    }


def _errors(found: Errors) -> dict[str, Any]:
    return {
        "errors": found.errors,
        "pairs": found.pairs,
        "rate": plain(found.rate),
        "phi": math.sqrt(found.spread),
    }
