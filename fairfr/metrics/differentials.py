"""How far group rates lie apart, in percentage points. Groups without a value (NaN) are left out."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.types import F64
from fairfr.metrics.roc_metrics import Rate

GapName: TypeAlias = Literal["eo", "pe", "dp"]

GAP_RATES: dict[GapName, Rate] = {"eo": "tpr", "pe": "fpr", "dp": "acceptance"}
"""Equal opportunity compares TPR, predictive equality FPR, demographic parity the acceptance rate.

Demographic parity mixes in the share of genuine pairs: it means something only where groups have equal shares.
"""


def max_min_gap(rates: F64) -> float:
    """Largest difference between groups, in percentage points.

    Parameters
    ----------
    rates : ndarray of float, shape (n_groups,)
        One rate per group, in [0, 1]; NaN for a group without a value, which is left out.

    Returns
    -------
    float
        ``100 (max - min)``; NaN with fewer than two groups.
    """
    known = rates[~np.isnan(rates)]
    if len(known) < 2:
        return float("nan")
    return float(100 * (known.max() - known.min()))
