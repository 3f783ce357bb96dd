"""A run's held-out pairs, fold by fold, and what thresholds of its training folds do to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fairfr.core.types import F64, I64, Bool
from fairfr.report.readings import Reading, Run
from fairfr.report.scores import Scores

REPORTED = "training_thresholds"


class Fold(NamedTuple):
    """One held-out fold: labels and ranked values (p,), their rows among all scores, and the thresholds by name."""

    name: str
    same: Bool
    values: F64
    rows: I64
    thresholds: dict[str, float]


def folds_of(run: Run, reading: Reading) -> Iterator[Fold]:
    """The folds of a run whose scores are at hand; none otherwise."""
    scores = Scores.at_hand(run)
    if scores is None:
        return
    codes, names = scores.words("split")
    values = scores.ranked(reading)
    on = "probability" if values is scores.probability else "score"
    for code, name in enumerate(names):
        rows = np.flatnonzero(codes == code)
        reported = run.stored["fit_report"].get(name, {}).get(REPORTED, {}).get(on, {})
        # JSON has no infinity: a threshold that nothing reaches is stored as nothing
        thresholds = {what: np.inf if value is None else float(value) for what, value in reported.items()}
        yield Fold(name, scores.same[rows], values[rows], rows, thresholds)
