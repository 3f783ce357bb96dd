"""The threshold for a wanted false match rate, or one in use, and what to expect at it: on scores of held-out pairs.

One value is found, printed as text or as JSON, and kept in a model's file: a dict with these keys.

run, source, title, folds    whose held-out scores they are
on, rule, confidence         what is compared, which pairs are a group's, how sure the intervals are
identities, people           whether people are ``known`` or ``unknown``, and how many impostor pairs show
wanted_fmr                   None for a threshold in use
threshold                    the lowest observed value that gives the wanted rate; None where too many share the highest
threshold_interval           where the threshold of the whole population may lie
threshold_over_identities    the same interval; None where people are unknown
confident_threshold          the lowest value that keeps the rate with confidence (pairs as if independent where people
                             are unknown); None where there is none
impostors_needed             so many impostor pairs at the least would show the wanted rate
highest_is_shared            there is no confident threshold because too many impostors share the highest value
draws                        0: intervals come from no draws
all, groups, no_group        ``name``, ``fmr`` and ``fnmr`` at the threshold; the same ``..._at_confident``. A rate has
                             ``rate``, ``errors``, ``pairs``, ``interval``, ``phi`` (how much more errors vary than
                             binomial ones), ``binomial`` (the interval of independent pairs), ``over_identities`` (the
                             interval, None where people are unknown) and ``enough_pairs``
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import F64, Bool, PairRule
from fairfr.numerics.allowed_false_matches import fewest_impostors, most_allowed
from fairfr.numerics.error_rates import OneKind, threshold_at
from fairfr.numerics.rate_bounds import CONFIDENCE, Errors, rate_interval

if TYPE_CHECKING:
    from fairfr.stored.scores import RunScores

On: TypeAlias = Literal["probability", "score"]
Threshold: TypeAlias = dict[str, Any]
"""One threshold with its rates, as the module's docstring has it."""

NO_GROUP = {"both": "mixed or unknown", "first": "unknown"}
"""What the pairs are called that are in no group, by the rule that puts pairs into groups."""
ENOUGH_GENUINE = 30
"""With fewer genuine pairs even no miss at all leaves an FNMR of 10 % possible (the rule of three)."""


@dataclass(frozen=True, slots=True)
class ThresholdRequest:
    """What is asked for: at most ``fmr`` false matches among impostors, or the rates at the ``threshold`` in use.

    ``rule``: which pairs are a group's.
    """

    fmr: float | None = None
    confidence: float = CONFIDENCE
    on: On = "probability"
    rule: PairRule = "both"
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.fmr is not None and not 0 < self.fmr < 1:
            raise ConfigError(f"--fmr {self.fmr:g}: a rate lies between 0 and 1, such as 1e-3.")
        if not 0.5 <= self.confidence < 1:
            raise ConfigError(f"--confidence {self.confidence:g}: between 0.5 and 1, such as 0.95.")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise ConfigError(f"--threshold {self.threshold:g}: a finite number.")
        if (self.fmr is None) == (self.threshold is None):
            raise ConfigError("name a wanted rate, --fmr 1e-3, or the threshold in use, --threshold T.")


def held_out_scores(model: Path, out_root: Path, run: Path | None = None) -> RunScores:
    """The scores of the run that a model names, or of another run folder of the same run."""
    from fairfr.library.model_file import describe
    from fairfr.store.parquet_files import SCORES_FILE
    from fairfr.store.result_file import check_files, read_result
    from fairfr.stored.run import Run
    from fairfr.stored.scores import RunScores

    origin = describe(model).get("origin")
    if not isinstance(origin, dict) or "run" not in origin:
        raise DataError(
            f"{model} names no run with held-out scores: it was fitted through the library. A threshold set on the "
            "pairs it was fitted on would promise too much. Fit it with fairfr calibrate fit, or set the threshold on "
            "pairs of your own that it has not seen."
        )
    folder = run or out_root.joinpath("runs", *map(str, origin["run"].values()))
    stored = read_result(folder, in_place=run is None)
    if stored is None or not stored.is_completed:
        raise DataError(
            f"{folder} is not a completed run. Name the folder that contains runs/ with --out-root DIR, or the run "
            "itself with --run DIR; or fit the model again with fairfr calibrate fit."
        )
    if stored.key != origin["run"]["key"]:
        raise DataError(f"{folder} is run {stored.key}, but {model} comes from run {origin['run']['key']}.")
    check_files(folder, stored.files, [SCORES_FILE])
    return RunScores(Run(stored, folder))


# -- finding it ------------------------------------------------------------------------------------------------------


def find_threshold(scores: RunScores, wanted: ThresholdRequest) -> Threshold:
    """Find the threshold, or take the one in use, and measure what happens at it."""
    values = scores.score
    if wanted.on == "probability":
        values = scores.probability
    parts = [_Part.of(scores, values, name, chosen) for name, chosen in _parts(scores, wanted.rule)]
    impostors = parts[0].impostors
    result = scores.run.result
    found: Threshold = {
        "run": result.key,
        "source": result.source,
        "title": " x ".join((result.dataset.label, result.backbone.label, result.method.label)),
        "folds": scores.run.n_folds,
        "on": wanted.on,
        "wanted_fmr": wanted.fmr,
        "confidence": wanted.confidence,
        "rule": wanted.rule,
        "identities": "unknown" if impostors.people is None else "known",
        "people": None if impostors.people is None else len(impostors.people),
        "threshold": wanted.threshold,
        "threshold_interval": None,
        "threshold_over_identities": None,
        "confident_threshold": None,
        "impostors_needed": None,
        "highest_is_shared": False,
        "draws": 0,
    }
    if wanted.fmr is not None:
        found |= _set(impostors, np.unique(values), wanted.fmr, wanted.confidence)
    for limit, end in (("threshold", ""), ("confident_threshold", "_at_confident")):
        rates: list[Any] = [None] * len(parts)
        # where nothing is accepted there are rates, too; a confident threshold that is not there has none
        if found[limit] is not None or limit == "threshold":
            rates = [part.at(found[limit], wanted) for part in parts]
        groups = rates[1 : 1 + len(scores.levels)]
        found[f"all{end}"] = rates[0]
        found[f"groups{end}"] = None if rates[0] is None else groups
        found[f"no_group{end}"] = rates[-1] if len(rates) > 1 + len(scores.levels) else None
    return found


