"""FairCal: a beta calibration for each cluster of images, mixed over the two images of a pair.

Regions of the embedding space differ in what a cosine means, and often follow ethnicity or gender; clusters of images
replace groups, so that no labels are needed. k-means (K = 100, Euclidean, ``n_init`` starts) on the distinct images of
the training pairs gives each image i its cluster c(i). T_k are the training pairs with an image in cluster k (once, if
both are), n_k of them, and mu_k is a constrained beta map of the cosine over -1..1 fitted on T_k. A pair (l, r) with
cosine s then has

    p = (n_c(l) mu_c(l)(s) + n_c(r) mu_c(r)(s)) / (n_c(l) + n_c(r)).

Source: Salvador, Cairns, Voleti, Marshall and Oberman 2022, "FairCal: Fairness Calibration for Face Verification"; beta
maps by Kull, Silva Filho and Flach 2017. Needs embeddings; neither groups nor identities, in training or after. Emits a
probability, which is also its score.

Deviations, each where the source is silent, unseeded or stops with an error: k-means is seeded and by default run by
faiss; no more clusters than training images; a cluster without training pairs, with pairs of one class or with fewer
than ``MIN_PAIRS`` uses the beta map of all training pairs (counted in the fit report), and so does a pair whose
clusters met no training pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_min
from fairfr.core.types import F64, I64, Bool, Need, Prediction
from fairfr.methods._clusters import LIBRARY, ClusterEngine, fit_clusters
from fairfr.numerics.beta import BetaMap, fit_beta
from fairfr.pairs.view import PairView

MIN_PAIRS = 10


@dataclass
class FairCal:
    """p = (n_l mu_l(s) + n_r mu_r(s)) / (n_l + n_r), mu_k the beta map of cluster k.

    Parameters
    ----------
    K : int, default 100
        How many clusters of images k-means makes.
    n_init : int, default 10
        How many starts of k-means are tried.
    engine : {"faiss", "sklearn"}, default "faiss"
        Which library runs k-means.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    K: int = 100
    n_init: int = 10
    engine: ClusterEngine = "faiss"

    def __post_init__(self) -> None:
        check_min(1, K=self.K, n_init=self.n_init)

    @property
    def imports(self) -> tuple[str, ...]:
        """What fits import."""
        return (LIBRARY[self.engine],)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.clusters_ = fit_clusters(view, self.K, self.n_init, self.engine, ctx)
        left, right = self.clusters_.of_pairs(view)
        cosine = view.cosine
        self.global_ = fit_beta(cosine, same)
        self.maps_: list[BetaMap] = []
        self.sizes_: I64 = np.zeros(len(self.clusters_), dtype=np.int64)
        fallbacks = {"empty": 0, "one_class": 0, "few_pairs": 0}
        for k in range(len(self.clusters_)):
            members = np.flatnonzero((left == k) | (right == k))
            self.sizes_[k] = len(members)
            reason = _unfit(same[members])
            if reason is not None:
                fallbacks[reason] += 1
            own_map = self.global_
            if reason is None and len(members) < len(same):
                own_map = fit_beta(cosine[members], same[members])
            self.maps_.append(own_map)
        ctx.report.update(clusters=len(self.maps_), fallback_clusters=sum(fallbacks.values()), fallbacks=fallbacks)
        return self

    def predict(self, view: PairView) -> Prediction:
        left, right = self.clusters_.of_pairs(view)
        cosine = view.cosine
        by_left = self._map(left, cosine)
        by_right = self._map(right, cosine)
        n_left = self.sizes_[left]
        n_right = self.sizes_[right]
        total = n_left + n_right
        mixture = (n_left * by_left + n_right * by_right) / np.maximum(total, 1)
        # one cluster is its own mixture: set directly, so that rounding cannot move it
        probability = np.where(left == right, by_left, mixture)
        unseen = total == 0
        probability[unseen] = self.global_.probability(cosine[unseen])
        return Prediction(score=probability, probability=probability)

    def _map(self, cluster: I64, cosine: F64) -> F64:
        """mu of each pair's cluster at its cosine, (p,)."""
        out = np.empty(len(cosine))
        for k in np.unique(cluster):
            members = np.flatnonzero(cluster == k)
            out[members] = self.maps_[k].probability(cosine[members])
        return out


def _unfit(same: Bool) -> str | None:
    """Why these pairs cannot carry a map of their own."""
    if not len(same):
        return "empty"
    if same.all() or not same.any():
        return "one_class"
    if len(same) < MIN_PAIRS:
        return "few_pairs"
    return None
