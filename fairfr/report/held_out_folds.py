"""A run's held-out pairs, fold by fold, and what thresholds of its training folds do to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fairfr.core.types import F64, I64, Bool
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

REPORTED = "training_thresholds"


class HeldOutFold(NamedTuple):
    """One held-out fold: labels and ranked values (p,), and their rows among all scores.

    ``thresholds`` by name, (p,) each: those of the fit that scored the pair.
    """

    name: str
    same: Bool
    values: F64
    rows: I64
    thresholds: dict[str, F64]


def held_out_folds(run: Run) -> Iterator[HeldOutFold]:
    """The folds of a run whose scores are at hand; none otherwise."""
    scores = RunScores.if_available(run)
    if scores is None:
        return
    codes, names = scores.words("split")
    values = scores.ranking_values
    on = "probability" if values is scores.probability else "score"
    thresholds = _thresholds(run, scores, on)
    for code, name in enumerate(names):
        rows = np.flatnonzero(codes == code)
        yield HeldOutFold(
            name, scores.same[rows], values[rows], rows, {what: of[rows] for what, of in thresholds.items()}
        )


def _thresholds(run: Run, scores: RunScores, on: str) -> dict[str, F64]:
    """By name the threshold (p,) that the fit of each pair reported; none if the run did not ask for them."""
    codes, fits = scores.fits
    reports = [run.result.fit_report[fit].get(REPORTED) for fit in fits]
    if None in reports:
        return {}
    thresholds = {}
    for name in reports[0][on]:
        # JSON has no infinity: a threshold that nothing reaches is stored as nothing
        of_fits = np.array([report[on][name] for report in reports], dtype=np.float64)
        of_fits[np.isnan(of_fits)] = np.inf
        thresholds[name] = of_fits[codes]
    return thresholds
