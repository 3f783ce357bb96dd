"""The page of an evaluation: the verdict, what it rests on, and the rates and probabilities as an audit shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairfr.auditing.audit_page import (
    across_sections,
    figure_sections,
    findings_section,
    header,
    html_page,
    probability_sections,
    rates_sections,
    sample_line,
    share_text,
    table,
    text,
    text_to_copy,
)
from fairfr.auditing.evaluation_text import verdict_text
from fairfr.auditing.sentences import HIGHER_ONLY, NAME, percent, rounded_down
from fairfr.auditing.verdict import Checks, ProbabilityCheck, RateCheck
from fairfr.numerics.rate_bounds import Errors

if TYPE_CHECKING:
    from fairfr.auditing.evaluate import Evaluation

PROBABILITIES_NOTE = (
    "as_is: the model's probabilities. prior: the same, moved to the share of genuine pairs in this file. Cllr takes "
    "the share of the held-out pairs."
)


def evaluation_page(found: Evaluation) -> str:
    """The whole page."""
    title = f"Evaluation on {found.file.name}"
    sections = [header(found, title)]
    if found.verdict is not None:
        sections.append(f'<h2>Verdict</h2><p class="verdict">{text(verdict_text(found))}</p>')
    sections += findings_section(found.findings)
    if found.checks is not None:
        sections += _checks(found, found.checks)
    sections += _shift(found)
    sections += rates_sections(found)
    sections += figure_sections(found, scores=False)
    sections += across_sections(found)
    sections += probability_sections(found, PROBABILITIES_NOTE)
    sections.append(_method(found))
    return html_page(title, sections)


def _checks(found: Evaluation, checks: Checks) -> Iterator[str]:
    yield "<h2>Now, and on held-out pairs</h2>"
    rows = []
    for check in checks.rates:
        rows.append([check.group, NAME[check.kind], _counts(check.now), _counts(check.stored), _told(check)])
    note = "Worse: chance alone calls one of these rates worse at most once in 40 times, and it is 1.25 times as high."
    assert found.kept.threshold is not None
    if found.sample.people is None or not found.kept.threshold.people_known:
        note += " Where it is not known who is on the images, the choice of people is taken to change a rate by 30 %."
    yield table("Rates at the kept threshold", ["group", "rate", "now", "held out", ""], rows, note)
    ranking = checks.ranking
    rows = [
        ["probabilities as they are", _line(checks.as_is), _is_off(checks.as_is)],
        [f"at the prior {checks.prior.prior:.3g}", _line(checks.prior), _is_off(checks.prior)],
        [
            "ranking",
            f"FNMR {_counts(ranking.now)} at this file's own threshold, held out {_counts(ranking.stored)}",
            "lost" if ranking.is_lost else "holds",
        ],
    ]
    for double in checks.doubling:
        told = f"at most {double.at_most:.2g} times the held-out rate" if double.at_most < 1000 else "no bound"
        rows.append([f"doubling of {NAME[double.kind]}", told, "excluded" if double.is_excluded else "not excluded"])
    note = "Right: intercept 0, slope 1. Off: for sure, and a new fit would lower the log loss by more than 5 %."
    yield table("Probabilities and ranking of all pairs", ["check", "", ""], rows, note, words=True)


def _counts(errors: Errors) -> str:
    return f"{errors.errors:,} of {errors.pairs:,} ({share_text(errors)})"


def _told(check: RateCheck) -> str:
    if check.is_worse and check.times < HIGHER_ONLY:
        return "worse: higher for sure"
    if check.is_worse:
        return f"worse: at least {rounded_down(check.times)} times"
    if check.is_unclear:
        return "worse if pairs are independent"
    return "not worse for sure"


def _line(check: ProbabilityCheck) -> str:
    if check.intercept is None or check.slope is None or check.refitted is None:
        return "no line: the probabilities separate the labels, or are all the same"
    saved = percent(max(0.0, 1 - check.refitted / check.log_loss))
    return f"intercept {check.intercept:.2f}, slope {check.slope:.2f}; a new fit lowers the log loss by {saved}"


def _is_off(check: ProbabilityCheck) -> str:
    if check.is_off:
        return "off"
    return "not off"


def _shift(found: Evaluation) -> Iterator[str]:
    if not found.shift:
        return
    rows = []
    for shift in found.shift:
        share = "none" if shift.share is None else percent(shift.share)
        accepted = "" if shift.accepted is None else f"{shift.accepted:,} ({percent(shift.accepted / shift.pairs)})"
        rows.append([shift.group, f"{shift.pairs:,}", accepted, share, f"{shift.distance:.3f}", f"{shift.limit:.3f}"])
    heads = ["group", "pairs", "accepted", "compatible share of genuine pairs", "distance", "limit"]
    note = "Distance: the largest difference that is left between the scores here and those of held-out pairs."
    yield "<h2>Scores without labels</h2>"
    yield table("Could these be pairs like the held-out ones?", heads, rows, note)


def _method(found: Evaluation) -> str:
    lines = ["Probabilities are those of a saved model, at the share of genuine pairs of its training."]
    kept = found.kept
    if kept.threshold is not None:
        kind = "confident" if kept.threshold.is_confident else "plain"
        lines.append(
            f"A pair is accepted if its probability is at least {kept.threshold.value:.6g}: the {kind} threshold that "
            f"is kept for FMR {kept.threshold.wanted_fmr:g}. FMR: accepted of all impostor pairs. FNMR: rejected of "
            "all genuine pairs."
        )
    if kept.expected is not None:
        lines.append(
            f"Held out: {kept.expected.genuine:,} genuine and {kept.expected.impostors:,} impostor pairs; log loss "
            f"{kept.expected.log_loss:.3g}, Cllr {kept.expected.cllr:.3g}."
        )
    lines += ["A pair counts for a group if both images are in it.", sample_line(found)]
    return text_to_copy(found, lines)
