"""What features are divided by to have unit variance."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, Bool


def unit_scale(mean: F64, variance: F64) -> tuple[F64, Bool]:
    """Population std of each feature, (c,), with 1 in place of a constant one's; and which are constant.

    ``variance`` is a mean of squares less a squared mean: a constant feature leaves only the rounding of its square.
    """
    constant = variance <= 1e-12 * np.maximum(mean**2, np.finfo(float).tiny)
    return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variance))), constant
