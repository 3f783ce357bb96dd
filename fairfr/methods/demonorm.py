"""DemoNorm: scores normalised by what impostors score for this image and this group (Linghu et al. 2024).

A cosine of 0.4 is remarkable where impostors score 0.0 +- 0.1 and ordinary where they score 0.3 +- 0.1. DemoNorm
estimates mean and standard deviation (ddof = 1) of impostor scores and standardises with them:

    s' = (s - mu) / sigma

Reference = left image, probe = right image. The published variants differ in whose impostor scores these are:

    M1     reference against the whole cohort (200 people per group)                  class DemoNorm
    M1.1   reference against the cohort of the probe's group (1,000 per group)        (``method=demonorm``)
    M1.2   all references of the reference's group against its cohort (25 per group), pooled
    M2, M2.1, M2.2   the same with reference and probe exchanged
    group  impostor training pairs of the reference's group (published as M3)         class DemoNormGroup
    M4     not s' but sigmoid(a s + b) of the reference's group: balanced logistic    (``method=demonorm_paper``
    M5     not s' but Phi_genuine(s) - 1 + Phi_impostor(s), two Gaussians per group    is ``group``)

A training pair of ``group``, M4 or M5 belongs to the group whose map it would go through as a test pair: its
reference's (``rule="first"``), whatever the probe's. ``rule="both"`` keeps to pairs inside one group, in fit and in
predict; mixed pairs then take the statistics of all pairs.

Needs: group labels of training and test images; DemoNorm also embeddings and identities, DemoNormGroup scores alone.
Emits: a score; the probability is the runner's beta overlay over the training scores' range.

Two rows, because the paper contradicts itself: its text says M1.1, but its printed rows keep every group's AUROC at
the Baseline's, which only one increasing map per group does; M1.1 changes the ranks inside a group. ``demonorm`` is
what the text and Linghu et al. say, ``demonorm_paper`` what is printed.

Deviations: there is no external cohort, so it is drawn from the training images: at most that many identities per
group, one random image each, and never the identity of the image it is compared with. Identities come from the
metadata, else from genuine training pairs (``identities`` in the report says which). The images that M1.2 and M2.2 pool
are the left (right) ones of the training pairs. The published M3, M4 and M5 take pairs of cohort images inside the
group and apply them by the reference. Published scores are cosine - 1, which changes nothing.

Strangers: for a person who was not in training, no image of a cohort has to be left out. A person is known again by a
salted hash of the name, an image of unknown identity by its vector, bit for bit. A group that was not in training is
treated as an unknown one.

Fall-backs: fewer than 20 cohort scores (an unknown group has none) or sigma < 1e-6: the statistics of the impostor
training pairs whose reference (M2*: probe) is of this pair's reference's (probe's) group, as in ``group``; if these are
too few or constant, or the group is unknown, those of all impostor training pairs; if these are too, mu = 0 and
sigma = 1, the cosine. M4 and M5 go from the group to all pairs to the cosine likewise, and need 20 scores of each
class. The report counts the groups, and the training pairs, concerned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias
from weakref import ref

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_min
from fairfr.core.types import I16, I32, I64, Bool, Need, PairRule, Prediction
from fairfr.methods._group_maps import FitMap, GroupMaps, fit_balanced_logistic, fit_two_gaussians, fit_z_score
from fairfr.methods._impostor_statistics import Cohort, Moments, draw_cohort
from fairfr.methods._labels import GroupNames, GroupRule, IdentityIndex, resolve_identities
from fairfr.pairs.view import PairView

CohortVariant: TypeAlias = Literal["M1", "M1.1", "M1.2", "M2", "M2.1", "M2.2"]
GroupVariant: TypeAlias = Literal["group", "M4", "M5"]

PEOPLE_PER_GROUP = {"M1": 200, "M1.1": 1000, "M1.2": 25, "M2": 200, "M2.1": 1000, "M2.2": 25}
FIT_MAP: dict[GroupVariant, FitMap] = {
    "group": fit_z_score,
    "M4": fit_balanced_logistic,
    "M5": fit_two_gaussians,
}


@dataclass
class DemoNorm:
    """s' = (s - mu) / sigma, by the cosines of one image to a cohort.

    Parameters
    ----------
    variant : {"M1", "M1.1", "M1.2", "M2", "M2.1", "M2.2"}, default "M1.1"
        Whose impostor scores normalise a pair, as listed above.
    people : int or None, default None
        People of each group in the cohort; None takes the published number of the variant.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings", "groups", "identities"})
    native_probability: ClassVar[bool] = False
    score_range: ClassVar[None] = None
    symmetric: ClassVar[bool] = False

    variant: CohortVariant = "M1.1"
    people: int | None = None

    def __post_init__(self) -> None:
        if self.people is not None:
            check_min(1, people=self.people)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.levels_ = GroupNames.of(view, ctx, "DemoNorm")
        names = self.levels_.names
        identity = resolve_identities(view, same, ctx)
        self.people_ = IdentityIndex.from_training(view, identity, ctx.salt)
        self.cohorts_ = self._draw(view, identity, ctx)
        _, own, _ = self._ends(view)
        self.fallback_ = GroupMaps.fit(fit_z_score, view.cosine, same, own, len(names))
        if self.variant.endswith(".2"):
            self.pooled_ = self._pool(view)
        moments = self._moments(view)
        # the same pairs are asked for again where a probability is fitted on training scores
        self._training = ref(view), moments
        ctx.report.update(
            cohort={name: len(cohort) for name, cohort in zip(names, self.cohorts_, strict=True)},
            train_pairs_by_group_statistics=int(np.count_nonzero(~moments.usable)),
            **self.fallback_.summary(names),
        )
        return self

    def predict(self, view: PairView) -> Prediction:
        cosine = view.cosine
        _, group, _ = self._ends(view)
        moments = self._seen(view) or self._moments(view)
        usable = moments.usable
        score = self.fallback_.score(cosine, group)
        score[usable] = (cosine[usable] - moments.mean[usable]) / moments.sd[usable]
        return Prediction(score=score)

    def _seen(self, view: PairView) -> Moments | None:
        """What ``fit`` found for the very same pairs."""
        training_view, moments = getattr(self, "_training", (None, None))
        if training_view is None or training_view() is not view:
            return None
        return moments

    def _ends(self, view: PairView) -> tuple[I64, I16, I16]:
        """Of each pair, (p,): the image that meets the cohort, its group, and the other image's."""
        codes = self.levels_.codes(view)
        left, right = view.ends(np.arange(len(codes), dtype=np.int64))
        left_group, right_group = view.ends(codes)
        if self.variant.startswith("M1"):
            return left, left_group, right_group
        return right, right_group, left_group

    def _draw(self, view: PairView, identity: I32, ctx: FitContext) -> list[Cohort]:
        rows, vectors = view.images()
        groups = self.levels_.codes(view)[rows]
        who = identity[rows]
        size = self.people
        if size is None:
            size = PEOPLE_PER_GROUP[self.variant]
        rng = ctx.rng("cohort")
        cohorts = []
        for group in range(len(self.levels_)):
            members = groups == group
            cohorts.append(draw_cohort(vectors[members], who[members], size, rng))
        return cohorts

    def _moments(self, view: PairView) -> Moments:
        """Impostor statistics of each pair, (p,)."""
        image, own, other = self._ends(view)
        if self.variant.endswith(".2"):
            # the last place, without any, is for unknown groups and for those that were not there in training
            return self.pooled_.take(np.minimum(own, len(self.cohorts_)).astype(np.int64))
        out = Moments.empty(view.n_pairs)
        images = _Images(view, self.people_)
        for g, cohort in enumerate(self.cohorts_):
            pairs = np.flatnonzero(other == g)
            if self.variant in ("M1", "M2"):
                pairs = np.arange(view.n_pairs)
            distinct, where = np.unique(image[pairs], return_inverse=True)
            found = images.meet(cohort, distinct).take(where)
            out.put(pairs, out.take(pairs).merge(found))
        return out

    def _pool(self, view: PairView) -> Moments:
        """Statistics of each group, and none for the unknown one at the end, (g + 1,)."""
        image, own, _ = self._ends(view)
        out = Moments.empty(len(self.cohorts_) + 1)
        images = _Images(view, self.people_)
        for g, cohort in enumerate(self.cohorts_):
            out.put(np.array([g]), images.meet(cohort, np.unique(image[own == g])).pooled())
        return out


