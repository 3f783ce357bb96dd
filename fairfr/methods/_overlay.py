"""The probability of a method that has none of its own: a beta map of its training scores."""

from __future__ import annotations

from fairfr.core.calibrator import Calibrator
from fairfr.core.types import F64, Bool
from fairfr.methods._beta import COSINE_RANGE, BetaMap, fit_beta


def fit_overlay(method: Calibrator, score: F64, same: Bool) -> BetaMap:
    """Fitted on the training scores (p,) over the range that the method declares for them.

    That is -1..1, or ``score_range``; where that is None, the minimum and maximum of the training scores.
    """
    fixed = getattr(method, "score_range", COSINE_RANGE)
    score_range = fixed if fixed is not None else (float(score.min()), float(score.max()))
    return fit_beta(score, same, score_range)
