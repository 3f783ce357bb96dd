"""Local density of training midpoints: rho, the mean distance to the k nearest reference midpoints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import DataError
from fairfr.core.types import F64
from fairfr.pairs.neighbours import Engine
from fairfr.pairs.view import PairView, References


@dataclass(frozen=True, slots=True)
class LocalDensity:
    """rho(m) over a fixed set of reference midpoints; large where they are sparse."""

    references: References
    k: int
    self_neighbour: bool
    engine: Engine

    def of(self, view: PairView) -> F64:
        """rho of each pair, (p,)."""
        return view.mean_distance(self.references, self.k, self.self_neighbour, self.engine)


def fit_density(view: PairView, k: int, self_neighbour: bool, engine: Engine, ctx: FitContext) -> LocalDensity:
    """References are all training pairs, or a random ``ctx.max_references`` of them."""
    if view.n_pairs < (1 if self_neighbour else 2):
        raise DataError(f"local density found {view.n_pairs} training pairs; it needs others to measure distances to.")
    chosen = None
    if ctx.max_references is not None and ctx.max_references < view.n_pairs:
        drawn = ctx.rng("references").choice(view.n_pairs, ctx.max_references, replace=False)
        chosen = view.by_id()[np.sort(drawn)]
    references = view.references(chosen)
    ctx.report["references"] = len(references)
    return LocalDensity(references, k, self_neighbour, engine)
