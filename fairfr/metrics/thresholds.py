"""Thresholds that training pairs set, to be used on others."""

from __future__ import annotations

import numpy as np

from fairfr.core.rates import ALPHAS
from fairfr.core.types import F64, Bool
from fairfr.metrics.operating import OperatingPoint
from fairfr.numerics.roc import roc_curve

ACCURACY = "accuracy"


def fpr_name(alpha: str) -> str:
    """``fpr_1e-3``."""
    return f"fpr_{alpha}"


def most_accurate(same: Bool, values: F64) -> float:
    """The threshold under which most pairs (p,) are decided rightly; of several, the highest.

    That is the threshold of the LFW protocol: with it, cosines of published models give the accuracies that others
    measure.
    """
    curve = roc_curve(same, values)
    return float(curve.thresholds[int(np.argmax(curve.n_true - curve.n_false))])


def training_thresholds(same: Bool, values: F64) -> dict[str, float]:
    """The most accurate threshold of ``values`` (p,), and those of the largest FPR that does not exceed each level."""
    points = {
        fpr_name(text): OperatingPoint.find(same, values, alpha, "conservative").thresholds[0]
        for text, alpha in ALPHAS.items()
    }
    return {ACCURACY: most_accurate(same, values), **points}
