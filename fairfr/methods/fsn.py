"""FSN, fair score normalisation: shift each pair's cosine so that one threshold suits every cluster of images.

Impostors of different regions of the embedding space reach different cosines, so one threshold gives them different
false-positive rates. With the clusters c(i) and the training pairs T_k of FairCal (the same clusters, K = 100), let t_k
be the threshold at which T_k has a false-positive rate of ``fpr`` (0.05), t the one of all training pairs, and
delta_k = t_k - t. A pair (l, r) with cosine s then scores

    s' = s - (delta_c(l) + delta_c(r)) / 2.

Source: Terhoerst, Kolf, Damer, Kirchbuchner and Kuijper 2020, "Post-comparison mitigation of demographic bias in face
recognition using fair score normalization", in the form in which Salvador et al. 2022 (FairCal) compare it: thresholds
from the given training pairs. Needs embeddings; neither groups nor identities. Emits the shifted score, and as
probability a constrained beta map fitted on the shifted training scores over all they can reach, from
-1 - max delta to 1 - min delta.

Deviations: the original takes t_k from all image pairs inside a cluster, at a rate of 1e-3, and dissolves small
clusters, which asks for identities; that variant is not offered. k-means is seeded and by default run by faiss; no more
clusters than training images; a cluster whose pairs define no threshold (none, or of one class) shifts nothing, and is
counted in the fit report. Where a cluster holds few impostors (about 50 on LFW) its delta is mostly noise.

Corners: FairCal's code looks at corners of the ROC curve only. Where a cluster's cosines separate the classes, the only
corners are its smallest genuine cosine and the end, and t_k is the former, at an FPR of 0 instead of ``fpr``: on a
strong backbone that is nearly every cluster, and delta_k then follows one hard genuine pair. That is
``corners="source"``, the default; ``corners="all"`` looks at every point of the curve. ``cluster_thresholds`` in the
fit report counts the clusters whose threshold is their smallest genuine cosine, and those where all points would give
another.

``pick`` says which of these points gives a threshold: the one with the FPR ``nearest`` to ``fpr`` (FairCal's code), or
the first one ``reaching`` it. With many corners the two hardly differ; in a small cluster whose scores separate the
classes the second is the smallest score there is, and shifts the cluster's pairs far up. Of the readings tried it comes
nearest to the losses that the paper prints on LFW, but it was found by searching for them and does not meet their
sizes: docs/lab/frappe_fsn.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.errors import ConfigError
from fairfr.core.types import F64, I64, Bool, Need, Prediction
from fairfr.methods._clusters import LIBRARY, ClusterEngine, fit_clusters
from fairfr.methods._fpr_thresholds import Corners, Pick, ThresholdFinder
from fairfr.numerics.beta import fit_beta
from fairfr.pairs.vectors import COSINE_RANGE
from fairfr.pairs.view import PairView


@dataclass
class FSN:
    """s' = s - (delta_l + delta_r) / 2, delta_k = threshold of cluster k - global threshold.

    Parameters
    ----------
    K : int, default 100
        How many clusters of images k-means makes.
    fpr : float, default 0.05
        False-positive rate at which thresholds are compared.
    n_init : int, default 10
        How many starts of k-means are tried.
    engine : {"faiss", "sklearn"}, default "faiss"
        Which library runs k-means.
    corners : {"source", "all"}, default "source"
        Which points of the ROC curve may be a threshold: its corners alone, as in FairCal's code, or all.
    pick : {"nearest", "reaching"}, default "nearest"
        Which of these points: the one whose rate is nearest to ``fpr``, or the first that reaches it.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = False

    K: int = 100
    fpr: float = 0.05
    n_init: int = 10
    engine: ClusterEngine = "faiss"
    corners: Corners = "source"
    pick: Pick = "nearest"

    def __post_init__(self) -> None:
        check_min(1, K=self.K, n_init=self.n_init)
        check_above(0, fpr=self.fpr)
        if self.fpr >= 1:
            raise ConfigError(f"method.estimator.fpr must be below 1, found {self.fpr:g}.")

    @property
    def imports(self) -> tuple[str, ...]:
        """What fits import."""
        return (LIBRARY[self.engine],)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.clusters_ = fit_clusters(view, self.K, self.n_init, self.engine, ctx)
        left, right = self.clusters_.of_pairs(view)
        cosine = view.cosine
        self.threshold_ = ThresholdFinder(self.fpr, self.corners, self.pick).find(cosine, same)
        thresholds = ThresholdFinder(self.fpr, self.corners, self.pick)
        self.shift_: F64 = np.zeros(len(self.clusters_))
        fallbacks = {"empty": 0, "one_class": 0}
        for k in range(len(self.clusters_)):
            members = np.flatnonzero((left == k) | (right == k))
            threshold = thresholds.find(cosine[members], same[members])
            if threshold is None or self.threshold_ is None:
                reason = "empty"
                if len(members):
                    reason = "one_class"
                fallbacks[reason] += 1
            else:
                self.shift_[k] = threshold - self.threshold_
        low, high = COSINE_RANGE
        reach = (low - float(self.shift_.max()), high - float(self.shift_.min()))
        self.map_ = fit_beta(self._shifted(cosine, left, right), same, reach)
        ctx.report.update(clusters=len(self.shift_), fallback_clusters=sum(fallbacks.values()), fallbacks=fallbacks)
        ctx.report["cluster_thresholds"] = thresholds.counts
        return self

    def predict(self, view: PairView) -> Prediction:
        score = self._shifted(view.cosine, *self.clusters_.of_pairs(view))
        return Prediction(score=score, probability=self.map_.probability(score))

    def _shifted(self, cosine: F64, left: I64, right: I64) -> F64:
        return cosine - (self.shift_[left] + self.shift_[right]) / 2
