"""What occurs more than once in a list of pairs: a pair again, an image or a person in several folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import I16, I64, UNKNOWN

Codes = npt.NDArray[np.integer[Any]]


def pair_keys(left: Codes, right: Codes, n_images: int) -> I64:
    """One number for each pair (p,), whichever way round it is written; equal keys are the same two images.

    Keys sort pairs by the smaller code, then by the larger one.
    """
    return np.minimum(left, right).astype(np.int64) * n_images + np.maximum(left, right)


def n_folds_of(left: Codes, right: Codes, fold: I16) -> I64:
    """In how many folds each known value of ``left`` and ``right`` (p,) occurs, (k,), in the order of the values."""
    who, folds = np.concatenate([left, right]).astype(np.int64), np.concatenate([fold, fold])
    _, times = np.unique(distinct_in_folds(who[who != UNKNOWN], folds[who != UNKNOWN]), return_counts=True)
    return times.astype(np.int64)


def distinct_in_folds(values: I64, fold: I16) -> I64:
    """The distinct of ``values`` (m,), once for each fold they occur in."""
    n_folds = int(fold.max(initial=0)) + 1
    return np.unique(values * n_folds + fold) // n_folds
