"""A threshold with its rates as a page for people, and what was kept of it in a model's file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairfr.core.text import escape_control_chars
from fairfr.library.threshold import Threshold

FEW_PEOPLE = 100
TOO_FEW = "too few pairs to say"
SHARED = "too many impostors share the highest value"


def threshold_text(found: Threshold, has_saved_model: bool = True) -> str:
    """The page for people; ``has_saved_model``: whether there is a model that was fitted on all folds."""
    lines = [*_header(found), *_body(found), *_notes(found, has_saved_model)]
    return escape_control_chars("\n".join(lines))


def _header(found: Threshold) -> Iterator[str]:
    synthetic = "   SYNTHETIC stand-in, not faces" if found["source"] == "synthetic" else ""
    yield f"{found['title']}{synthetic}"
    impostors = found["all"]["fmr"]["pairs"]
    if found["wanted_fmr"] is None:
        yield f"at a threshold in use; {impostors:,} held-out impostors"
    else:
        yield f"wanted: at most {found['wanted_fmr']:g} of the impostors accepted; {impostors:,} held-out impostors"
    yield ""


def _body(found: Threshold) -> Iterator[str]:
    if found["wanted_fmr"] is None:
        yield f"accept where {found['on']} >= {found['threshold']:.6g}   in use"
        yield from _table(found, "", "")
        return
    if found["threshold"] is None:
        yield f"No threshold on the {found['on']} reaches it: {SHARED}."
        if found["on"] == "probability":
            yield "Try --on score, which may tell them apart."
        else:
            yield "It takes more pairs."
    else:
        low, high = found["threshold_interval"]
        whose = "over identities" if _is_known(found) else "pairs as if independent"
        yield (
            f"accept where {found['on']} >= {found['threshold']:.6g}   "
            f"({_percent(found['confidence'])} {whose}: {low:.6g} to {high:.6g})"
        )
    yield _confident(found)
    if found["threshold"] is not None:
        yield from _table(found, "", "")
    if found["confident_threshold"] is not None:
        yield from _table(found, "_at_confident", f", which keeps {found['wanted_fmr']:g} {_surely(found)}")


def _is_known(found: Threshold) -> bool:
    return bool(found["identities"] == "known")


def _surely(found: Threshold) -> str:
    """How sure a confident threshold is, in words."""
    if _is_known(found):
        return f"with {_percent(found['confidence'])} confidence"
    return f"at {_percent(found['confidence'])} if pairs are independent"


def _confident(found: Threshold) -> str:
    impostors = found["all"]["fmr"]["pairs"]
    if found["confident_threshold"] is not None:
        missed = found["all_at_confident"]["fnmr"]["rate"]
        return (
            f"accept where {found['on']} >= {found['confident_threshold']:.6g}   keeps {found['wanted_fmr']:g} "
            f"{_surely(found)}; it misses {'none' if missed is None else _percent(missed)} of the genuine pairs"
        )
    if found["highest_is_shared"]:
        return f"{_surely(found)}: no threshold, as {SHARED}."
    if impostors >= found["impostors_needed"]:
        return f"{_surely(found)}: {TOO_FEW}, as they share so many people."
    return (
        f"{_surely(found)}: {TOO_FEW}. Even with zero false matches, {impostors:,} impostor pairs cannot establish "
        f"{found['wanted_fmr']:g}; {found['impostors_needed']:,} are needed."
    )


def _table(found: Threshold, end: str, note: str) -> Iterator[str]:
    value = found["confident_threshold"] if end else found["threshold"]
    yield ""
    yield f"at {value:.6g}{note}:"
    yield f"{'':<24}{'false matches':<18}{'FMR':<40}{'misses':<18}FNMR"
    yield _line(found[f"all{end}"])
    yield from (_line(group) for group in found[f"groups{end}"])
    if found[f"no_group{end}"] is not None:
        yield _line(found[f"no_group{end}"])


def _line(of: dict[str, Any]) -> str:
    fmr = of["fmr"]
    fnmr = of["fnmr"]
    return f"{of['name'][:23]:<24}{_count(fmr):<18}{_rate_text(fmr):<40}{_count(fnmr):<18}{_rate_text(fnmr)}"


def _count(rate: dict[str, Any]) -> str:
    return f"{rate['errors']:,} of {rate['pairs']:,}"


def _rate_text(rate: dict[str, Any]) -> str:
    if rate["pairs"] == 0:
        return "no pairs"
    low, high = rate["interval"]
    if not rate["enough_pairs"]:
        return f"{TOO_FEW} (below {_percent(high)})"
    return f"{_percent(rate['rate'])} ({_percent(low)} to {_percent(high)})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _notes(found: Threshold, has_saved_model: bool) -> Iterator[str]:
    level = _percent(found["confidence"])
    yield ""
    if _is_known(found):
        yield (
            f"Intervals: {level}. Pairs that share a person are not independent: how much errors vary with the choice "
            "of people is estimated, and widens them."
        )
        if found["people"] < FEW_PEOPLE and found["people"] > 0:
            rare = 1 - (1 - found["confidence"]) ** (1 / found["people"])
            yield (
                f"The impostors are {found['people']} people: a kind of person rarer than {_percent(rare)} may be "
                "missing among them, and the confidence does not cover it."
            )
    else:
        yield (
            f"Intervals: {level}. It is not known who is on the images. Pairs are treated as independent: the "
            "intervals are too narrow (on real faces 1.0 to 3.5 times)."
        )
    if found["groups"]:
        both = "both images belong to it" if found["rule"] == "both" else "its left image belongs to it"
        yield f"A pair counts for a group if {both}. The threshold is the same for all groups."
    model = "no model is saved: fit one on all pairs to use the threshold"
    if has_saved_model:
        model = "the saved model is fitted on all of them"
    yield (
        f"Set on scores of {found['folds']} folds, each from a fit on the others; {model}. The threshold is valid for "
        "pairs like these. For another camera, network or population, set a new one."
    )


def kept_text(model: Path, entries: Sequence[Threshold]) -> str:
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
