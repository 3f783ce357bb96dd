"""An operating threshold as a page for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from fairfr.core.text import escape_control_chars
from fairfr.library.threshold_report import GroupErrorRates, Rates, ThresholdReport, ThresholdRequest
from fairfr.library.thresholds import Kept
from fairfr.numerics.error_rates import ErrorRate
from fairfr.stored.scores import RunScores

FEW_PEOPLE = 100
TOO_FEW = "too few pairs to say"
SHARED = "too many impostors share the highest value"


def threshold_text(found: ThresholdReport, wanted: ThresholdRequest, scores: RunScores) -> str:
    """The page."""
    return escape_control_chars(
        "\n".join([*_header(found, wanted, scores), *_body(found, wanted), *_notes(found, wanted, scores)])
    )


def kept_text(model: Path, entries: Sequence[Kept]) -> str:
    """What was written into the model's file, with the call that returns each threshold."""
    lines = [f"kept in {model}:"]
    for entry in entries:
        arguments = f"fmr={entry['wanted_fmr']:g}"
        if entry["on"] == "score":
            arguments += ", on='score'"
        if entry["confident_threshold"] is not None:
            lines.append(f"  model.threshold({arguments}) returns the confident threshold")
        elif entry["threshold"] is not None:
            lines.append(f"  model.threshold({arguments}, confident=False); there is no confident one")
        else:
            lines.append(f"  nothing that keeps {entry['wanted_fmr']:g}")
    return escape_control_chars("\n".join(lines))


def _header(found: ThresholdReport, wanted: ThresholdRequest, scores: RunScores) -> Iterator[str]:
    result = scores.run.result
    names = " x ".join((result.dataset.label, result.backbone.label, result.method.label))
    synthetic = "   SYNTHETIC stand-in, not faces" if result.is_synthetic else ""
    yield f"{names}{synthetic}"
    impostors = found.plain.all_pairs.fmr.pairs
    yield f"wanted: at most {wanted.fmr:g} of the impostors accepted; {impostors:,} held-out impostors"
    yield ""


def _body(found: ThresholdReport, wanted: ThresholdRequest) -> Iterator[str]:
    reached = np.isfinite(found.plain.value)
    if reached:
        low, high = found.span
        interval = f"({_level(wanted)} over identities: {low:.6g} to {high:.6g})"
        yield f"accept where {wanted.on} >= {found.plain.value:.6g}   {interval}"
    else:
        yield f"No threshold on the {wanted.on} reaches it: {SHARED}."
        yield "Try --on score, which may tell them apart." if wanted.on == "probability" else "It takes more pairs."
    yield _confident(found, wanted)
    if reached:
        yield from _table(found.plain, "")
    if found.confident is not None:
        yield from _table(found.confident, f", which keeps {wanted.fmr:g} with {_level(wanted)} confidence")


def _table(at: GroupErrorRates, note: str) -> Iterator[str]:
    yield ""
    yield f"at {at.value:.6g}{note}:"
    yield f"{'':<24}{'false matches':<18}{'FMR':<40}{'misses':<18}FNMR"
    yield from (_line(of) for of in at.rows)


def _confident(found: ThresholdReport, wanted: ThresholdRequest) -> str:
    impostors, needed = found.plain.all_pairs.fmr.pairs, found.needed
    sure = found.confident
    if sure is not None:
        return (
            f"accept where {wanted.on} >= {sure.value:.6g}   keeps {wanted.fmr:g} with {_level(wanted)} confidence; "
            f"it misses {_percent(sure.all_pairs.fnmr.value)} of the genuine pairs"
        )
    if found.is_shared:
        return f"with {_level(wanted)} confidence: no threshold, as {SHARED}."
    if impostors >= needed:
        return f"with {_level(wanted)} confidence: {TOO_FEW}, as they share so many people."
    return (
        f"with {_level(wanted)} confidence: {TOO_FEW}. Even with zero false matches, {impostors:,} impostor pairs "
        f"cannot establish {wanted.fmr:g}; {needed:,} are needed."
    )


def _level(wanted: ThresholdRequest) -> str:
    return f"{100 * wanted.confidence:g} %"


def _line(of: Rates) -> str:
    return (
        f"{of.name[:23]:<24}{_count(of.fmr):<18}{_rate(of.fmr, of.enough_for_fmr):<40}"
        f"{_count(of.fnmr):<18}{_rate(of.fnmr, of.enough_for_fnmr)}"
    )


def _count(rate: ErrorRate) -> str:
    return f"{rate.errors:,} of {rate.pairs:,}"


def _rate(rate: ErrorRate, enough_pairs: bool) -> str:
    low, high = rate.bounds
    if not rate.pairs:
        return "no pairs"
    if not enough_pairs:
        return f"{TOO_FEW} (below {_percent(high)})"
    return f"{_percent(rate.value)} ({_percent(low)} to {_percent(high)})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _notes(found: ThresholdReport, wanted: ThresholdRequest, scores: RunScores) -> Iterator[str]:
    folds = len(scores.run.result.data.folds)
    yield ""
    yield (
        f"Intervals: {_level(wanted)}, the wider of exact binomial (pairs as if independent) and {found.draws:,} "
        "bootstrap draws over identities (pairs that share a person are not independent)."
    )
    if found.people < FEW_PEOPLE:
        rare = 1 - (1 - wanted.confidence) ** (1 / found.people)
        yield (
            f"The impostors are {found.people} people: a kind of person rarer than {_percent(rare)} may be missing "
            "among them, and the confidence does not cover it."
        )
    if not found.identities_known:
        yield "Some images have no identity: images linked by genuine pairs count as one person."
    if found.plain.groups:
        both = "both images belong to it" if wanted.rule == "both" else "its left image belongs to it"
        yield f"A pair counts for a group if {both}. The threshold is the same for all groups."
    yield (
        f"Set on scores of {folds} folds, each from a fit on the others; the saved model is fitted on all of them. It "
        "holds for pairs like these: another camera, network or population needs its own."
    )
