"""The threshold for a wanted false match rate, from scores of held-out pairs, and what to expect at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import F64, Bool, PairRule
from fairfr.library.model_file import describe
from fairfr.metrics.catalogue import On
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.allowed_false_matches import People, fewest_impostors, most_allowed
from fairfr.numerics.bootstrap import (
    BootstrapDraws,
    draw_bootstrap,
    identities,
    percentile_interval,
    resampling_units,
)
from fairfr.numerics.error_rates import NAN, DrawnSubset, ErrorRate, error_rate, pairs_needed
from fairfr.store.parquet_files import SCORES_FILE
from fairfr.store.result_file import check_files, read_result
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

MOST_WORK = 300_000_000  # pairs times draws: some seconds
NO_GROUP = {"both": "mixed or unknown", "first": "unknown"}
"""What the pairs are called that are in no group, by the rule that puts pairs into groups."""
ENOUGH_GENUINE = 30
"""With fewer genuine pairs even no miss at all leaves an FNMR of 10 % possible (the rule of three)."""


@dataclass(frozen=True, slots=True)
class ThresholdRequest:
    """What is asked for: at most ``fmr`` false matches among impostors. ``rule``: which pairs are a group's."""

    fmr: float
    confidence: float = 0.95
    on: On = "probability"
    rule: PairRule = "both"
    draws: int = 1000

    def __post_init__(self) -> None:
        if not 0 < self.fmr < 1:
            raise ConfigError(f"--fmr {self.fmr:g}: a rate lies between 0 and 1, such as 1e-3.")
        if not 0.5 <= self.confidence < 1:
            raise ConfigError(f"--confidence {self.confidence:g}: between 0.5 and 1, such as 0.95.")
        if self.draws < 1:
            raise ConfigError(f"--draws {self.draws}: at least 1.")


@dataclass(frozen=True, slots=True)
class Rates:
    """Both error rates of some pairs at one threshold, and whether there are enough pairs for each."""

    name: str
    fmr: ErrorRate
    fnmr: ErrorRate
    enough_for_fmr: bool
    enough_for_fnmr: bool


@dataclass(frozen=True, slots=True)
class GroupErrorRates:
    """What happens at ``value``: to all pairs, to each group's, and to those of no group (None without groups)."""

    value: float
    all_pairs: Rates
    groups: tuple[Rates, ...]
    no_group: Rates | None

    @property
    def rows(self) -> tuple[Rates, ...]:
        """All of them, in the order in which people read them."""
        return (self.all_pairs, *self.groups, *([] if self.no_group is None else [self.no_group]))


@dataclass(frozen=True, slots=True)
class ThresholdReport:
    """``plain`` reaches the wanted rate on the held-out pairs (``span``: its interval over identities).

    ``confident`` keeps the rate with the wanted confidence. It is None where no threshold does: there are too few
    pairs, or (``is_shared``) too many impostors share the highest value. ``people`` are met in the impostor pairs, and
    ``needed`` so many impostor pairs without a false match would do.
    """

    plain: GroupErrorRates
    span: tuple[float, float]
    confident: GroupErrorRates | None
    is_shared: bool
    draws: int
    people: int
    needed: int
    identities_known: bool


def held_out_scores(model: Path, out_root: Path, run: Path | None = None) -> RunScores:
    """The scores of the run that a model names, or of another run folder of the same run."""
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


def find_threshold(scores: RunScores, wanted: ThresholdRequest) -> ThresholdReport:
    """Find the threshold and measure what happens at it."""
    same, values = scores.same, scores.probability if wanted.on == "probability" else scores.score
    drawn = _drawn(scores, wanted.draws)
    impostors = DrawnSubset(drawn, np.flatnonzero(~same))
    threshold = OperatingPoint.from_pairs(same, values, wanted.fmr, "conservative").thresholds[0]
    people = _people(scores)
    confident = _confident(people, same, values, wanted)
    thresholds = [threshold, *([confident] if np.isfinite(confident) else [])]
    rows = [_rates(name, drawn, chosen, same, values, thresholds, wanted) for name, chosen in _parts(scores, wanted)]
    levels = len(scores.levels)
    found = [
        GroupErrorRates(value, rows[0][i], tuple(row[i] for row in rows[1 : levels + 1]), _last(rows[levels + 1 :], i))
        for i, value in enumerate(thresholds)
    ]
    return ThresholdReport(
        plain=found[0],
        span=_threshold_interval(impostors, values[~same], np.unique(values), wanted),
        confident=found[1] if len(found) > 1 else None,
        is_shared=confident == np.inf,
        draws=len(drawn.multiplicity),
        people=len(people),
        needed=fewest_impostors(people, wanted.fmr, wanted.confidence),
        identities_known=scores.identities is not None and bool((scores.identities[0] >= 0).all()),
    )


