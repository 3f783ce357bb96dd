"""The images of a cohort, and which of them an image may meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.serialization import serializable
from fairfr.core.types import F32, I64, Bool, StrArray
from fairfr.pairs.vectors import fingerprints

NO_GROUP = -1


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
