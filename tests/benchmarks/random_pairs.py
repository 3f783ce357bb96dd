"""Made-up vectors and pairs to measure on, and the matrix that fairfr never builds."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfr.core.types import F32, Pairs


def repeating_images(n_images: int, n_pairs: int, d: int = 512) -> tuple[F32, Pairs]:
    """Random unit vectors and pairs, every image in many pairs, as in BFW."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n_images, d), dtype=np.float32) + rng.standard_normal(d, dtype=np.float32) / 2
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left, right = rng.integers(0, n_images, (2, n_pairs), dtype=np.int32)
    return vectors, Pairs(left, right)


def built_midpoints(vectors: F32, pairs: Pairs, dtype: type = np.float64) -> Any:
    """The midpoints themselves, (p, d)."""
    return ((vectors[pairs.left] + vectors[pairs.right]) / 2).astype(dtype)
