"""How far the values of groups lie apart. Groups without a value (NaN) are left out, and two must be left.

Differences are in percentage points, as the literature prints them; ratios are plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.types import F64
from fairfr.metrics.roc_metrics import Rate

Spread: TypeAlias = Callable[[F64], float]
"""One number for the values of all groups, shape (n_groups,)."""
GapName: TypeAlias = Literal["eo", "pe", "dp"]

NAN = float("nan")
PERCENT = 100
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
    known = _known(rates)
    if known is None:
        return NAN
    return float(PERCENT * (known.max() - known.min()))


def max_min_ratio(rates: F64) -> float:
    """How many times the lowest rate the highest is; 1 is parity. NaN where a group's rate is zero."""
    known = _known(rates)
    if known is None or known.min() == 0:
        return NAN
    return float(known.max() / known.min())


def max_to_geometric_mean(rates: F64) -> float:
    """How many times the groups' geometric mean the highest rate is; 1 is parity. NaN where a group's rate is zero.

    Source: Grother (2022), NIST IR 8429, without its correction for rates of zero.
    """
    known = _known(rates)
    if known is None or known.min() == 0:
        return NAN
    return float(known.max() / np.exp(np.log(known).mean()))


def mean_over_groups(values: F64) -> float:
    """In percent; every group counts alike."""
    known = _known(values)
    if known is None:
        return NAN
    return float(PERCENT * known.mean())


def average_absolute_deviation(values: F64) -> float:
    """Mean distance of the groups from their mean, in percentage points: AAD of Salvador et al. (2022)."""
    known = _known(values)
    if known is None:
        return NAN
    return float(PERCENT * np.abs(known - known.mean()).mean())


def maximum_absolute_deviation(values: F64) -> float:
    """Largest distance of a group from the groups' mean, in percentage points: MAD of Salvador et al. (2022)."""
    known = _known(values)
    if known is None:
        return NAN
    return float(PERCENT * np.abs(known - known.mean()).max())


def standard_deviation(values: F64) -> float:
    """Of the groups around their mean, divided by their number (ddof 0), in percentage points."""
    known = _known(values)
    if known is None:
        return NAN
    return float(PERCENT * known.std())


DEVIATIONS: dict[str, Spread] = {
    "mean": mean_over_groups,
    "aad": average_absolute_deviation,
    "mad": maximum_absolute_deviation,
    "std": standard_deviation,
}
"""What FairCal and FALCON print of the values of groups, by the word that ids of metrics use."""


def _known(values: F64) -> F64 | None:
    """The values that there are; None where nothing can be compared."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    return known
