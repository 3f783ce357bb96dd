"""What impostors score: count, mean and spread of sets of scores, and cohorts of other people to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64, I32, I64, Bool

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
        self.count[index] = values.count
        self.mean[index] = values.mean
        self.spread[index] = values.spread

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


BLOCK = 4096


@serializable("Cohort")
@dataclass(frozen=True, slots=True)
class Cohort:
    """One image each of some people: ``identity`` (k,) ascending, ``vectors`` (k, d).

    Moments of an image's k cosines need no list of them: with the cohort's ``centre`` (d,) and a ``root`` (r, d) of
    its scatter, r = min(k, d), the mean is z . centre and the sum of squared distances |root z|^2.
    """

    identity: I32
    vectors: F64
    centre: F64
    root: F64

    @classmethod
    def of(cls, identity: I32, vectors: F32) -> Cohort:
        order = np.argsort(identity)
        own = vectors[order].astype(np.float64)
        centre = own.sum(axis=0) / max(len(own), 1)
        root = own - centre
        if len(root) > root.shape[1]:
            root = np.linalg.qr(root, mode="r")
        return cls(identity[order], own, centre, root)

    def __len__(self) -> int:
        return len(self.identity)

    def moments(self, vectors: F32, identity: I32) -> Moments:
        """Of the cosines of each image (m, d) to the cohort, the image's own identity (m,) left out; (m,)."""
        out = Moments.empty(len(vectors))
        for start in range(0, len(vectors), BLOCK):
            rows = np.arange(start, min(start + BLOCK, len(vectors)))
            out.put(rows, self._block(vectors[rows].astype(np.float64), identity[rows]))
        return out

    def _block(self, vectors: F64, identity: I32) -> Moments:
        spread = np.square(vectors @ self.root.T).sum(axis=1)
        count = np.full(len(vectors), len(self), dtype=np.int64)
        everyone = Moments(count, vectors @ self.centre, spread)
        position, present = _find(self.identity, identity)
        cosine = np.zeros(len(vectors))
        cosine[present] = np.einsum("ij,ij->i", vectors[present], self.vectors[position[present]])
        return everyone.without(cosine, present)


def _find(values: npt.NDArray[np.integer[Any]], wanted: npt.NDArray[np.integer[Any]]) -> tuple[I64, Bool]:
    """Where in ascending ``values`` (k,) each of ``wanted`` (m,) is, and whether it is there at all."""
    position = np.searchsorted(values, wanted)
    present = np.zeros(len(wanted), dtype=bool)
    inside = position < len(values)
    present[inside] = values[position[inside]] == wanted[inside]
    return position, present


def draw_cohort(vectors: F32, identity: I32, size: int, rng: np.random.Generator) -> Cohort:
    """At most ``size`` of the people on these images (u, d), each equally likely, with one random image each.

    People are numbered as they appear among the images: who is drawn does not depend on the codes of ``identity``.
    """
    _, appears, person = np.unique(identity, return_index=True, return_inverse=True)
    shuffled = rng.permutation(len(identity))
    _, first = np.unique(appears[person[shuffled]], return_index=True)
    one_each = shuffled[first]
    chosen = rng.permutation(one_each)[:size]
    return Cohort.of(identity[chosen], vectors[chosen])
