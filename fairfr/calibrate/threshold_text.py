"""An operating threshold as a page for people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairfr.calibrate.rates import Rate, fewest_pairs
from fairfr.calibrate.threshold import AtThreshold, Operating, Wanted
from fairfr.core.visible import visible
from fairfr.report.scores import Scores

TOO_FEW = "too few pairs to say"


def as_text(found: Operating, wanted: Wanted, scores: Scores) -> str:
    """The page."""
    return visible("\n".join([*_header(found, wanted, scores), *_body(found, wanted), *_notes(found, wanted, scores)]))


def _header(found: Operating, wanted: Wanted, scores: Scores) -> Iterator[str]:
    stored = scores.result.stored
    names = " x ".join(stored[noun]["label"] for noun in ("dataset", "backbone", "method"))
    synthetic = "   SYNTHETIC stand-in, not faces" if stored["source"] == "synthetic" else ""
    yield f"{names}{synthetic}"
    yield f"wanted: at most {wanted.fmr:g} of the impostors accepted; {found.all_pairs.fmr.pairs:,} held-out impostors"
    yield ""


def _body(found: Operating, wanted: Wanted) -> Iterator[str]:
    if np.isfinite(found.threshold):
        low, high = found.span
        interval = f"({_level(wanted)} over identities: {low:.6g} to {high:.6g})"
        yield f"accept where {wanted.on} >= {found.threshold:.6g}   {interval}"
    else:
        yield f"No threshold on the {wanted.on} reaches it: the highest value is one of too many impostors."
        yield "Try --on score, which may tell them apart." if wanted.on == "probability" else "It takes more pairs."
    yield _vouched(found, wanted)
    if np.isfinite(found.threshold):
        yield ""
        yield f"at {found.threshold:.6g}:"
        yield f"{'':<24}{'false matches':<18}{'FMR':<40}{'misses':<18}FNMR"
        yield from (_line(of) for of in (found.all_pairs, *found.groups))


def _vouched(found: Operating, wanted: Wanted) -> str:
    impostors, needed = found.all_pairs.fmr.pairs, fewest_pairs(wanted.fmr, wanted.confidence)
    if found.at_vouched is not None:
        return (
            f"accept where {wanted.on} >= {found.vouched:.6g}   keeps {wanted.fmr:g} with {_level(wanted)} confidence; "
            f"it misses {_percent(found.at_vouched.fnmr.value)} of the genuine pairs"
        )
    if impostors >= needed:
        return f"with {_level(wanted)} confidence: {TOO_FEW}, as they share so many people."
    return (
        f"with {_level(wanted)} confidence: {TOO_FEW}. Not even without a false match would {impostors:,} impostors "
        f"vouch for {wanted.fmr:g}; {needed:,} would (rule of three)."
    )


def _level(wanted: Wanted) -> str:
    return f"{100 * wanted.confidence:g} %"


def _line(of: AtThreshold) -> str:
    return (
        f"{of.name[:23]:<24}{_count(of.fmr):<18}{_rate(of.fmr, of.enough_for_fmr):<40}"
        f"{_count(of.fnmr):<18}{_rate(of.fnmr, of.enough_for_fnmr)}"
    )


def _count(rate: Rate) -> str:
    return f"{rate.errors:,} of {rate.pairs:,}"


def _rate(rate: Rate, enough_pairs: bool) -> str:
    low, high = rate.bounds
    if not rate.pairs:
        return "no pairs"
    if not enough_pairs:
        return f"{TOO_FEW} (below {_percent(high)})"
    return f"{_percent(rate.value)} ({_percent(low)} to {_percent(high)})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _notes(found: Operating, wanted: Wanted, scores: Scores) -> Iterator[str]:
    folds = len(scores.result.stored["data"]["folds"])
    yield ""
    yield (
        f"Intervals: {_level(wanted)}, the wider of exact binomial (pairs as if independent) and {found.draws:,} "
        "bootstrap draws over identities (pairs that share a person hang together)."
    )
    if not found.identities_known:
        yield "Who is on some images is not known: images linked by genuine pairs count as one person."
    if found.groups:
        both = "both images are in it" if wanted.rule == "both" else "its left image is in it"
        yield f"A pair is a group's where {both}. The threshold is one for all groups."
    yield (
        f"Set on scores of {folds} folds, each from a fit on the others; the saved model is fitted on all of them. It "
        "holds for pairs like these: another camera, network or population needs its own."
    )
