"""What a model file says about itself, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairfr.core.errors import DataError
from fairfr.core.text import escape_control_chars
from fairfr.library.expected import read_expected
from fairfr.library.face_vectors import holds_text
from fairfr.library.model_file import describe
from fairfr.library.threshold import Threshold

CLASSES = {"same": "genuine", "different": "impostor"}  # the file's words, and those for people
NOTHING_KNOWN = (
    "held out      nothing noted: the model was fitted through the library. What it does on pairs that it has not seen "
    "is not known here."
)


def inspect(path: Path) -> dict[str, Any]:
    """The file's own description, with its size."""
    return {"file": str(path), **describe(path), "bytes": path.stat().st_size}


def card_text(about: Mapping[str, Any]) -> str:
    """One page; DataError for a description that no fairfr writes."""
    try:
        return escape_control_chars("\n".join(_lines(about)))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{about['file']} does not describe itself as a model of fairfr does ({error!r}).") from None


def _lines(about: Mapping[str, Any]) -> Iterator[str]:
    given = ", ".join(f"{name}={value!r}" for name, value in about["parameters"].items())
    yield f"{about['file']} ({about['bytes']:,} bytes, version {about['version']} of the format)"
    yield f"method        {about['method']}({given})"
    yield f"needs         {', '.join(about['needs']) or 'cosines alone'}"
    if about["width"] is not None:
        yield f"vectors       of width {about['width']}"
    if about.get("score_range") is not None:
        low, high = about["score_range"]
        yield f"scores        within {low:g}..{high:g}, in the place of cosines"
    if about["groups"]:
        yield f"groups        {', '.join(about['groups'])}"
    counts = {name: value for name, value in about["training"].items() if not isinstance(value, dict)}
    yield "fitted on     " + ", ".join(f"{value:,} {CLASSES.get(name, name)}" for name, value in counts.items())
    for level, count in about["training"].get("groups", {}).items():
        yield f"              {count:,} images of {level}"
    notes = [value for name, value in about["report"]["map"] if name == "note"]
    yield from (f"note          {note}" for note in notes)
    yield f"data          {about['digest']}, seed {about['seed']}"
    yield f"contains      {holds_text(about['holds'])}"
    yield "made by       " + ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    yield from _thresholds(about.get("thresholds", []))
    yield from _held_out(about.get("origin"))


def _thresholds(kept: Sequence[Threshold]) -> Iterator[str]:
    for entry in kept:
        plain, confident = _limit(entry["threshold"]), _limit(entry["confident_threshold"])
        sure = f"{100 * entry['confidence']:g} % confident"
        if entry.get("identities") == "unknown":
            sure = f"{100 * entry['confidence']:g} % if pairs are independent"
        yield f"threshold     {entry['on']} for FMR {entry['wanted_fmr']:g}: {confident} ({sure}), {plain} (plain)"


def _limit(value: float | None) -> str:
    return "none" if value is None else f">= {value:.6g}"


def _held_out(origin: Mapping[str, Any] | None) -> Iterator[str]:
    if origin is None:
        yield NOTHING_KNOWN
        return
    synthetic = " (SYNTHETIC stand-in, not faces)" if origin["source"] == "synthetic" else ""
    yield f"run           {'/'.join(origin['run'].values())}{synthetic}"
    expected = read_expected(origin)
    if expected is not None:
        yield (
            f"for evaluate  new pairs are compared with {expected.genuine:,} genuine and {expected.impostors:,} "
            f"impostor held-out pairs (Cllr {expected.cllr:.3g})"
        )
    yield f"held out      means of {origin['folds']} folds, each scored by a fit on the others"
    for row in origin["held_out"]:
        whose = "all pairs" if row["group"] == "all" else f"worst group ({row['rule']} rule)"
        mean = "no value" if row["mean"] is None else f"{row['mean']:.4f} (pooled {_number(row['pooled'])})"
        yield f"              {row['metric']:<16} {whose:<26} {mean}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
