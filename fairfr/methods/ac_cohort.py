"""AC-Cohort: AC-Hinge on a cosine that is normalised by each image's nearest strangers. Ours, not the paper's.

The normalised cosine t is adaptive symmetric score normalisation (AS-norm with the top of a cohort), as speaker
verification has long used it (Matejka et al. 2017). Added here: mean and deviation are shrunk by their sampling noise,
the mean has a floor, and t enters a logit that may bend upwards (the hinge) beside the location of the pair.

Of an image's cosines to a cohort the highest ``share`` (2 %) count: mu is their mean, sd their standard deviation, both
shrunk towards the mean of all training images as far as they are sampling noise; mu is at least the ``floor`` quantile
(10 %) of training, so that an image unlike everybody gets no credit for it. Then

t = ((s - mu_left) / sd_left + (s - mu_right) / sd_right) / 2, M = mu_left + mu_right, both standardised, and
logit p = b + a t + c max(t, 0)^2 + e M + w . (x_left + x_right) / 2, fitted as AC-Hinge is.

The cohort is the training images (at most ``most`` of them, drawn by seed), other unlabelled images of the same network
(``cohort: external``), or both. An image of one training fold meets the cohort images of the other folds only; without
two folds, five groups of people take their place. Otherwise an image would meet its own person, unlike in use.
A training image that is scored later is known by a mark of its vector, and treated in the same way.

``keep: vectors`` keeps the cohort's face vectors. ``keep: mixture`` keeps a mixture of normal distributions
fitted to them, which has no face in it: on six real sets its Brier score is within .001 of that with vectors, its TPR
at FPR 1e-3 at most .016 lower (docs/lab/beyond.md).

Do not use it where a group of people may be missing from the cohort: images unlike those of training are counted, and
warned of (docs/lab/beyond.md).

Source: this project (docs/lab/beyond.md), on P. Matejka et al., "Analysis of Score Normalization in Multilingual
Speaker Recognition", Interspeech 2017, doi 10.21437/Interspeech.2017-803. Needs embeddings, and identities in
training where they are known. Emits a probability; its score is the logit.

Deviations: none. With fewer than 300 cohort images it is AC-Hinge. Pairs of one kind only: their base rate.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.errors import ConfigError
from fairfr.core.types import F32, F64, I64, Bool, Need, Prediction
from fairfr.methods._hinge import Standardisation, fit_hinge
from fairfr.methods._image_statistics import Statistics, TrainingStatistics, meet, number_of, reliability
from fairfr.methods._labels import resolve_identities
from fairfr.methods._strangers import Mixture, Strangers, check_cohort, draw_strangers, fit_mixture, meet_mixture
from fairfr.numerics.regression import sigmoid
from fairfr.pairs.view import PairView

CohortSource: TypeAlias = Literal["train", "external", "both"]
Keep: TypeAlias = Literal["vectors", "mixture"]

log = logging.getLogger("fairfr")

FEWEST = 300
"""With a smaller cohort AC-Hinge is better."""
DEALT = 5
LARGEST_FOLD = 0.9
"""Of the training images. Those of a larger one would meet hardly anybody."""


@dataclass
class ACCohort:
    """AC-Hinge on a cosine normalised by each image's highest cosines to a cohort.

    Parameters
    ----------
    share : float, default 0.02
        The share of an image's cosines to the cohort that count: the highest ones.
    floor : float, default 0.1
        No image's mean is taken to be below this quantile of the training images' means; 0 switches it off.
    most : int, default 5000
        Draw at most so many images as cohort.
    cohort : {"train", "external", "both"}, default "train"
        The images of the training pairs, other unlabelled images of the same network, or both.
    keep : {"vectors", "mixture"}, default "vectors"
        What is kept of the cohort: its face vectors, or a mixture of normal distributions without any.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings", "identities"})
    needs_to_predict: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    share: float = 0.02
    floor: float = 0.1
    most: int = 5000
    cohort: CohortSource = "train"
    keep: Keep = "vectors"

    def __post_init__(self) -> None:
        check_above(0, share=self.share)
        check_min(0, floor=self.floor)
        check_min(1, most=self.most)
        if self.share > 1 or self.floor > 1:
            raise ConfigError("method.estimator.share and method.estimator.floor are shares: at most 1.")

    @property
    def imports(self) -> tuple[str, ...]:
        """What fits import."""
        if self.keep == "mixture":
            return ("sklearn.cluster",)
        return ()

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        images = view.images()[1]
        check_cohort(self.cohort, ctx.cohort, images.shape[1])
        strangers = draw_strangers(images, _groups_of_images(view, same, ctx), self.cohort, self.most, ctx)
        ctx.report["cohort"] = len(strangers)
        self.strangers_: Strangers | None = None
        self.mixture_: Mixture | None = None
        self.training_: TrainingStatistics | None = None
        if len(strangers) < FEWEST:
            ctx.report["fallback"] = f"AC-Hinge, as the cohort has fewer than {FEWEST} images"
            return self._fit_model(view, same, ctx, view.cosine)
        found = self._cross_fitted(images, strangers, ctx)
        kept = self._reliability(found, images, strangers)
        self.training_ = TrainingStatistics.of(found, kept, self.floor)
        ctx.report["reliability_mean"], ctx.report["reliability_log_sd"] = kept
        if self.keep == "vectors":
            self.strangers_ = strangers
        else:
            self.mixture_ = fit_mixture(strangers.vectors, ctx.seed_for("cohort mixture"))
        return self._fit_model(view, same, ctx, *self._columns(view, found))

    def _cross_fitted(self, images: F32, strangers: Strangers, ctx: FitContext) -> Statistics:
        """Of each training image (n, d), by the cohort images of other groups."""
        if self.keep == "vectors":
            return self._met(images, strangers)
        mean, log_sd = np.empty(len(images)), np.empty(len(images))
        for group, here, others in strangers.meetings(images):
            mixture = fit_mixture(others, ctx.seed_for(f"cohort mixture without {group}"))
            mean[here], log_sd[here] = meet_mixture(images[here], mixture, self.share)
        return mean, log_sd

    def _met(self, images: F32, strangers: Strangers) -> Statistics:
        """Of each image (u, d), by the cohort images that it may meet."""
        mean, log_sd = np.empty(len(images)), np.empty(len(images))
        for _, here, others in strangers.meetings(images):
            mean[here], log_sd[here] = meet(images[here], others, self.share)
        return mean, log_sd

    def _reliability(self, found: Statistics, images: F32, strangers: Strangers) -> tuple[float, float]:
        """Of both statistics; a mixture has no sampling noise worth mention."""
        if self.keep == "mixture":
            return 1.0, 1.0
        number = np.empty(len(images))
        for _, here, others in strangers.meetings(images):
            number[here] = number_of(len(others), self.share)
        return reliability(*found, float(number.mean()))

    def _fit_model(self, view: PairView, same: Bool, ctx: FitContext, score: F64, *levels: F64) -> Self:
        self.score_ = Standardisation.of(score)
        self.levels_ = [Standardisation.of(level) for level in levels]
        columns = [self.score_.apply(score), *self._standardised(levels)]
        self.model_ = fit_hinge(view.midpoints(), view.images()[1], same, *columns)
        ctx.report.update(self.model_.report())
        return self

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, view: PairView) -> Prediction:
        images = view.images()[1]
        levels: list[F64] = []
        if self.training_ is None:
            self._unlike = 0, len(images)
            score = view.cosine
        else:
            found = self._statistics(images)
            self._unlike = int(np.count_nonzero(self.training_.outside(found))), len(images)
            score, *levels = self._columns(view, found)
        logit = self.model_.logit(view.midpoints(), self.score_.apply(score), *self._standardised(levels))
        return Prediction(score=logit, probability=sigmoid(logit))

    def unlike_training(self) -> tuple[int, int]:
        """Of the images last predicted: how many have statistics outside those of training, and how many there were."""
        return self._unlike

    def _statistics(self, images: F32) -> Statistics:
        if self.strangers_ is not None:
            return self._met(images, self.strangers_)
        assert self.mixture_ is not None
        return meet_mixture(images, self.mixture_, self.share)

    def _columns(self, view: PairView, found: Statistics) -> tuple[F64, F64]:
        """The normalised cosine of each pair (p,), and the sum of the means of both images."""
        assert self.training_ is not None
        rows = view.images()[0]
        mean, sd = np.zeros(rows.max() + 1), np.ones(rows.max() + 1)
        mean[rows], sd[rows] = self.training_.shrunk(found)
        left, right = view.ends(mean)
        left_sd, right_sd = view.ends(sd)
        cosine = view.cosine
        return ((cosine - left) / left_sd + (cosine - right) / right_sd) / 2, left + right

    def _standardised(self, levels: Sequence[F64]) -> list[F64]:
        return [of.apply(level) for of, level in zip(self.levels_, levels, strict=True)]


