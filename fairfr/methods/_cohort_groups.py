"""Which training images must not meet each other: those of one fold, or of one group of people."""

from __future__ import annotations

import logging

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.types import I64, Bool
from fairfr.methods._labels import resolve_identities
from fairfr.pairs.view import PairView

log = logging.getLogger("fairfr")

DEALT = 5
LARGEST_FOLD = 0.9
"""Of the training images. Those of a larger one would meet hardly anybody."""


def groups_of_images(view: PairView, same: Bool, ctx: FitContext) -> I64:
    """The group of each image of the pairs, (u,), in the order of ``view.images()``.

    The training fold, where there are two or more and none has nearly all images; otherwise one of five groups, dealt
    out by seed over people.
    """
    rows = view.images()[0]
    fold = _folds(view, rows)
    if np.bincount(fold).max() <= LARGEST_FOLD * len(rows):
        ctx.report["cohort_groups"] = "training folds"
        return fold
    ctx.report["cohort_groups"] = f"{DEALT} groups of people"
    _, first, person = np.unique(resolve_identities(view, same, ctx)[rows], return_index=True, return_inverse=True)
    # people are numbered as they appear among the images, which are sorted by id: codes mean nothing
    number = np.argsort(np.argsort(first))[person]
    dealt: I64 = ctx.rng("cohort groups").permutation(len(first))[number] % DEALT
    return dealt


def _folds(view: PairView, rows: I64) -> I64:
    """The fold of each image (u,): of those that its pairs are in, the first."""
    fold = view.folds().astype(np.int64)
    n = int(rows.max(initial=-1)) + 1
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, dtype=np.int64)
    for image in view.ends(np.arange(n)):
        np.minimum.at(lowest, image, fold)
        np.maximum.at(highest, image, fold)
    several = int(np.count_nonzero(lowest[rows] < highest[rows]))
    if several:
        log.warning(
            "%s of %s training images are in pairs of several folds, and may meet their own person in the cohort.",
            f"{several:,}",
            f"{len(rows):,}",
        )
    return lowest[rows]
