"""The false positive rates at which results are reported, and how many false matches make a rate steady."""

from __future__ import annotations

from collections.abc import Mapping

FPR_LEVELS: Mapping[str, float] = {"1e-2": 1e-2, "1e-3": 1e-3}
"""By the spelling that names of metrics use."""

ENOUGH_FALSE_MATCHES = 10
"""With fewer, a rate depends on single pairs of different people."""
