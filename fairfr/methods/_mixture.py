"""A cohort as a mixture of normal distributions: what an image's cosines to it would be, without a face in it."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F32, F64, I64
from fairfr.pairs.parallel import single_thread_blas

IMAGES_EACH, MOST = 50, 64
FEWEST_IMAGES = 20
HALVINGS = 50
REACH = 9.0  # standard deviations beyond the outermost mean: nothing lies there
TINY = 1e-12

Mixture = dict[str, F64]
"""``weights`` (K,), ``means`` (K, d), and ``covariance`` (d, d), the same for all."""


def fit_mixture(cohort: F32, seed: int) -> Mixture:
    """Of the vectors (n, d): k-means, small clusters dissolved, one covariance within clusters."""
    from sklearn.cluster import KMeans

    wide, n = cohort.astype(np.float64), len(cohort)
    K = max(1, min(MOST, n // IMAGES_EACH))
    with single_thread_blas():
        labels = KMeans(n_clusters=K, n_init=1, random_state=seed).fit(wide).labels_.astype(np.int64)
    labels = _dissolved(wide, labels)
    K = int(labels.max()) + 1
    means = np.stack([wide[labels == k].mean(axis=0) for k in range(K)])
    gap = wide - means[labels]
    return {"weights": np.bincount(labels) / n, "means": means, "covariance": gap.T @ gap / max(n - K, 1)}


def _dissolved(vectors: F64, labels: I64) -> I64:
    """Clusters (n,), numbered from 0, with images of small ones given to the nearest that is not small."""
    counts = np.bincount(labels)
    stays = counts >= FEWEST_IMAGES
    if not stays.any():
        return np.zeros(len(labels), dtype=np.int64)
    means = np.stack([vectors[labels == k].mean(axis=0) for k in np.flatnonzero(stays)])
    number = np.cumsum(stays) - 1
    out = number[labels]
    homeless = np.flatnonzero(~stays[labels])
    for row in homeless:
        out[row] = int(np.argmin(np.square(means - vectors[row]).sum(axis=1)))
    return out


def meet_mixture(images: F32, mixture: Mixture, share: float) -> tuple[F64, F64]:
    """Mean and ln sd of the highest ``share`` of the cosines of each image (n, d) to the mixture, (n,) each."""
    from scipy.special import ndtr

    wide = images.astype(np.float64)
    weights = mixture["weights"]
    with single_thread_blas():
        m = wide @ mixture["means"].T
        v = np.einsum("ij,ij->i", wide @ mixture["covariance"], wide)
    r = np.sqrt(np.maximum(v, TINY))
    low, high = m.min(axis=1) - REACH * r, m.max(axis=1) + REACH * r
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = ndtr((m - middle[:, None]) / r[:, None]) @ weights > share
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    cut = (low + high) / 2
    u = (cut[:, None] - m) / r[:, None]
    tail, density = ndtr(-u), np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
    total = tail @ weights
    mean = (m * tail + r[:, None] * density) @ weights / total
    square = ((m**2 + v[:, None]) * tail + r[:, None] * (m + cut[:, None]) * density) @ weights / total
    sd = np.sqrt(np.maximum(square - mean**2, 0.0))
    return mean, np.log(sd + TINY)
