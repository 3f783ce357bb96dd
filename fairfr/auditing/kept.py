"""What a model keeps of its held-out pairs, as an evaluation needs it: rates at a threshold, and what to expect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairfr.auditing.group_rates import KINDS, Kind
from fairfr.core.config import from_mapping
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.names import ALL
from fairfr.library.expected import Expected, read_expected
from fairfr.library.model import Model
from fairfr.library.threshold import Threshold, chosen
from fairfr.numerics.rate_bounds import Errors

FIT_AGAIN = (
    "Fit it with fairfr calibrate fit ... --out FILE, then keep a threshold: fairfr calibrate threshold --model FILE "
    "--fmr 1e-3 --keep."
)
KEEP_AGAIN = "Keep it again: fairfr calibrate threshold --model FILE --fmr {fmr} --keep."


@dataclass(frozen=True, slots=True)
class KeptThreshold:
    """A threshold on the probability, and the errors of held-out pairs at it, by group (and ``all``) and kind.

    ``people_known``: whether it is known who is on the held-out images.
    """

    wanted_fmr: float
    value: float
    is_confident: bool
    people_known: bool
    errors: Mapping[tuple[str, Kind], Errors]

    @property
    def groups(self) -> list[str]:
        """Without ``all``."""
        return [group for group, kind in self.errors if kind == "fmr" and group != ALL]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a model keeps. ``missing`` says what it does not, and what to do; None if there is all.

    ``genuine`` and ``impostors`` are the numbers of pairs behind its probabilities.
    """

    genuine: int
    impostors: int
    expected: Expected | None
    threshold: KeptThreshold | None
    missing: str | None

    @property
    def share(self) -> float:
        """Of genuine pairs, for which its probabilities are."""
        return self.genuine / (self.genuine + self.impostors)


def kept_of(model: Model, fmr: float | None = None) -> Kept:
    """Read what a model keeps.

    Parameters
    ----------
    model : Model
        Fitted, or loaded from its file.
    fmr : float, optional
        The rate whose kept threshold counts; None: the largest. DataError where others are kept, but not this one.

    Returns
    -------
    Kept
        The confident threshold, or else the plain one.
    """
    expected = read_expected(model.origin_)
    entries = [entry for entry in model.thresholds_ if entry["on"] == "probability"]
    if fmr is not None and entries:
        chosen(entries, fmr, "probability", confident=False)
        entries = [entry for entry in entries if math.isclose(entry["wanted_fmr"], fmr, rel_tol=1e-9)]
    entries = [entry for entry in entries if entry.get("threshold") is not None]
    threshold = missing = None
    if entries:
        entry = max(entries, key=lambda one: float(one["wanted_fmr"]))
        threshold = _kept_threshold(entry)
        if threshold is None:
            missing = "The kept threshold has no errors to compare with: an earlier fairfr wrote it. "
            missing += KEEP_AGAIN.format(fmr=f"{entry['wanted_fmr']:g}")
    elif expected is not None:
        missing = f"No threshold on the probability is kept. {KEEP_AGAIN.format(fmr='1e-3')}"
    if expected is None:
        missing = (
            "The model keeps nothing to compare with: it was fitted through the library, or saved by an earlier "
            f"fairfr. {FIT_AGAIN}"
        )
        training = model.training_
        return Kept(training["same"], training["different"], None, threshold, missing)
    return Kept(expected.genuine, expected.impostors, expected, threshold, missing)


@dataclass(frozen=True)
class _StoredRate:
    """What is read of a rate in the model's file."""

    errors: int
    pairs: int
    phi: float


def _kept_threshold(entry: Threshold) -> KeptThreshold | None:
    """None where an earlier fairfr wrote it; DataError for what fairfr never writes."""
    is_confident = entry.get("confident_threshold") is not None
    end = "_at_confident" if is_confident else ""
    value = entry["confident_threshold"] if is_confident else entry["threshold"]
    try:
        if "identities" not in entry or "phi" not in entry[f"all{end}"]["fmr"]:
            return None
        groups: Sequence[Any] = ()
        if entry["rule"] == "both":
            groups = entry[f"groups{end}"]
        errors = {}
        for name, rates in [(ALL, entry[f"all{end}"]), *((str(group["name"]), group) for group in groups)]:
            for kind in KINDS:
                errors[name, kind] = _errors(rates[kind])
        return KeptThreshold(entry["wanted_fmr"], value, is_confident, entry["identities"] == "known", errors)
    except (KeyError, TypeError, ValueError, OverflowError, ConfigError) as error:
        raise DataError(f"the rates at the model's kept threshold are not those that fairfr writes: {error}.") from None


def _errors(rate: Mapping[str, Any]) -> Errors:
    found: _StoredRate = from_mapping(_StoredRate, {name: rate[name] for name in ("errors", "pairs", "phi")})
    if not 0 <= found.errors <= found.pairs or not 0 <= found.phi < math.inf:
        raise ValueError("impossible counts")
    return Errors(found.errors, found.pairs, found.phi**2)
