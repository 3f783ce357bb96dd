"""The score at which a wanted false-positive rate is met: the primitive of GST and FSN.

Which points of the ROC curve may be chosen matters where scores separate the classes. FairCal's code (``source``) keeps
the corners only, and a curve that has reached every genuine pair before the first impostors has none between the
smallest genuine score and the end: that score becomes the threshold whatever rate was asked for. ``all`` chooses among
all points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from fairfr.core.types import F64, Bool

Corners: TypeAlias = Literal["source", "all"]
Pick: TypeAlias = Literal["nearest", "reaching"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Finds thresholds at one rate and counts what ``corners`` did to them, for the fit report."""

    fpr: float
    corners: Corners
    pick: Pick = "nearest"
    counts: dict[str, int] = field(
        default_factory=lambda: {"defined": 0, "at_smallest_genuine": 0, "moved_by_corners": 0}
    )

    def of(self, score: F64, same: Bool) -> float | None:
        """The threshold of these pairs (p,)."""
        find = {"nearest": threshold_at_fpr, "reaching": threshold_reaching_fpr}[self.pick]
        found = find(score, same, self.fpr, self.corners)
        if found is not None:
            self.counts["defined"] += 1
            self.counts["at_smallest_genuine"] += int(found == score[same].min())
            self.counts["moved_by_corners"] += int(found != find(score, same, self.fpr, "all"))
        return found


def threshold_at_fpr(score: F64, same: Bool, fpr: float, corners: Corners = "source") -> float | None:
    """Among the points of the ROC curve with the FPR nearest to ``fpr``, the smallest threshold of (p,) scores.

    A pair is accepted at scores >= threshold. ``source``: as in FairCal's code only corners of the curve count
    (scikit-learn's ``roc_curve`` with ``drop_intermediate=True``); ``all``: every point does. The infinite threshold
    that accepts nothing is left out. None where the curve is undefined: no pairs, or pairs of one class.
    """
    n_same = int(np.count_nonzero(same))
    n_diff = len(same) - n_same
    if not n_same or not n_diff:
        return None
    order = np.argsort(-score, kind="stable")
    sorted_score, sorted_same = score[order], same[order]
    ends = np.append(np.flatnonzero(np.diff(sorted_score)), len(score) - 1)
    n_true = np.cumsum(sorted_same)[ends]
    n_false = ends + 1 - n_true
    corner = np.ones(len(ends), dtype=bool)
    if corners == "source" and len(ends) > 2:
        # the curve bends at a point when the steps on its two sides differ in direction
        bends = (np.diff(n_true, 2) != 0) | (np.diff(n_false, 2) != 0)
        corner[1:-1] = bends
    distance = np.where(corner, np.abs(n_false / n_diff - fpr), np.inf)
    nearest = np.flatnonzero(distance == distance.min())
    return float(sorted_score[ends[nearest[-1]]])


def threshold_reaching_fpr(score: F64, same: Bool, fpr: float, corners: Corners = "source") -> float | None:
    """The threshold of the first point of the ROC curve of (p,) scores at which the FPR has reached ``fpr`` > 0.

    Where the scores separate the classes no corner lies between an FPR of 0 and 1: with ``source`` the smallest score
    of all is the threshold then. None where the curve is undefined, as above.
    """
    if np.all(same) or not np.any(same):
        return None
    from sklearn.metrics import roc_curve

    rate, _, threshold = roc_curve(same, score, drop_intermediate=corners == "source")
    return float(threshold[np.searchsorted(rate, fpr)])
