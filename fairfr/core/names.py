"""Reserved names, which no attribute, group or fold may bear, and the false positive rates that are reported."""

from __future__ import annotations

import re
from collections.abc import Mapping

ALL = "all"
POOLED = "pooled"
WORST = "worst"
GAP = "gap"

COLUMNS = frozenset(
    {
        *("pair", "fold", "split", "left", "right", "identity_left", "identity_right", "same"),
        *("cosine", "score", "probability", "fit"),
    }
)
"""Of scores.parquet."""

SIDES = ("_left", "_right")
"""Endings of the columns of a pairs file that belong to one image of the pair."""

ATTRIBUTES = COLUMNS | {ALL, POOLED, WORST, GAP}
"""An attribute becomes a column of scores.parquet and a grouping beside ``all`` pairs."""

GROUPS = frozenset({WORST, GAP})
FOLDS = frozenset({POOLED})

_PLACEHOLDER = re.compile(r"row\d+_(left|right)")

FPR_LEVELS: Mapping[str, float] = {"1e-2": 1e-2, "1e-3": 1e-3}
"""False positive rates at which results are reported, by the spelling that names of metrics use."""
ENOUGH_FALSE_MATCHES = 10
"""With fewer, a rate depends on single pairs of different people."""


def placeholder_id(row: int, side: str) -> str:
    """What an image is called that the pairs file has no id of: it occurs in this row alone."""
    return f"row{row}_{side}"


def is_placeholder(image: str) -> bool:
    """Whether an image id is one that ``placeholder_id`` made."""
    return _PLACEHOLDER.fullmatch(image) is not None
