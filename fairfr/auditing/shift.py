"""Without labels: can any share of genuine pairs explain the probabilities, or have conditions changed?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairfr.core.types import F64
from fairfr.library.expected import Histogram

FAR = 2.36
"""Largest distance of two distributions, in units of its scale, that chance reaches once in 35,000 times."""


@dataclass(frozen=True, slots=True)
class Shift:
    """The probabilities of a group beside those of held-out pairs.

    ``share``: the share of genuine pairs that explains them best, None if none does. ``distance``: what is left
    unexplained, the largest difference of the two distributions; ``limit``: what chance may leave.
    """

    grouping: str | None
    group: str
    pairs: int
    accepted: int | None
    share: float | None
    distance: float
    limit: float


def measure_shift(
    grouping: str | None, group: str, probability: F64, stored: Histogram, threshold: float | None
) -> Shift:
    """Compare the probabilities of new pairs, of whatever labels, with those of held-out pairs.

    Parameters
    ----------
    grouping, group : str
        Whose pairs they are.
    probability : ndarray of float, shape (n_pairs,)
        Of the new pairs.
    stored : Histogram
        Of the held-out pairs.
    threshold : float or None
        From which on a pair is accepted.

    Returns
    -------
    Shift
        Its ``share`` has the least squared distance at the edges of the histogram's bins.
    """
    n = len(probability)
    below = np.searchsorted(np.sort(probability), np.array(stored.edges), side="left") / n
    n_genuine = sum(stored.genuine)
    n_impostors = sum(stored.impostors)
    genuine = _below(stored.genuine)
    impostors = _below(stored.impostors)
    apart = genuine - impostors
    share = 0.5
    if apart.any():
        share = float(np.clip((below - impostors) @ apart / (apart @ apart), 0.0, 1.0))
    left = np.abs(below - share * genuine - (1 - share) * impostors)
    variance = 0.0
    for part, pairs in ((share, n_genuine), (1 - share, n_impostors)):
        if part > 0 and pairs > 0:
            variance += part**2 / pairs
    distance = float(left.max(initial=0.0))
    limit = FAR * math.sqrt(1 / n + variance)
    accepted = None
    if threshold is not None:
        accepted = int(np.count_nonzero(probability >= threshold))
    found = share if distance <= limit else None
    return Shift(grouping, group, n, accepted, found, distance, limit)


def _below(counts: tuple[int, ...]) -> F64:
    """The share of pairs below each edge."""
    sums = np.cumsum(np.array(counts, dtype=np.float64))
    below: F64 = sums[:-1] / max(sums[-1], 1.0)
    return below
