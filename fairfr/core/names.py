"""Names that mean something in what fairfr writes, so that no attribute, group or fold may bear them."""

from __future__ import annotations

ALL = "all"
POOLED = "pooled"
WORST = "worst"
GAP = "gap"

COLUMNS = frozenset(
    {
        *("pair", "fold", "split", "left", "right", "identity_left", "identity_right", "same"),
        *("cosine", "score", "probability"),
    }
)
"""Of scores.parquet."""

SIDES = ("_left", "_right")
"""Endings of the columns of a pairs file that belong to one image of the pair."""

ATTRIBUTES = COLUMNS | {ALL, POOLED, WORST, GAP}
"""An attribute becomes a column of scores.parquet and a grouping beside ``all`` pairs."""

GROUPS = frozenset({WORST, GAP})
FOLDS = frozenset({POOLED})