def _groups_of_images(view: PairView, same: Bool, ctx: FitContext) -> I64:
    """Which training images must not meet each other, (u,), in the order of ``view.images()``.

    The training fold, where there are two or more and none has nearly all images; otherwise one of five groups, dealt
    out by seed over people.
    """
    rows = view.images()[0]
    fold = _folds(view, rows)
    if np.bincount(fold).max() <= LARGEST_FOLD * len(rows):
        ctx.report["cohort_groups"] = "training folds"
        return fold
    ctx.report["cohort_groups"] = f"{DEALT} groups of people"
    _, first, person = np.unique(resolve_identities(view, same, ctx)[rows], return_index=True, return_inverse=True)
    # people are numbered as they appear among the images, which are sorted by id: codes mean nothing
    number = np.argsort(np.argsort(first))[person]
    dealt: I64 = ctx.rng("cohort groups").permutation(len(first))[number] % DEALT
    return dealt


def _folds(view: PairView, rows: I64) -> I64:
    """The fold of each image (u,): of those that its pairs are in, the first."""
    fold = view.folds().astype(np.int64)
    n = int(rows.max(initial=-1)) + 1
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, dtype=np.int64)
    for image in view.ends(np.arange(n)):
        np.minimum.at(lowest, image, fold)
        np.maximum.at(highest, image, fold)
    several = int(np.count_nonzero(lowest[rows] < highest[rows]))
    if several:
        log.warning(
            "%s of %s training images are in pairs of several folds, and may meet their own person in the cohort.",
            f"{several:,}",
            f"{len(rows):,}",
        )
    return lowest[rows]
