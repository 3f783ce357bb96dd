"""What log likelihood ratios cost, and where both error rates are equal: cllr, its minimum, and the equal error rate.

Arguments: ``same`` (p,) bool, and one value for each pair. Without genuine pairs or without impostors: NaN.
"""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, Bool
from fairfr.numerics.roc import roc_curve

NAN = float("nan")


def cllr(same: Bool, llr: F64) -> float:
    """Cost of log likelihood ratios, in bits (Brümmer and du Preez 2006): 0 is perfect, 1 says nothing.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    llr : ndarray of float, shape (n_pairs,)
        Natural logarithm of how many times more often pairs of one person look like this pair. May be infinite.

    Returns
    -------
    float
        The mean over genuine pairs of ``log2(1 + exp(-llr))`` and over impostors of ``log2(1 + exp(llr))``, halved and
        added up: both kinds weigh the same, however many there are.
    """
    if same.all() or not same.any():
        return NAN
    genuine = np.logaddexp(0.0, -llr[same]).mean()
    impostor = np.logaddexp(0.0, llr[~same]).mean()
    return float((genuine + impostor) / 2 / np.log(2))


def log_loss(same: Bool, log_odds: F64) -> float:
    """The mean of minus the logarithm of the probability of what is true."""
    return float(np.mean(np.logaddexp(0.0, np.where(same, -log_odds, log_odds))))


def cllr_min(same: Bool, score: F64) -> float:
    """The lowest ``cllr`` that any non-decreasing curve of the score has on these pairs: what is lost by ranking.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    score : ndarray of float, shape (n_pairs,)
        Higher means more similar.

    Returns
    -------
    float
        The cost of the isotonic curve that is fitted to these very pairs.
    """
    from sklearn.isotonic import isotonic_regression

    if same.all() or not same.any():
        return NAN
    values, place, n = np.unique(score, return_inverse=True, return_counts=True)
    share = np.bincount(place, same, len(values)) / n
    probability = isotonic_regression(share, sample_weight=n, y_min=0.0, y_max=1.0)[place]
    own = same.mean()
    with np.errstate(divide="ignore"):
        llr = np.log(probability) - np.log1p(-probability) - np.log(own / (1 - own))
    return cllr(same, llr)


def eer(same: Bool, score: F64) -> float:
    """Equal error rate: where the false match rate is the false non-match rate, on the ROC curve's straight pieces.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    score : ndarray of float, shape (n_pairs,)
        Higher means more similar.

    Returns
    -------
    float
        From 0 (perfect) to 1.
    """
    curve = roc_curve(same, score)
    if not curve.has_both_classes:
        return NAN
    excess = curve.fpr + curve.tpr - 1  # rises from -1 to 1
    after = int(np.argmax(excess >= 0))
    if excess[after] == 0:
        return float(curve.fpr[after])
    before = after - 1
    part = -excess[before] / (excess[after] - excess[before])
    return float(curve.fpr[before] + part * (curve.fpr[after] - curve.fpr[before]))