def _drawn(scores: RunScores, asked: int) -> BootstrapDraws:
    units = resampling_units(*scores.images, scores.same, scores.identities)
    return draw_bootstrap(units, max(1, min(asked, MOST_WORK // len(scores.same))))


def _parts(scores: RunScores, wanted: ThresholdRequest) -> Iterator[tuple[str, Bool]]:
    """Which pairs (p,) are looked at, by name: all, each group's, and those of no group where there are some."""
    yield "all pairs", np.ones(len(scores.same), dtype=bool)
    group = scores.pair_groups(wanted.rule)
    for code, level in enumerate(scores.levels):
        yield level, group == code
    if scores.levels and np.any(group < 0):
        yield NO_GROUP[wanted.rule], group < 0


def _last(rows: list[list[Rates]], i: int) -> Rates | None:
    return rows[0][i] if rows else None


def _rates(
    name: str,
    drawn: BootstrapDraws,
    chosen: Bool,
    same: Bool,
    values: F64,
    thresholds: list[float],
    wanted: ThresholdRequest,
) -> list[Rates]:
    """Of the chosen pairs, at each of the thresholds."""
    impostor, genuine = np.flatnonzero(chosen & ~same), np.flatnonzero(chosen & same)
    impostors, genuines = DrawnSubset(drawn, impostor), DrawnSubset(drawn, genuine)
    out = []
    for threshold in thresholds:
        fmr = error_rate(impostors, values[impostor] >= threshold, wanted.confidence)
        fnmr = error_rate(genuines, values[genuine] < threshold, wanted.confidence)
        # few pairs cannot prove a low rate, but they can show a high one
        enough = len(impostor) >= pairs_needed(wanted.fmr, wanted.confidence) or fmr.bounds[0] > wanted.fmr
        out.append(Rates(name, fmr, fnmr, enough, enough_for_fnmr=len(genuine) >= ENOUGH_GENUINE))
    return out


def _threshold_interval(
    impostors: DrawnSubset, values: F64, observed: F64, wanted: ThresholdRequest
) -> tuple[float, float]:
    """Interval of the threshold itself, set again in each draw over the impostors' ``values`` (n,).

    As for the threshold, it is the smallest of the ``observed`` values, sorted, above the impostors to be refused.
    """
    order = np.argsort(-values, kind="stable")
    found = np.full(len(impostors.totals), NAN)
    for draw, total in enumerate(impostors.totals):
        if total:
            passed = np.cumsum(impostors.weights(draw, order))
            first_refused = min(int(np.searchsorted(passed, wanted.fmr * total, side="right")), len(order) - 1)
            above = np.searchsorted(observed, values[order[first_refused]], side="right")
            found[draw] = observed[min(above, len(observed) - 1)]
    return percentile_interval(found, wanted.confidence)


def _people(scores: RunScores) -> People:
    """Who is met in the impostor pairs."""
    left, right = scores.images
    person = identities(left, right, scores.same, scores.identities)
    return People.of(person[left][~scores.same], person[right][~scores.same])


def _confident(people: People, same: Bool, values: F64, wanted: ThresholdRequest) -> float:
    """The smallest threshold with no more false matches than keep the wanted rate.

    NaN where there are too few pairs for any, infinite where too many impostors share the highest value.
    """
    order = np.argsort(-values[~same], kind="stable")
    allowed = most_allowed(people, order, wanted.fmr, wanted.confidence)
    if allowed < 0:
        return NAN
    return OperatingPoint.from_pairs(same, values, (allowed + 0.5) / len(order), "conservative").thresholds[0]


def as_dict(found: ThresholdReport, wanted: ThresholdRequest, scores: RunScores) -> dict[str, Any]:
    """For programs."""

    def rate(of: ErrorRate, enough_pairs: bool) -> dict[str, Any]:
        return {
            "rate": _plain(of.value),
            "errors": of.errors,
            "pairs": of.pairs,
            "binomial": [_plain(end) for end in of.binomial],
            "over_identities": [_plain(end) for end in of.clustered],
            "enough_pairs": enough_pairs,
        }

    def both(of: Rates | None) -> dict[str, Any] | None:
        if of is None:
            return None
        return {"name": of.name, "fmr": rate(of.fmr, of.enough_for_fmr), "fnmr": rate(of.fnmr, of.enough_for_fnmr)}

    sure = found.confident
    return {
        "run": scores.run.result.key,
        "source": scores.run.result.source,
        "on": wanted.on,
        "wanted_fmr": wanted.fmr,
        "confidence": wanted.confidence,
        "rule": wanted.rule,
        "threshold": _plain(found.plain.value),
        "threshold_over_identities": [_plain(end) for end in found.span],
        "confident_threshold": None if sure is None else _plain(sure.value),
        "draws": found.draws,
        "all": both(found.plain.all_pairs),
        "groups": [both(group) for group in found.plain.groups],
        "no_group": both(found.plain.no_group),
        "all_at_confident": None if sure is None else both(sure.all_pairs),
        "groups_at_confident": None if sure is None else [both(group) for group in sure.groups],
        "no_group_at_confident": None if sure is None else both(sure.no_group),
    }


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
