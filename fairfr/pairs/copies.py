"""Copies of an image: vectors that are the same but for rounding."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F32, I64

TOLERANCE = 1e-3  # distance of unit vectors; half precision costs 3e-4, other images of a person lie at .1 and more
SHADOWS = 8  # random directions that are compared first


def near_duplicates(vectors: F32) -> tuple[I64, I64]:
    """Pairs of rows of ``vectors`` (n, d) that are no farther apart than ``TOLERANCE``, (m,) and (m,).

    Not by equal fingerprints of rounded values: a value next to a rounding boundary would hide a copy. Distances can
    only shrink in a projection, so rows that are far apart in a few random directions need no second look.
    """
    from scipy.spatial import cKDTree

    directions = np.random.default_rng(0).standard_normal((vectors.shape[1], SHADOWS))
    directions = np.linalg.qr(directions)[0] if len(directions) >= SHADOWS else np.eye(len(directions))
    near = cKDTree(vectors @ directions).query_pairs(2 * TOLERANCE, output_type="ndarray").astype(np.int64)
    gap = np.linalg.norm(vectors[near[:, 0]].astype(np.float64) - vectors[near[:, 1]], axis=1)
    left, right = near[gap <= TOLERANCE].T
    return left, right
