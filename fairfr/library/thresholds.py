"""Thresholds that are kept with a model: found by ``fairfr calibrate threshold --keep`` on held-out pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from fairfr.core.errors import DataError

On: TypeAlias = Literal["probability", "score"]
Kept: TypeAlias = dict[str, Any]
"""One threshold as ``fairfr calibrate threshold --json`` writes it: ``wanted_fmr``, ``on``, ``threshold``,
``confident_threshold`` (each None where there is none), and the error rates of all pairs and of groups at both."""


def checked(entries: Any) -> tuple[Kept, ...]:
    """As a file has them; DataError for what fairfr never writes."""
    if not isinstance(entries, list) or not all(_is_fine(entry) for entry in entries):
        raise DataError("its thresholds are not those that fairfr writes")
    return tuple(entries)


def _is_fine(entry: Any) -> bool:
    if not isinstance(entry, dict) or entry.get("on") not in ("probability", "score"):
        return False
    numbers: list[Any] = [entry.get("wanted_fmr"), entry.get("confidence")]
    limits = [entry.get("threshold"), entry.get("confident_threshold")]
    numbers += [value for value in limits if value is not None]
    return all(type(number) in (int, float) and math.isfinite(number) for number in numbers)


def merged(before: Sequence[Kept], new: Sequence[Kept]) -> list[Kept]:
    """All of them, by rate; a new one replaces that of the same rate."""
    stays = [old for old in before if not any(_is_for(entry, old["wanted_fmr"], old["on"]) for entry in new)]
    return sorted([*stays, *new], key=lambda entry: (entry["on"], -entry["wanted_fmr"]))


def chosen(kept: Sequence[Kept], fmr: float, on: On, confident: bool) -> float:
    """The kept threshold for a rate; DataError, with what to do, where there is none."""
    command = f"fairfr calibrate threshold --model FILE --fmr {fmr:g}{' --on score' if on == 'score' else ''} --keep"
    found = next((entry for entry in kept if _is_for(entry, fmr, on)), None)
    if found is None:
        rates = ", ".join(f"{entry['wanted_fmr']:g}" for entry in kept if entry["on"] == on) or "none"
        raise DataError(
            f"no threshold on the {on} is kept for a false match rate of {fmr:g} (kept: {rates}). Find it on held-out "
            f"pairs, then load the model again: {command}"
        )
    if found["threshold"] is None:
        raise DataError(f"no threshold on the {on} reached {fmr:g} on the held-out pairs, so none is kept.")
    if confident and found["confident_threshold"] is None:
        raise DataError(
            f"the held-out pairs could not show {100 * found['confidence']:g} % confidence for a false match rate of "
            f"{fmr:g}. confident=False gives the threshold that has this rate on them, without a margin."
        )
    return float(found["confident_threshold"] if confident else found["threshold"])


def _is_for(entry: Kept, fmr: float, on: str) -> bool:
    return entry["on"] == on and math.isclose(entry["wanted_fmr"], fmr, rel_tol=1e-9)
