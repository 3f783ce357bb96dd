"""Groups of pairs found by Ward clustering of normalised midpoints: where no labels are, places stand for groups."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, I64
from fairfr.pairs.design import PairDesign


def ward_means(design: PairDesign, cosine: F64, chosen: I64, k: int) -> F64:
    """Means of the k Ward clusters of the ``chosen`` pairs' normalised midpoints, (k, d)."""
    from sklearn.cluster import AgglomerativeClustering

    points = design.rows(chosen) * inverse_lengths(cosine[chosen])[:, None]
    labels = AgglomerativeClustering(n_clusters=k, linkage="ward").fit_predict(points)
    return np.stack([points[labels == cluster].mean(axis=0) for cluster in range(k)])


def nearest_mean(design: PairDesign, cosine: F64, means: F64) -> I64:
    """The mean (k, d) nearest to each pair's normalised midpoint, (p,): the largest z.c - |c|^2 / 2."""
    length = inverse_lengths(cosine)
    closeness = [length * design.matvec(mean) - mean @ mean / 2 for mean in means]
    out: I64 = np.argmax(closeness, axis=0)
    return out


def inverse_lengths(cosine: F64) -> F64:
    """1 / |m| = sqrt(2 / (1 + s)) of each pair, (p,); 0 for opposite images, whose midpoint has no direction."""
    squared = (1 + cosine) / 2
    return np.divide(1.0, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
