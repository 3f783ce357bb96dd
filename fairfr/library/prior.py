"""A probability where genuine pairs are rarer or more frequent than in training, and what the pair itself says."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.types import F64


def check_prior(prior: Any) -> None:
    """DataError unless it is a share of genuine pairs: a number above 0 and below 1."""
    if isinstance(prior, bool) or not isinstance(prior, int | float | np.number) or not 0 < float(prior) < 1:
        raise DataError(
            f"prior is {prior!r}, but the share of genuine pairs is a number above 0 and below 1, such as 0.001."
        )


def with_prior(probability: F64, trained: float, prior: float) -> F64:
    """The probabilities (p,) where the share of genuine pairs is ``prior`` and not ``trained``; 0 and 1 stay.

    The odds times (prior / (1 - prior)) / (trained / (1 - trained)), written without odds: those of 1 are infinite.
    """
    genuine = probability * (prior / trained)
    impostor = (1 - probability) * ((1 - prior) / (1 - trained))
    adjusted: F64 = genuine / (genuine + impostor)
    return adjusted


def log_likelihood_ratio(probability: F64, n_same: int, n_different: int) -> F64:
    """Natural log likelihood ratio (p,): log odds without those of training, which had so many pairs of each kind.

    It stays within -log(n_same + 1) and log(n_different + 1): so many pairs cannot show that something is rarer.
    """
    with np.errstate(divide="ignore"):
        log_odds = np.log(probability) - np.log1p(-probability)
    log_prior_odds = np.log(n_same) - np.log(n_different)
    ratio: F64 = np.clip(log_odds - log_prior_odds, -np.log(n_same + 1), np.log(n_different + 1))
    return ratio
