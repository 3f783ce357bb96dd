"""Groups of pairs found by Ward clustering of normalised midpoints: where no labels are, places stand for groups."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, I64
from fairfr.pairs.design import PairDesign

ROW_BLOCK = 256


def ward_means(design: PairDesign, cosine: F64, chosen: I64, k: int) -> F64:
    """Means of the k Ward clusters of the ``chosen`` pairs' normalised midpoints, (k, d).

    Fewer than k where merges tie in height, as they do among repeated points.
    """
    from scipy.cluster.hierarchy import fcluster, ward

    points = design.rows(chosen) * inverse_lengths(cosine[chosen])[:, None]
    labels = fcluster(ward(_condensed_distances(points)), k, criterion="maxclust")
    return np.stack([points[labels == cluster].mean(axis=0) for cluster in np.unique(labels)])


def _condensed_distances(points: F64) -> F64:
    """Euclidean distances of all pairs of rows in scipy's condensed order: row i holds those to i + 1, i + 2, ...

    By matrix products, a block of rows at a time; taken one by one they cost more than the clustering itself.
    """
    n = len(points)
    squared = np.einsum("ij,ij->i", points, points)
    out = np.empty(n * (n - 1) // 2)
    filled = 0
    for start in range(0, n, ROW_BLOCK):
        block = points[start : start + ROW_BLOCK]
        products = block @ points[start:].T
        for i, row in enumerate(products):
            stop = filled + len(row) - i - 1
            np.multiply(row[i + 1 :], -2, out=out[filled:stop])
            out[filled:stop] += squared[start + i] + squared[start + i + 1 :]
            filled = stop
    np.maximum(out, 0.0, out=out)
    return np.sqrt(out, out=out)


def nearest_cluster_mean(design: PairDesign, cosine: F64, means: F64) -> I64:
    """The mean (k, d) nearest to each pair's normalised midpoint, (p,): the largest z.c - |c|^2 / 2."""
    length = inverse_lengths(cosine)
    closeness = [length * design.matvec(mean) - mean @ mean / 2 for mean in means]
    out: I64 = np.argmax(closeness, axis=0)
    return out


def inverse_lengths(cosine: F64) -> F64:
    """1 / |m| = sqrt(2 / (1 + s)) of each pair, (p,); 0 for opposite images, whose midpoint has no direction."""
    squared = (1 + cosine) / 2
    return np.divide(1.0, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
