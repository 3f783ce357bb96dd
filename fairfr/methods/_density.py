"""Local density of training midpoints: rho, the mean distance to the k nearest reference midpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import DataError
from fairfr.core.serialization import serializable
from fairfr.core.types import F64
from fairfr.pairs.neighbours import Engine, Midpoints
from fairfr.pairs.view import PairView


@serializable("LocalDensity")
@dataclass(frozen=True, slots=True)
class LocalDensity:
    """rho(m) over a fixed set of reference midpoints; large where they are sparse."""

    references: Midpoints
    k: int
    self_neighbour: bool
    engine: Engine

    def of(self, view: PairView) -> F64:
        """rho of new pairs, (p,). A pair that happens to be a reference finds itself at distance 0."""
        return view.mean_knn_distance(self.references, self.k, self.engine)

    def of_training(self, view: PairView) -> F64:
        """rho of the pairs that the references were chosen from, (p,); without ``self_neighbour`` each leaves itself
        out, since no new pair will find itself there."""
        if self.self_neighbour:
            return self.of(view)
        return view.mean_knn_distance_to_others(self.references, self.k, self.engine)


class DensityFields(Protocol):
    """The constructor fields of a method that measures local density."""

    k: int
    self_neighbour: bool
    engine: Engine
    max_references: int | None


def fit_density(method: DensityFields, view: PairView, ctx: FitContext) -> LocalDensity:
    """References are all training pairs, or a random ``max_references`` of them."""
    needed = 2
    if method.self_neighbour:
        needed = 1
    if view.n_pairs < needed:
        raise DataError(f"local density found {view.n_pairs} training pairs; it needs others to measure distances to.")
    chosen = None
    limit = method.max_references
    if limit is not None and limit < view.n_pairs:
        drawn = ctx.rng("references").choice(view.n_pairs, limit, replace=False)
        chosen = view.order_by_id()[np.sort(drawn)]
    references = view.references(chosen)
    ctx.report["references"] = len(references)
    return LocalDensity(references, method.k, method.self_neighbour, method.engine)
