"""The images of a cohort, which of them an image may meet, and the cohort as a mixture, without a face in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64, I64, Bool, StrArray
from fairfr.pairs.parallel import single_thread_blas
from fairfr.pairs.vectors import fingerprints

NO_GROUP = -1

IMAGES_PER_CLUSTER = 50
MOST_CLUSTERS = 64
FEWEST_IMAGES = 20
HALVINGS = 50
REACH = 9.0  # standard deviations beyond the outermost mean: nothing lies there
TINY = 1e-12
Mixture = dict[str, F64]
"""``weights`` (K,), ``means`` (K, d), and ``covariance`` (d, d), the same for all."""


@serializable("Strangers")
@dataclass(frozen=True, slots=True)
class Strangers:
    """Cohort ``vectors`` (m, d) with the ``group`` (m,) of each, -1 for images that are in no training pair.

    ``marks`` (n,), sorted, are those of the training images, by which they are known again; ``group_of_mark`` (n,) are
    their groups. An image meets the cohort images of other groups only.
    """

    vectors: F32
    group: I64
    marks: StrArray
    group_of_mark: I64

    @classmethod
    def of(cls, vectors: F32, group: I64, images: F32, group_of_image: I64) -> Strangers:
        """From a cohort and all training images (n, d) with their groups (n,)."""
        mark, first = np.unique(fingerprints(images), return_index=True)
        return cls(vectors, group, mark, group_of_image[first])

    def __len__(self) -> int:
        return len(self.vectors)

    def met_by(self, group: int) -> F32:
        """The cohort images that an image of this group may meet."""
        return self.vectors if group == NO_GROUP else self.vectors[self.group != group]

    def groups_of(self, images: F32) -> I64:
        """The group of each image (u, d), -1 for those that are not of training."""
        mark = fingerprints(images)
        place = np.minimum(np.searchsorted(self.marks, mark), len(self.marks) - 1)
        return np.where(self.marks[place] == mark, self.group_of_mark[place], NO_GROUP)

    def meetings(self, images: F32) -> Iterator[tuple[int, Bool, F32]]:
        """For each group: its number, which of the images (u, d) are in it, and the cohort images that they meet."""
        group = self.groups_of(images)
        for g in np.unique(group).tolist():
            yield g, group == g, self.met_by(g)


def draw_strangers(images: F32, group: I64, source: str, most: int, ctx: FitContext) -> Strangers:
    """At most ``most`` of the training images (n, d), of ``ctx.cohort``, or of both, drawn by seed."""
    pool, groups = images, group
    if ctx.cohort is not None:
        others = without(ctx.cohort, images)
        outside = np.full(len(others), NO_GROUP, dtype=np.int64)
        if source == "both":
            pool, groups = np.concatenate([images, others]), np.concatenate([group, outside])
        else:
            pool, groups = others, outside
    if len(pool) > most:
        chosen = np.sort(ctx.rng("cohort").choice(len(pool), most, replace=False))
        pool, groups = pool[chosen], groups[chosen]
    return Strangers.of(np.ascontiguousarray(pool), groups, images, group)


def without(cohort: F32, images: F32) -> F32:
    """The cohort, sorted by the marks of its vectors, without the images of the pairs and with each vector once."""
    mark, first = np.unique(fingerprints(cohort), return_index=True)
    return cohort[first[~np.isin(mark, fingerprints(images))]]


def check_cohort(source: str, cohort: F32 | None, width: int) -> None:
    """ConfigError where the option and what was given do not belong together."""
    if source == "train" and cohort is not None:
        raise ConfigError(
            "a cohort of other images was given, but method.estimator.cohort=train takes the training images. Set it "
            "to external, or to both."
        )
    if source != "train" and cohort is None:
        raise ConfigError(
            f"method.estimator.cohort={source} needs a cohort of other images, and none was given. Name a data set of "
            "images (fairfr run cohort=NAME), or pass an array (fit(..., cohort=vectors))."
        )
    if cohort is not None and cohort.shape[1] != width:
        raise ConfigError(
            f"the cohort has vectors of width {cohort.shape[1]}, the pairs of {width}. A cohort is made of vectors of "
            "the same network."
        )


def fit_mixture(cohort: F32, seed: int) -> Mixture:
    """Of the vectors (n, d): k-means, small clusters dissolved, one covariance within clusters."""
    from sklearn.cluster import KMeans

    wide, n = cohort.astype(np.float64), len(cohort)
    K = max(1, min(MOST_CLUSTERS, n // IMAGES_PER_CLUSTER))
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
