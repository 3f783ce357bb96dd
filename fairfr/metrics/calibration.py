"""How well probabilities match what happens: Brier score, ECE and the Kolmogorov-Smirnov calibration error.

All are in the event-probability form (the probability of a genuine pair against how often pairs are genuine), not
the top-label form of classification. Arguments: ``same`` (p,) bool, ``probability`` (p,) in [0, 1]. No pairs: NaN.
"""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, I64, Bool
from fairfr.numerics.roc import last_of_ties, sort_descending

BINS = 15


def brier(same: Bool, probability: F64) -> float:
    """Mean squared difference of probability and label (Brier 1950): calibration and discrimination together.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    probability : ndarray of float, shape (n_pairs,)
        Probability that it does, in [0, 1].

    Returns
    -------
    float
        From 0 (perfect) to 1; NaN without pairs.
    """
    if len(same) == 0:
        return float("nan")
    return float(np.mean((probability - same) ** 2))


def brier_raw(same: Bool, score: F64) -> float:
    """Brier score of the score itself, clipped to [0, 1] and read as a probability."""
    return brier(same, np.clip(score, 0.0, 1.0))


def ece(same: Bool, probability: F64, bins: int = BINS, equal_mass: bool = False) -> float:
    """Expected calibration error (Naeini et al. 2015): mean over bins of |mean probability - share genuine|.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    probability : ndarray of float, shape (n_pairs,)
        Probability that it does, in [0, 1].
    bins : int, default 15
        Number of bins; empty ones weigh nothing.
    equal_mass : bool, default False
        False: equal widths on [0, 1], each bin closed on the left and the last one on both sides. True: bins that
        begin at quantiles of ``probability``; equal probabilities share a bin, so the order of pairs is irrelevant.

    Returns
    -------
    float
        From 0 (perfect) to 1; NaN without pairs.
    """
    if len(same) == 0:
        return float("nan")
    if equal_mass:
        inner = _quantiles(probability, bins)
    else:
        inner = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    bin_of: I64 = np.searchsorted(inner, probability, side="right")
    excess = np.bincount(bin_of, weights=probability - same, minlength=bins)
    return float(np.sum(np.abs(excess)) / len(same))


def _quantiles(probability: F64, bins: int) -> F64:
    """Smallest probability of the second, third, ... of ``bins`` equally full bins, (bins - 1,)."""
    starts = np.arange(1, bins) * len(probability) // bins
    quantiles: F64 = np.sort(probability)[starts]
    return quantiles


def ks(same: Bool, probability: F64) -> float:
    """Kolmogorov-Smirnov calibration error (Gupta et al. 2021): max_k |sum_{i <= k} (probability_i - same_i)| / p.

    Pairs are taken by rising probability, and the running sum is read only where a run of equal probabilities ends:
    inside a run it would depend on the order of the pairs.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    probability : ndarray of float, shape (n_pairs,)
        Probability that it does, in [0, 1].

    Returns
    -------
    float
        From 0 (perfect) to 1; NaN without pairs.
    """
    if len(same) == 0:
        return float("nan")
    same, probability = sort_descending(same, probability)
    rising = probability[::-1]
    running = np.cumsum(rising - same[::-1])[last_of_ties(rising)]
    return float(np.max(np.abs(running)) / len(same))
