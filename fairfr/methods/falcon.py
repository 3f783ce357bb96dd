"""FALCON: every image has a local decision threshold, predicted from its embedding (Al-Refai et al. 2025).

Where identities crowd together, strangers reach high cosines. For a training image i let c_(1) >= ... >= c_(n) be its
cosines to the training images of other identities; its local threshold is t_i = c_(k*), k* the whole number nearest to
fmr * n: the cosine that a share fmr = 1e-3 of strangers reaches. Kernel ridge regression carries thresholds over to
unseen images, t^(z), and a pair is lowered where its images' thresholds are high:

    score = omega s + (1 - omega) (1 - t^_left - t^_right),   omega = 0.75.

omega = 1 is the Baseline. ``form="legacy"`` is the authors' earlier s - (t^_left + t^_right) / 2, without omega.

Needs embeddings and identities (training images only; no groups). Where identities are unknown they are derived from
genuine training pairs, and fit_report says so. Emits a score; the probability is the runner's beta overlay over the
range of the training scores.

``kernel`` is linear, poly2, poly3 or rbf, on unit vectors, with ``ridge`` and ``gamma`` (None: 1/d); no intercept.
With gamma = 1/d the polynomial is nearly affine; gamma = 1 is the non-linear variant. ``preset="source"`` takes the
authors' kernel and ridge for the backbone instead (ArcFace, FaceNet, MagFace, QMagFace).

Deviations, and why: one kernel and ridge (poly3, 1e-4) for every backbone, because the authors chose theirs with group
labels on the sets they evaluate; the regression is fitted on at most 6,000 random training images, as in the Adaptive
Calibration paper (thresholds still look at all of them). Where fmr * n is below 0.5, k* is 1 (the authors' code gives
infinity). An image without any stranger has no threshold and is left out; if none has one, all t^ are 0 and the
ranking is the Baseline's. The option to look only at nearest neighbours, off by default there, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.conform import above, at_least
from fairfr.core.errors import ConfigError
from fairfr.core.types import F32, F64, I32, I64, Bool, Need, Prediction
from fairfr.methods._identity import identities_of
from fairfr.methods._kernel_ridge import Kernel, fit_kernel_ridge, values_together
from fairfr.pairs.near_images import SLACK, NearImages
from fairfr.pairs.view import PairView

Look: TypeAlias = Callable[[I64, int], NearImages | None]
"""The nearest of all images of some, so many of each or more: see PairView.near_images."""

SOURCE_PRESETS: dict[str, tuple[Kernel, float]] = {
    "arcface": ("poly3", 1e-6),
    "facenet": ("linear", 0.1),
    "magface": ("poly3", 10.0),
    "qmagface": ("rbf", 1e-6),
}
ROW_BLOCK = 512
MAX_SCANNED_RANK = 256


@dataclass
class Falcon:
    """score = omega s + (1 - omega) (1 - t^_left - t^_right)."""

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings", "identities"})
    native_probability: ClassVar[bool] = False
    side_by_side: ClassVar[bool] = True
    score_range: ClassVar[None] = None

    fmr: float = 1e-3
    omega: float = 0.75
    kernel: Kernel = "poly3"
    ridge: float = 1e-4
    gamma: float | None = None
    max_images: int = 6000
    form: Literal["weighted", "legacy"] = "weighted"
    preset: Literal["own", "source"] = "own"

    def __post_init__(self) -> None:
        above(0, fmr=self.fmr, ridge=self.ridge)
        at_least(0, omega=self.omega)
        at_least(1, max_images=self.max_images)
        if self.gamma is not None:
            above(0, gamma=self.gamma)
        for name in ("fmr", "omega"):
            if getattr(self, name) > 1:
                raise ConfigError(f"method.estimator.{name} must be at most 1, found {getattr(self, name):g}.")

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        rows, vectors = view.images()
        identity = identities_of(view, same, ctx)[rows]
        chosen = np.arange(len(rows))
        if len(chosen) > self.max_images:
            chosen = np.sort(ctx.rng("threshold_images").choice(chosen, self.max_images, replace=False))
        threshold, rank = local_thresholds(vectors, identity, chosen, self.fmr, view.near_images)
        known = rank > 0
        kernel, ridge = self._kernel_and_ridge(ctx.backbone)
        gamma = 1 / vectors.shape[1] if self.gamma is None else self.gamma
        self.threshold_, fitted = fit_kernel_ridge(vectors[chosen[known]], threshold[known], kernel, ridge, gamma)
        ctx.report.update(_describe(threshold[known], fitted, rank[known]), without_strangers=int((~known).sum()))
        return self

    def predict(self, view: PairView) -> Prediction:
        rows, vectors = view.images()
        threshold = np.zeros(rows.max(initial=-1) + 1)
        threshold[rows] = self.threshold_.value(vectors)
        return self._score(view, threshold)

    @classmethod
    def predict_together(cls, fitted: Sequence[Self], views: Sequence[PairView], threads: int) -> list[Prediction]:
        """Folds have most images in common, also those that they were fitted on: their products are the work."""
        vectors = _vectors_of(views)
        models = list({id(one): one.threshold_ for one in fitted}.values())
        values = values_together(models, vectors, threads)
        threshold = {id(model): value for model, value in zip(models, values, strict=True)}
        return [one._score(view, threshold[id(one.threshold_)]) for one, view in zip(fitted, views, strict=True)]

    def _score(self, view: PairView, threshold: F64) -> Prediction:
        """``threshold`` (n,): of every image of these pairs."""
        left, right = view.ends(threshold)
        if self.form == "legacy":
            return Prediction(score=view.cosine - (left + right) / 2)
        return Prediction(score=self.omega * view.cosine + (1 - self.omega) * (1 - (left + right)))

    def _kernel_and_ridge(self, backbone: str) -> tuple[Kernel, float]:
        if self.preset == "own":
            return self.kernel, self.ridge
        family = backbone.split("_")[0]
        if family not in SOURCE_PRESETS:
            raise ConfigError(
                f"method.estimator.preset=source knows the backbones {', '.join(SOURCE_PRESETS)}, not '{backbone}'. "
                "Set preset=own, and kernel and ridge as you like."
            )
        return SOURCE_PRESETS[family]


def stranger_rank(fmr: float, strangers: I64) -> I64:
    """k*: the whole number nearest to fmr * n (of two, the smaller), at least 1; 0 where there are no strangers."""
    # fmr * n is a rounded product: a tie that it misses by a hair is still a tie
    nearest = np.ceil(fmr * strangers - 0.5 - 1e-9).astype(np.int64)
    return np.where(strangers > 0, np.maximum(nearest, 1), 0)


def local_thresholds(
    vectors: F32, identity: I32, chosen: I64, fmr: float, near_images: Look = lambda images, depth: None
) -> tuple[F64, I64]:
    """Local threshold (c,) of the ``chosen`` images against all images, and the rank k* it stands at.

    Parameters
    ----------
    vectors : (u, d)
        Unit rows, all training images.
    identity : (u,)
    chosen : (c,)
        Rows of ``vectors``.
    near_images
        Finds the nearest of all images, where that is known: the same thresholds in less time.

    Rank 0 (and threshold 0) marks an image without strangers.
    """
    _, place, size = np.unique(identity, return_inverse=True, return_counts=True)
    code: I32 = place.astype(np.int32)
    rank = stranger_rank(fmr, len(vectors) - size[code[chosen]])
    threshold = np.zeros(len(chosen))
    left = np.flatnonzero(rank > 0)
    # most people have so few images that they fit into the list as well
    depth = int(rank.max(initial=0) + np.median(size[code[chosen]])) if len(left) else 0
    near = near_images(chosen, depth) if 0 < depth <= MAX_SCANNED_RANK else None
    if near is not None:
        found = _at_rank_of_near(near, code[chosen], code, rank)
        is_found = np.isfinite(found)
        threshold[is_found] = found[is_found]
        left = np.flatnonzero((rank > 0) & ~is_found)
    for start in range(0, len(left), ROW_BLOCK):
        block = left[start : start + ROW_BLOCK]
        threshold[block] = _at_rank_of_all(vectors, code, chosen[block], rank[block])
    return threshold, rank


def _at_rank_of_near(near: NearImages, own: I32, code: I32, rank: I64) -> F64:
    """The rank-th largest cosine with strangers, (c,); NaN where the list does not tell."""
    is_stranger = (near.row >= 0) & (code[near.row] != own[:, None])
    at = np.cumsum(is_stranger, axis=1) == rank[:, None]
    found = near.cosine[np.arange(len(own)), np.argmax(at & is_stranger, axis=1)]
    return np.where(at.any(axis=1) & (found > near.limit), found, np.nan)


def _at_rank_of_all(vectors: F32, code: I32, images: I64, rank: I64) -> F64:
    """The rank-th largest cosine of each of some images with strangers, (b,): they meet all images at once in float32;
    the table of all with all never exists."""
    from fairfr.methods._falcon_loops import at_rank
    from fairfr.pairs._cosines import exact_at_rank

    cosine = vectors[images] @ vectors.T
    rounded, out = np.zeros(len(images), dtype=np.float32), np.zeros(len(images))
    find = at_rank if rank.max() <= MAX_SCANNED_RANK else _at_rank_by_sorting
    find(cosine, code[images], code, rank, rounded)
    exact_at_rank(cosine, images, vectors, code, rank, rounded, SLACK, out)
    return out


def _at_rank_by_sorting(cosine: F32, own: I32, code: I32, rank: I64, out: F32) -> None:
    """As ``at_rank``, for ranks so deep that its list would be long."""
    deepest = int(rank.max())
    cosine = np.where(own[:, None] == code, np.float32(-np.inf), cosine)
    cosine.partition(cosine.shape[1] - deepest, axis=1)
    descending = -np.sort(-cosine[:, -deepest:], axis=1)
    found = np.take_along_axis(descending, rank[:, None] - 1, axis=1)[:, 0]
    out[:] = found


def _vectors_of(views: Sequence[PairView]) -> F32:
    """Of the images of one table that occur in the views, (n, d); 0 for others."""
    images = np.arange(len(views[0].identities()))
    out, is_known = np.zeros((len(images), views[0].images()[1].shape[1]), dtype=np.float32), images < 0
    for view in views:
        if not all(is_known[end].all() for end in view.ends(images)):  # of several folds the first two have all
            rows, vectors = view.images()
            out[rows], is_known[rows] = vectors, True
    return out


def _describe(threshold: F64, fitted: F64, rank: I64) -> dict[str, float | int | list[int]]:
    """What the run's result tells of the fit."""
    if not len(threshold):
        return {"images": 0}
    return {
        "images": len(threshold),
        "rank": [int(rank.min()), int(rank.max())],
        "threshold_mean": float(threshold.mean()),
        "threshold_std": float(threshold.std()),
        "residual_std": float((threshold - fitted).std()),
    }
