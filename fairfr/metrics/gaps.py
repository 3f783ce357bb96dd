"""How far group rates lie apart, in percentage points. Groups without a value (NaN) are left out."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.types import F64
from fairfr.metrics.operating import Rate

GapName: TypeAlias = Literal["eo", "pe", "dp"]
Deviation: TypeAlias = Literal["aad", "mad", "std"]

GAP_RATES: dict[GapName, Rate] = {"eo": "tpr", "pe": "fpr", "dp": "acceptance"}
"""Equal opportunity compares TPR, predictive equality FPR, demographic parity the acceptance rate.

Demographic parity mixes in the share of genuine pairs: it means something only where groups have equal shares.
"""


def gap(rates: F64) -> float:
    """100 (max - min) over the groups' ``rates`` (g,); NaN with fewer than two groups."""
    known = rates[~np.isnan(rates)]
    if len(known) < 2:
        return float("nan")
    return float(100 * (known.max() - known.min()))


def deviation(rates: F64, centre: float, kind: Deviation) -> float:
    """Deviation of the groups' ``rates`` (g,) from the global rate ``centre`` (Salvador et al. 2022), in points.

    ``aad``: average absolute; ``mad``: maximum absolute; ``std``: root mean square. NaN with fewer than two groups.
    """
    known = rates[~np.isnan(rates)]
    if len(known) < 2:
        return float("nan")
    apart = 100 * np.abs(known - centre)
    if kind == "aad":
        return float(apart.mean())
    if kind == "mad":
        return float(apart.max())
    return float(np.sqrt(np.mean(apart**2)))
