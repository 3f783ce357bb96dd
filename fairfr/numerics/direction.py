"""Whether values grow with likeness, or fall, as distances do."""

from __future__ import annotations

import math

import numpy as np

from fairfr.core.types import F64, Bool
from fairfr.numerics.roc import auroc_of, roc_curve

Z_99 = 2.5758293035489004  # two-sided 99 %
HALF = 0.5


def reversed_auroc(values: F64, same: Bool, n_images: int) -> float | None:
    """The AUROC of ``values`` (p,) where impostors clearly rank above genuine pairs, else None."""
    if same.all() or not same.any():
        return None
    auroc = auroc_of(roc_curve(same, values))
    if is_reversed(auroc, same, n_images):
        return auroc
    return None


def is_reversed(auroc: float, same: Bool, n_images: int) -> bool:
    """Whether an AUROC of pairs ``same`` (p,) is clearly below one half: the whole 99 % interval is.

    Pairs share ``n_images`` images, so at most half as many pairs say something of their own.
    """
    n_same = int(np.count_nonzero(same))
    independent = min(n_same, len(same) - n_same, n_images // 2)
    return independent > 0 and upper_limit(auroc, independent) < HALF


def upper_limit(auroc: float, n: int) -> float:
    """Upper end of the 99 % interval of an AUROC: Wilson's, for a share of ``n``.

    The variance of an AUROC is at most auroc * (1 - auroc) / n with n pairs of the rarer kind, whatever the values are.
    """
    middle = auroc + Z_99**2 / (2 * n)
    spread = Z_99 * math.sqrt(auroc * (1 - auroc) / n + Z_99**2 / (4 * n**2))
    return (middle + spread) / (1 + Z_99**2 / n)
