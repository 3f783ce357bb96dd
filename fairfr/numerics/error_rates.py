"""Error rates at a threshold, and how far off they may be.

Two intervals are given, because pairs share people. The exact binomial one (Clopper and Pearson 1934) takes pairs for
independent. It holds although the threshold was set on the same pairs: between the k-th and the next largest of n
impostors the true rate lies between a Beta(k, n - k + 1) and a Beta(k + 1, n - k) variable, whose quantiles are its
ends. The bootstrap over identities takes pairs that share a person together. The wider end counts on each side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfr.core.types import F64, I64, Bool
from fairfr.numerics.bootstrap import BootstrapDraws, percentile_interval

NAN = float("nan")


class ErrorRate(NamedTuple):
    """``errors`` of ``pairs``, with bounds: exact binomial, and over identities (NaN where the draws say nothing)."""

    errors: int
    pairs: int
    binomial: tuple[float, float]
    clustered: tuple[float, float]

    @property
    def value(self) -> float:
        return self.errors / self.pairs if self.pairs else NAN

    @property
    def bounds(self) -> tuple[float, float]:
        """The wider of both on each side."""
        return float(np.fmin(self.binomial[0], self.clustered[0])), float(np.fmax(self.binomial[1], self.clustered[1]))


def clopper_pearson(errors: int, pairs: int, confidence: float) -> tuple[float, float]:
    """Exact two-sided bounds of a share; (0, 1) where there are no pairs."""
    from scipy.special import betaincinv

    tail, low, high = (1 - confidence) / 2, 0.0, 1.0
    if errors > 0:
        low = float(betaincinv(errors, pairs - errors + 1, tail))
    if errors < pairs:
        high = float(betaincinv(errors + 1, pairs - errors, 1 - tail))
    return low, high


def pairs_needed(rate: float, confidence: float) -> int:
    """So many pairs without an error prove a rate below ``rate``: about 3 / rate at 95 % (the rule of three)."""
    return int(np.ceil(np.log(1 - confidence) / np.log1p(-rate)))


class DrawnSubset:
    """Some pairs (q,) and how often each counts in each draw: only what is asked for is spelled out."""

    def __init__(self, draws: BootstrapDraws, chosen: I64) -> None:
        self.multiplicity = draws.multiplicity
        self._a, self._b = draws.ends[:, chosen]
        self.totals = np.array([self.weights(i).sum() for i in range(len(draws.multiplicity))], dtype=np.float64)

    def __len__(self) -> int:
        return len(self._a)

    def weights(self, draw: int, at: I64 | slice = slice(None)) -> I64:
        """How often the pairs ``at`` (m,) count in one draw, (m,): a pair across two identities by the product."""
        count, a, b = self.multiplicity[draw].astype(np.int64), self._a[at], self._b[at]
        weights: I64 = np.where(a == b, count[a], count[a] * count[b])
        return weights

    def shares(self, at: I64) -> F64:
        """The share of the pairs ``at`` among all in each draw, (draws,); NaN where nothing was drawn."""
        chosen = np.array([self.weights(i, at).sum() for i in range(len(self.totals))], dtype=np.float64)
        shares: F64 = np.divide(chosen, self.totals, out=np.full(len(chosen), NAN), where=self.totals > 0)
        return shares


def error_rate(subset: DrawnSubset, error: Bool, confidence: float) -> ErrorRate:
    """The rate of ``error`` (q,) over the pairs of ``subset`` (q,)."""
    at = np.flatnonzero(error)
    bounds = clopper_pearson(len(at), len(subset), confidence)
    # no draw shows an error that no pair has: there the draws say nothing
    says = 0 < len(at) < len(subset)
    return ErrorRate(
        len(at), len(subset), bounds, percentile_interval(subset.shares(at), confidence) if says else (NAN, NAN)
    )
