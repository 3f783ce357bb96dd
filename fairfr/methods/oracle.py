"""Oracle: one beta calibration for each group, chosen with the true group labels.

What could be reached if every pair's group were known: each group g gets a beta map of its own, fitted on the training
pairs in g, and test pairs in g go through it.

    p = beta_g(s)   for pairs in g

One rule says which pairs are in g, when fitting and when predicting: those with both images in g, or under
``mixed="first"`` those whose left image is.

Source: Salvador et al. (2022). Needs: group labels in training and in test; no identities, no embeddings. Emits: a
probability, which is also its score.

Pairs of two groups (``mixed``): ``first`` puts them into the left image's group, in training too. Otherwise they are in
none. ``global`` (``method=oracle``): the beta map of all training pairs. ``zero``: probability 0, as the published code
leaves them. ``combo``: one map for each unordered combination of groups, the base rate where a combination has pairs
of one class only. ``method=oracle_paper`` takes what the data set's yaml says about the paper's Oracle
(``dataset.oracle_mixed``: zero on BFW, first on LFW, global elsewhere). All coincide where no pair is mixed.

Unknown groups are treated like mixed pairs: 0 under ``zero``; under ``first`` the map of the left image's group, and
the global one where that is unknown; the global map under ``global`` and ``combo``.

Fall-backs: groups with pairs of one class, fewer than 10 pairs or none in training (also a group that training did not
have) use the global map, and so do combinations with fewer than 10 pairs; both are counted in the report.

Deviations: the published code would leave mixed pairs at 0, and that is ``zero`` here; but with 0 for pairs that are
all impostors (BFW) Oracle looks better than any calibration is, so ``global`` is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.types import F64, I64, UNKNOWN, Bool, Need, PairRule, Prediction
from fairfr.methods._labels import GroupNames, GroupRule, names_of
from fairfr.numerics.beta import BetaMap, fit_beta
from fairfr.pairs.view import PairView

MIN_PAIRS = 10


@dataclass
class Oracle:
    """p = beta_g(s).

    Parameters
    ----------
    mixed : {"global", "zero", "first", "combo"}, default "global"
        What becomes of pairs from two groups, as listed above.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"groups"})
    native_probability: ClassVar[bool] = True

    mixed: Literal["global", "zero", "first", "combo"] = "global"

    @property
    def symmetric(self) -> bool:
        """Whether exchanging left and right changes nothing."""
        return self.mixed != "first"

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        rule: PairRule = "both"
        if self.mixed == "first":
            rule = "first"
        self.rule_ = GroupRule(GroupNames.of(view, ctx, "Oracle"), rule)
        cosine = view.cosine
        groups = self.rule_.groups(view)
        levels = self.rule_.levels.names
        self.global_ = fit_beta(cosine, same)
        self.maps_: dict[int, BetaMap] = {}
        without = []
        for group in range(len(levels)):
            own_map = _fit(cosine, same, groups == group)
            if own_map is None:
                without.append(group)
            else:
                self.maps_[group] = own_map
        ctx.report.update(
            mixed=self.mixed,
            rule=self.rule_.rule,
            train_pairs_without_group=int(np.count_nonzero(groups == UNKNOWN)),
            groups_by_global_map=len(without),
            groups_by_global_map_names=names_of(levels, without),
        )
        self.combinations_: dict[int, BetaMap] = {}
        if self.mixed == "combo":
            self.combinations_ = self._fit_combinations(view, same, ctx)
        return self

    def predict(self, view: PairView) -> Prediction:
        cosine = view.cosine
        probability = self.global_.probability(cosine)
        groups = self.rule_.groups(view)
        _apply(self.maps_, groups.astype(np.int64), cosine, probability)
        if self.mixed == "zero":
            probability[groups == UNKNOWN] = 0.0
        if self.mixed == "combo":
            _apply(self.combinations_, self._combination(view), cosine, probability)
        return Prediction(score=probability, probability=probability)

    def _fit_combinations(self, view: PairView, same: Bool, ctx: FitContext) -> dict[int, BetaMap]:
        combination = self._combination(view)
        cosine = view.cosine
        maps: dict[int, BetaMap] = {}
        short = 0
        for code in np.unique(combination[combination != UNKNOWN]).tolist():
            own = _fit(cosine, same, combination == code, one_class=True)
            if own is None:
                short += 1
            else:
                maps[code] = own
        ctx.report.update(combinations=len(maps), combinations_by_global_map=short)
        return maps

    def _combination(self, view: PairView) -> I64:
        """A number for each unordered combination of two different groups of training, (p,); -1 for other pairs."""
        left, right = self.rule_.ends(view)
        low = np.minimum(left, right).astype(np.int64)
        high = np.maximum(left, right).astype(np.int64)
        n_groups = len(self.rule_.levels)
        out: I64 = np.where((low != UNKNOWN) & (low != high) & (high < n_groups), low * n_groups + high, UNKNOWN)
        return out


def _fit(cosine: F64, same: Bool, chosen: Bool, one_class: bool = False) -> BetaMap | None:
    """A beta map of the chosen training pairs; None where they are too few, or of one class unless that is allowed."""
    n_same = int(np.count_nonzero(same & chosen))
    n = int(np.count_nonzero(chosen))
    if n < MIN_PAIRS or (n_same in (0, n) and not one_class):
        return None
    return fit_beta(cosine[chosen], same[chosen])


def _apply(maps: dict[int, BetaMap], codes: I64, cosine: F64, probability: F64) -> None:
    """Write the probability of every pair whose code has a map."""
    for code, own in maps.items():
        inside = codes == code
        probability[inside] = own.probability(cosine[inside])