class _Images:
    """The images of some pairs, with the people on them."""

    def __init__(self, view: PairView, people: IdentityIndex) -> None:
        rows, self._vectors = view.images()
        self._identity = people.look_up(view)
        self._place = np.zeros(len(self._identity), dtype=np.int64)
        self._place[rows] = np.arange(len(rows))

    def meet(self, cohort: Cohort, chosen: I64) -> Moments:
        """Moments of the cosines of the chosen images (m,) to a cohort, (m,)."""
        return cohort.moments(self._vectors[self._place[chosen]], self._identity[chosen])


@dataclass
class DemoNormGroup:
    """One increasing map of the cosine for each group.

    Parameters
    ----------
    variant : {"group", "M4", "M5"}, default "group"
        Which map each group gets, as listed above.
    rule : {"both", "first"}, default "first"
        Which pairs are in a group, in fit and in predict: those with both images in it, or with the first one.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"groups"})
    native_probability: ClassVar[bool] = False
    score_range: ClassVar[None] = None

    variant: GroupVariant = "group"
    rule: PairRule = "first"

    @property
    def imports(self) -> tuple[str, ...]:
        """What fits import."""
        if self.variant == "M4":
            return ("sklearn.linear_model",)
        return ()

    @property
    def symmetric(self) -> bool:
        """Whether exchanging left and right changes nothing."""
        return self.rule == "both"

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.rule_ = GroupRule(GroupNames.of(view, ctx, "DemoNormGroup"), self.rule)
        groups = self.rule_.groups(view)
        levels = self.rule_.levels.names
        self.curves_ = GroupMaps.fit(FIT_MAP[self.variant], view.cosine, same, groups, len(levels))
        ctx.report.update(self.curves_.summary(levels))
        return self

    def predict(self, view: PairView) -> Prediction:
        return Prediction(score=self.curves_.score(view.cosine, self.rule_.groups(view)))
