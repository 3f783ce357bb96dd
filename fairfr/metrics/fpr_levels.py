"""The false positive rates at which metrics are computed: those that every set has, and a rare one for large sets."""

from __future__ import annotations

from collections.abc import Mapping

from fairfr.core.names import ENOUGH_FALSE_MATCHES, FPR_LEVELS

RARE_FPR_LEVELS: Mapping[str, float] = {"1e-4": 1e-4}
"""Measured only where all pairs together expect enough false matches."""
ALL_FPR_LEVELS: Mapping[str, float] = {**FPR_LEVELS, **RARE_FPR_LEVELS}


def is_measured_at(level: str, impostors: int) -> bool:
    """Whether results are reported at this level, given how many impostor pairs there are in all."""
    return level in FPR_LEVELS or RARE_FPR_LEVELS[level] * impostors >= ENOUGH_FALSE_MATCHES
