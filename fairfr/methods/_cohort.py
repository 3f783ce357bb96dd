"""Cohorts: strangers of one group, whose cosines to an image tell what an impostor's score looks like for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64, I32, I64, Bool
from fairfr.methods._moments import Moments

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
