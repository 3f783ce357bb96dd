"""GST: group-specific thresholds, as a shift of the score in each group.

One threshold gives the groups different false-positive rates. GST finds, on the training pairs, the threshold t_g at
which each group has the wanted rate and shifts the group's scores so that all these thresholds coincide:

    s' = s - delta_g,   delta_g = t_g - t_G,   p = beta(s')

t_G is the threshold of all training pairs and t_g that of the training pairs in g, both at the ROC corner whose FPR
is nearest to ``fpr`` (0.05 in the paper). The beta map is fitted on the shifted training scores over
[-1 - max delta, 1 - min delta], which is where shifted cosines can lie; 0 is among the deltas when some training pairs
are not shifted.

Source: the idea is Robinson et al. (2020), the form compared here Salvador et al. (2022). Needs: group labels in
training and in test; no identities, no embeddings. Emits: ``score`` = s', ``probability`` = beta(s').

``rule="both"`` (``method=gst``) shifts pairs whose images share a group; mixed pairs and pairs with an image of
unknown group stay as they are. ``rule="first"`` (``method=gst_paper``) shifts by the left image's group, which is what
the paper's table shows; pairs with an unknown left image stay. The rules coincide where no pair is mixed.

Fall-backs: a group without training pairs (or that was not in training), or with pairs of one class only, has no
threshold and delta_g = 0; so has every group where t_G itself is undefined. They are counted in the report
(``groups_without_threshold``).

Corners: FairCal's code looks at corners of the ROC curve only. Where a group's cosines separate the classes, the only
corners are its smallest genuine cosine and the end, and t_g is the former, at an FPR of 0 instead of ``fpr``. That is
``corners="source"``, the default; ``corners="all"`` looks at every point. ``group_thresholds`` in the report counts
the groups whose threshold is their smallest genuine cosine, and those where all points would give another.

Deviations: Robinson et al. choose, per group, the threshold of best training accuracy on a grid; the form by FPR is
the one that the literature on calibration compares. Salvador et al. take FPR 0.001; 0.05 is the paper's. The infinite
threshold that scikit-learn's ROC curve opens with is left out: a shift must be finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above
from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, I16, UNKNOWN, Bool, Need, PairRule, Prediction
from fairfr.methods._fpr_thresholds import Corners, ThresholdFinder
from fairfr.methods._labels import GroupNames, GroupRule, names_of
from fairfr.numerics.beta import fit_beta
from fairfr.pairs.view import PairView


@dataclass
class GST:
    """s' = s - (t_g - t_G), p = beta(s').

    Parameters
    ----------
    fpr : float, default 0.05
        False-positive rate at which thresholds are compared.
    rule : {"both", "first"}, default "both"
        Which pairs are in a group: those with both images in it, or with the first one.
    corners : {"source", "all"}, default "source"
        Which points of the ROC curve may be a threshold: its corners alone, as in FairCal's code, or all.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"groups"})
    native_probability: ClassVar[bool] = True

    fpr: float = 0.05
    rule: PairRule = "both"
    corners: Corners = "source"

    def __post_init__(self) -> None:
        check_above(0, fpr=self.fpr)
        if not self.fpr < 1:
            raise ConfigError(f"method.estimator.fpr must be below 1, found {self.fpr:g}.")

    @property
    def symmetric(self) -> bool:
        """Whether exchanging left and right changes nothing."""
        return self.rule == "both"

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.rule_ = GroupRule(GroupNames.of(view, ctx, "GST"), self.rule)
        cosine = view.cosine
        groups = self.rule_.groups(view)
        levels = self.rule_.levels.names
        by_group = ThresholdFinder(self.fpr, self.corners)
        overall = ThresholdFinder(self.fpr, self.corners).find(cosine, same)
        self.delta_ = np.zeros(len(levels))
        undefined = []
        for group in range(len(levels)):
            members = np.flatnonzero(groups == group)
            threshold = by_group.find(cosine[members], same[members])
            if threshold is None or overall is None:
                undefined.append(group)
            else:
                self.delta_[group] = threshold - overall
        unshifted = int(np.count_nonzero(groups == UNKNOWN))
        self.map_ = fit_beta(self._shift(cosine, groups), same, self._range(unshifted > 0))
        ctx.report.update(
            threshold=overall,
            delta=dict(zip(levels, self.delta_.tolist(), strict=True)),
            groups_without_threshold=len(undefined),
            groups_without_threshold_names=names_of(levels, undefined),
            train_pairs_unshifted=unshifted,
            group_thresholds=by_group.counts,
        )
        return self

    def predict(self, view: PairView) -> Prediction:
        score = self._shift(view.cosine, self.rule_.groups(view))
        return Prediction(score=score, probability=self.map_.probability(score))

    def _shift(self, cosine: F64, groups: I16) -> F64:
        # one more entry: no shift for code -1, nor for groups that were not there in training
        out: F64 = cosine - np.append(self.delta_, 0.0)[np.minimum(groups, len(self.delta_))]
        return out

    def _range(self, some_unshifted: bool) -> tuple[float, float]:
        """Where shifted cosines can lie."""
        deltas = self.delta_
        if some_unshifted or not len(deltas):
            deltas = np.append(deltas, 0.0)
        return -1.0 - float(deltas.max()), 1.0 - float(deltas.min())
