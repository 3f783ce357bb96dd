"""The score at which a wanted false-positive rate is met: the primitive of GST and FSN.

Which points of the ROC curve may be chosen matters where scores separate the classes. FairCal's code (``source``) keeps
the corners only, and a curve that has reached every genuine pair before the first impostors has none between the
smallest genuine score and the end: that score becomes the threshold whatever rate was asked for. ``all`` chooses among
all points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64, I64, Bool

Corners: TypeAlias = Literal["source", "all"]
Pick: TypeAlias = Literal["nearest", "reaching"]

MIN_PAIRS_TO_SAMPLE = 2**16  # pairs: fewer are sorted in no time
SAMPLE_EVERY = 61  # one of so many; a prime, since files repeat groups and labels in some period


@dataclass(frozen=True, slots=True)
class ThresholdFinder:
    """Finds thresholds at one rate and counts what ``corners`` did to them, for the fit report."""

    fpr: float
    corners: Corners
    pick: Pick = "nearest"
    counts: dict[str, int] = field(
        default_factory=lambda: {"defined": 0, "at_smallest_genuine": 0, "moved_by_corners": 0}
    )

    def find(self, score: F64, same: Bool) -> float | None:
        """The threshold of these pairs (p,); None if there are no pairs, or pairs of one class only."""
        curve = self._deciding_part(score, same) or _Curve.of(score, same)
        if curve is None:
            return None
        find = {"nearest": _Curve.nearest, "reaching": _Curve.reaching}[self.pick]
        found = find(curve, self.fpr, self.corners)
        self.counts["defined"] += 1
        not_above = score[same & (score <= found)]
        self.counts["at_smallest_genuine"] += int(found == not_above.min(initial=np.inf))
        self.counts["moved_by_corners"] += int(found != find(curve, self.fpr, "all"))
        return found

    def _deciding_part(self, score: F64, same: Bool) -> _Curve | None:
        """Of many pairs the part of the curve that the nearest point is on, if that is clear: nothing is sorted
        but these pairs."""
        if self.pick != "nearest" or len(score) < MIN_PAIRS_TO_SAMPLE:
            return None
        part = _Curve.around(score, same, self.fpr)
        if part is None or not part.has_nearest(self.fpr, self.corners):
            return None
        return part


class _Curve(NamedTuple):
    """The ROC curve of pairs of both classes: distinct scores, descending, and how many pairs of each class reach
    them, of ``n_diff`` impostors in all. A part of a curve can say nothing about its two ends."""

    score: F64
    n_true: I64
    n_false: I64
    n_diff: int
    is_part: bool = False

    @classmethod
    def of(cls, score: F64, same: Bool) -> _Curve | None:
        """None for pairs of one class, or none."""
        if np.all(same) or not np.any(same):
            return None
        if not np.all(score[1:] <= score[:-1]):  # whatever is ranked already is not sorted again
            order = np.argsort(-score)
            score = score[order]
            same = same[order]
        ends = np.append(np.flatnonzero(score[1:] != score[:-1]), len(score) - 1)
        n_true = np.cumsum(same)[ends]
        return cls(score[ends], n_true, ends + 1 - n_true, int(len(same) - n_true[-1]))

    @classmethod
    def around(cls, score: F64, same: Bool, fpr: float) -> _Curve | None:
        """The part on which the FPR should pass ``fpr``, by a sample of the impostors; None if there is none."""
        sample = np.sort(score[::SAMPLE_EVERY][~same[::SAMPLE_EVERY]])
        if not len(sample):
            return None
        reached = fpr * len(sample)
        margin = 5 * np.sqrt(reached) + 5  # a count in a sample deviates by its root
        places = len(sample) - np.array([reached + margin, reached - margin])
        low, high = sample[np.clip(places.astype(np.int64), 0, len(sample) - 1)]
        inside = (score >= low) & (score <= high)
        above = score > high
        part = cls.of(score[inside], same[inside])
        if part is None:
            return None
        n_true = np.count_nonzero(above & same)
        n_above = np.count_nonzero(above)
        n_diff = int(np.count_nonzero(~same))
        return cls(part.score, part.n_true + n_true, part.n_false + (n_above - n_true), n_diff, is_part=True)

    def has_nearest(self, fpr: float, corners: Corners) -> bool:
        """Whether a point of this part is nearer than its ends: what lies beyond them is farther still."""
        first = self._fpr[0]
        last = self._fpr[-1]
        return bool(first < fpr < last and self._distance(fpr, corners).min() < min(fpr - first, last - fpr))

    def nearest(self, fpr: float, corners: Corners) -> float:
        """Among the points with the FPR nearest to ``fpr``, the smallest threshold.

        A pair is accepted at scores >= threshold. ``source``: as in FairCal's code only corners of the curve count
        (scikit-learn's ``roc_curve`` with ``drop_intermediate=True``); ``all``: every point does. The infinite
        threshold that accepts nothing is left out.
        """
        distance = self._distance(fpr, corners)
        return float(self.score[np.flatnonzero(distance == distance.min())[-1]])

    def reaching(self, fpr: float, corners: Corners) -> float:
        """The threshold of the first point at which the FPR has reached ``fpr`` > 0.

        Where the scores separate the classes no corner lies between an FPR of 0 and 1: with ``source`` the smallest
        score of all is the threshold then.
        """
        return float(self.score[np.flatnonzero(self._chosen(corners) & (self._fpr >= fpr))[0]])

    def _distance(self, fpr: float, corners: Corners) -> F64:
        """Of each point that counts, in FPR."""
        return np.where(self._chosen(corners), np.abs(self._fpr - fpr), np.inf)

    @property
    def _fpr(self) -> F64:
        out: F64 = self.n_false / self.n_diff
        return out

    def _chosen(self, corners: Corners) -> Bool:
        """The points that count: all, or those where the steps on the two sides differ in direction."""
        chosen = np.ones(len(self.score), dtype=bool)
        if corners == "source" and len(chosen) > 2:
            chosen[1:-1] = (np.diff(self.n_true, 2) != 0) | (np.diff(self.n_false, 2) != 0)
        if self.is_part:
            chosen[[0, -1]] = False
        return chosen
