"""FALCON: every image has a local decision threshold, predicted from its embedding (Al-Refai et al. 2025).

Where identities crowd together, impostors reach high cosines. For a training image i let c_(1) >= ... >= c_(n) be its
cosines to the training images of other identities; its local threshold is t_i = c_(k*), k* the whole number nearest to
fmr * n: the cosine that a share fmr = 1e-3 of impostors reaches. Kernel ridge regression carries thresholds over to
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
infinity). An image without any impostor has no threshold and is left out; if none has one, all t^ are 0 and the
ranking is the Baseline's. The option to look only at nearest neighbours, off by default there, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.errors import ConfigError
from fairfr.core.types import F32, F64, I32, I64, Bool, Need, Prediction
from fairfr.methods._kernel_ridge import Kernel, fit_kernel_ridge
from fairfr.methods._labels import resolve_identities
from fairfr.pairs.view import PairView

SOURCE_PRESETS: dict[str, tuple[Kernel, float]] = {
    "arcface": ("poly3", 1e-6),
    "facenet": ("linear", 0.1),
    "magface": ("poly3", 10.0),
    "qmagface": ("rbf", 1e-6),
}
ROW_BLOCK = 512
SLACK = 1e-5  # more than float32 rounds two cosines


@dataclass
class Falcon:
    """score = omega s + (1 - omega) (1 - t^_left - t^_right).

    Parameters
    ----------
    fmr : float, default 0.001
        Share of impostors that reach an image's local threshold.
    omega : float, default 0.75
        Weight of the cosine against the thresholds; 1 is the Baseline.
    kernel : {"linear", "poly2", "poly3", "rbf"}, default "poly3"
        Of the regression of thresholds on embeddings.
    ridge : float, default 0.0001
        Penalty of that regression.
    gamma : float or None, default None
        Scale of the kernel; None is 1 / d.
    max_images : int, default 6000
        Fit the regression on at most this many random training images.
    form : {"weighted", "legacy"}, default "weighted"
        The score above, or the authors' earlier one without omega.
    preset : {"own", "source"}, default "own"
        Whether kernel and ridge are those given here, or the authors' choice for the backbone.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings", "identities"})
    native_probability: ClassVar[bool] = False
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
        check_above(0, fmr=self.fmr, ridge=self.ridge)
        check_min(0, omega=self.omega)
        check_min(1, max_images=self.max_images)
        if self.gamma is not None:
            check_above(0, gamma=self.gamma)
        for name in ("fmr", "omega"):
            if getattr(self, name) > 1:
                raise ConfigError(f"method.estimator.{name} must be at most 1, found {getattr(self, name):g}.")

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        rows, vectors = view.images()
        identity = resolve_identities(view, same, ctx)[rows]
        chosen = np.arange(len(rows))
        if len(chosen) > self.max_images:
            chosen = np.sort(ctx.rng("threshold_images").choice(chosen, self.max_images, replace=False))
        threshold, rank = local_thresholds(vectors, identity, chosen, self.fmr)
        known = rank > 0
        kernel, ridge = self._kernel_and_ridge(ctx.backbone)
        gamma = self.gamma
        if gamma is None:
            gamma = 1 / vectors.shape[1]
        self.threshold_, fitted = fit_kernel_ridge(vectors[chosen[known]], threshold[known], kernel, ridge, gamma)
        ctx.report.update(_describe(threshold[known], fitted, rank[known]), without_strangers=int((~known).sum()))
        return self

    def predict(self, view: PairView) -> Prediction:
        rows, vectors = view.images()
        threshold = np.zeros(rows.max(initial=-1) + 1)
        threshold[rows] = self.threshold_.value(vectors)
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


def impostor_rank(fmr: float, impostors: I64) -> I64:
    """k*: the whole number nearest to fmr * n (of two, the smaller), at least 1; 0 where there are no impostors."""
    # fmr * n is a rounded product: a tie that it misses by a hair is still a tie
    nearest = np.ceil(fmr * impostors - 0.5 - 1e-9).astype(np.int64)
    return np.where(impostors > 0, np.maximum(nearest, 1), 0)


def local_thresholds(vectors: F32, identity: I32, chosen: I64, fmr: float) -> tuple[F64, I64]:
    """Find the local thresholds of some images against all images.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, d)
        Unit vectors of all training images.
    identity : ndarray of int32, shape (n_images,)
        Who is on them.
    chosen : ndarray of int64, shape (n_chosen,)
        Rows of ``vectors``.
    fmr : float
        Share of impostors that reach a threshold.

    Returns
    -------
    threshold : ndarray of float64, shape (n_chosen,)
        0 for an image without impostors.
    rank : ndarray of int64, shape (n_chosen,)
        The threshold's rank k* among the image's cosines; 0 for an image without impostors.
    """
    _, code, size = np.unique(identity, return_inverse=True, return_counts=True)
    own_images = np.split(np.argsort(code, kind="stable"), np.cumsum(size)[:-1])
    rank = impostor_rank(fmr, len(vectors) - size[code[chosen]])
    threshold = np.zeros(len(chosen))
    for start in range(0, len(chosen), ROW_BLOCK):
        block = np.arange(start, min(start + ROW_BLOCK, len(chosen)))
        cosines = vectors[chosen[block]] @ vectors.T
        for i, cosine in zip(block, cosines, strict=True):
            image = chosen[i]
            if rank[i] > 0:
                cosine[own_images[code[image]]] = -np.inf
                threshold[i] = _largest_at_rank(cosine, int(rank[i]), vectors, vectors[image])
    return threshold, rank


def _largest_at_rank(cosine: F32, rank: int, vectors: F32, own: F32) -> float:
    """The rank-th largest cosine of ``own`` (d,) with ``vectors`` (u, d), in float64.

    ``cosine`` (u,) has them in float32, which says who may be among the ``rank`` largest: these few are measured.
    """
    rounded = np.partition(cosine, -rank)[-rank]
    near = np.flatnonzero(cosine >= rounded - SLACK)
    exact = np.sort(vectors[near].astype(np.float64) @ own.astype(np.float64))
    return float(exact[-rank])


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
