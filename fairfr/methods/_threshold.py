"""The score at which a wanted false-positive rate is met: the primitive of GST and FSN."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, Bool


def threshold_at_fpr(score: F64, same: Bool, fpr: float) -> float | None:
    """Among the corners of the ROC curve with the FPR nearest to ``fpr``, the smallest threshold.

    A pair is accepted at scores >= threshold. As in FairCal's code, only corners of the curve count (scikit-learn's
    ``roc_curve`` with ``drop_intermediate=True``), and the infinite threshold that accepts nothing is left out. None
    where the curve is undefined: no pairs, or pairs of one class.
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
    if len(ends) > 2:
        # the curve bends at a point when the steps on its two sides differ in direction
        bends = (np.diff(n_true, 2) != 0) | (np.diff(n_false, 2) != 0)
        corner[1:-1] = bends
    distance = np.where(corner, np.abs(n_false / n_diff - fpr), np.inf)
    nearest = np.flatnonzero(distance == distance.min())
    return float(sorted_score[ends[nearest[-1]]])