def _set(impostors: OneKind, observed: F64, fmr: float, confidence: float) -> dict[str, Any]:
    """The threshold that has the rate on these impostors, with its interval, and the one that keeps it."""
    plain = threshold_at(impostors.ascending, observed, fmr)
    interval = _interval(impostors, observed, fmr, confidence, plain)
    allowed = most_allowed(impostors.people, impostors.most_wrong_first, fmr, confidence)
    confident = None
    if allowed >= 0:
        confident = threshold_at(impostors.ascending, observed, (allowed + 0.5) / len(impostors))
    return {
        "threshold": plain,
        "threshold_interval": interval,
        "threshold_over_identities": None if impostors.people is None else interval,
        "confident_threshold": confident,
        "impostors_needed": fewest_impostors(impostors.people, fmr, confidence),
        "highest_is_shared": allowed >= 0 and confident is None,
    }


def _interval(
    impostors: OneKind, observed: F64, fmr: float, confidence: float, plain: float | None
) -> list[float] | None:
    """Both ends of the observed values at which the interval of the rate has the wanted one in it."""
    if plain is None:
        return None
    at_plain = impostors.errors_at(plain)

    def rate_at(value: float) -> tuple[float, float]:
        accepted = len(impostors) - int(np.searchsorted(impostors.ascending, value, side="left"))
        return rate_interval(replace(at_plain, errors=accepted), confidence)

    low = bisect_left(observed, True, key=lambda value: rate_at(value)[0] <= fmr)
    beyond = bisect_left(observed, True, key=lambda value: rate_at(value)[1] < fmr)
    return [float(observed[min(low, len(observed) - 1)]), float(observed[max(beyond - 1, 0)])]


def _parts(scores: RunScores, rule: PairRule) -> Iterator[tuple[str, Bool]]:
    """Which pairs (p,) are looked at, by name: all, each group's, and those of no group where there are some."""
    yield "all pairs", np.ones(len(scores.same), dtype=bool)
    group = scores.pair_groups(rule)
    for code, level in enumerate(scores.levels):
        yield level, group == code
    if scores.levels and np.any(group < 0):
        yield NO_GROUP[rule], group < 0


@dataclass(frozen=True)
class _Part:
    """All pairs, those of a group, or those of none."""

    name: str
    impostors: OneKind
    genuine: OneKind

    @classmethod
    def of(cls, scores: RunScores, values: F64, name: str, chosen: Bool) -> _Part:
        impostors = np.flatnonzero(chosen & ~scores.same)
        genuine = np.flatnonzero(chosen & scores.same)
        return cls(
            name,
            OneKind(values[impostors], scores.people_of(impostors), genuine=False),
            OneKind(values[genuine], scores.people_of(genuine), genuine=True),
        )

    def at(self, threshold: float | None, wanted: ThresholdRequest) -> dict[str, Any]:
        """Both error rates at a threshold; None accepts nothing."""
        fmr = _rate(self.impostors, threshold, wanted.confidence)
        fnmr = _rate(self.genuine, threshold, wanted.confidence)
        # few pairs cannot prove a low rate, but they can show a high one
        fmr["enough_pairs"] = wanted.fmr is None or (
            len(self.impostors) >= fewest_impostors(None, wanted.fmr, wanted.confidence)
            or (fmr["interval"] is not None and fmr["interval"][0] > wanted.fmr)
        )
        fnmr["enough_pairs"] = len(self.genuine) >= ENOUGH_GENUINE
        return {"name": self.name, "fmr": fmr, "fnmr": fnmr}


def _rate(pairs: OneKind, threshold: float | None, confidence: float) -> dict[str, Any]:
    errors = pairs.errors_at(threshold)
    interval = binomial = None
    if errors.pairs > 0:
        interval = list(rate_interval(errors, confidence))
        binomial = list(rate_interval(Errors(errors.errors, errors.pairs), confidence))
    return {
        "rate": errors.rate if errors.pairs > 0 else None,
        "errors": errors.errors,
        "pairs": errors.pairs,
        "interval": interval,
        "phi": math.sqrt(errors.spread),
        "binomial": binomial,
        "over_identities": None if pairs.people is None else interval,
    }


# -- in a model's file -----------------------------------------------------------------------------------------------


def checked(entries: Any) -> tuple[Threshold, ...]:
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


def merged(before: Sequence[Threshold], new: Sequence[Threshold]) -> list[Threshold]:
    """All of them, by rate; a new one replaces that of the same rate."""
    stays = [old for old in before if not any(_is_for(entry, old["wanted_fmr"], old["on"]) for entry in new)]
    return sorted([*stays, *new], key=lambda entry: (entry["on"], -entry["wanted_fmr"]))


def chosen(kept: Sequence[Threshold], fmr: float, on: On, confident: bool) -> float:
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


def _is_for(entry: Threshold, fmr: float, on: str) -> bool:
    return entry["on"] == on and math.isclose(entry["wanted_fmr"], fmr, rel_tol=1e-9)
