"""Count, mean and spread of sets of scores, side by side: the statistics that normalisation needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.serialization import serializable
from fairfr.core.types import F64, I64, Bool

MIN_SCORES = 20
MIN_SD = 1e-6


@serializable("Moments")
@dataclass(frozen=True, slots=True)
class Moments:
    """Of m sets: ``count`` (m,), ``mean`` (m,), and ``spread`` (m,), the sum of squared distances from the mean."""

    count: I64
    mean: F64
    spread: F64

    @classmethod
    def empty(cls, m: int) -> Moments:
        return cls(np.zeros(m, dtype=np.int64), np.zeros(m), np.zeros(m))

    @property
    def sd(self) -> F64:
        """Standard deviation with ddof = 1, (m,); 0 for fewer than two scores."""
        variance = np.divide(self.spread, self.count - 1, out=np.zeros_like(self.spread), where=self.count > 1)
        # rounding may leave a spread of nothing just below 0
        return np.sqrt(np.maximum(variance, 0.0))

    @property
    def usable(self) -> Bool:
        """Where there are scores enough, and not all the same, (m,)."""
        out: Bool = (self.count >= MIN_SCORES) & (self.sd >= MIN_SD)
        return out

    def take(self, index: I64) -> Moments:
        return Moments(self.count[index], self.mean[index], self.spread[index])

    def put(self, index: I64 | Bool, values: Moments) -> None:
        """Overwrite the sets at ``index`` (k,), or (m,) for a mask, by ``values`` (k,)."""
        self.count[index], self.mean[index], self.spread[index] = values.count, values.mean, values.spread

    def merge(self, other: Moments) -> Moments:
        """Each set united with the other's, (m,)."""
        count = self.count + other.count
        share = _ratio(other.count, count)
        step = other.mean - self.mean
        return Moments(count, self.mean + step * share, self.spread + other.spread + step**2 * self.count * share)

    def pooled(self) -> Moments:
        """All m sets as one, (1,)."""
        count = self.count.sum(keepdims=True)
        mean = _ratio((self.count * self.mean).sum(keepdims=True), count)
        spread = (self.spread + self.count * (self.mean - mean) ** 2).sum(keepdims=True)
        return Moments(count, mean, spread)

    def without(self, score: F64, chosen: Bool) -> Moments:
        """The sets with one of their scores (m,) taken out where ``chosen`` (m,)."""
        left = self.count - chosen
        step = np.where(chosen, score - self.mean, 0.0)
        mean = np.where(left > 0, self.mean - _ratio(step, left), 0.0)
        spread = np.where(left > 0, self.spread - step**2 * _ratio(self.count, left), 0.0)
        return Moments(left, mean, spread)


def _ratio(above: F64 | I64, below: I64) -> F64:
    """above / below, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros(np.shape(above)), where=below > 0)
