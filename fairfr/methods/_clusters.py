"""Clusters of images: seeded k-means, shared by FairCal and FSN.

The distinct images of the training pairs are clustered by Euclidean k-means with ``n_init`` random starts, seeded by
purpose and not by method: FairCal and FSN get the same clusters, and the folder ``ctx.cache``, where there is one, only
saves the second of them the time. Any image, of a training or of a test pair, belongs to its nearest centre.

``engine="faiss"`` gives each k-means++ start ``START_ITERATIONS`` Lloyd steps, enough to tell good ones, and takes the
best two on until they stand still. ``engine="sklearn"`` is scikit-learn's KMeans (the same starts, each to its end):
about as low an inertia, many times slower at the size of RFW.
"""

from __future__ import annotations

import hashlib
import logging
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.npz import UnreadableArrayError, read_npz
from fairfr.core.serialization import serializable
from fairfr.core.storage import replacing
from fairfr.core.types import F32, I64
from fairfr.pairs.parallel import single_thread_blas
from fairfr.pairs.view import PairView

log = logging.getLogger("fairfr")

ClusterEngine: TypeAlias = Literal["faiss", "sklearn"]
LIBRARY: dict[ClusterEngine, str] = {"faiss": "faiss", "sklearn": "sklearn.cluster"}

VERSION = 2  # of the cached centres: raise it when the same input gives others
START_ITERATIONS = 10
FINALISTS = 2
ROUND_ITERATIONS = 10
MAX_ROUNDS = 30
# the best start has come to rest when a round lowers its inertia by less than this share
RELATIVE_TOLERANCE = 1e-4
BLOCK = 65_536  # images at a time, so that distances to all centres stay small
# above the rounding of a float32 product of unit vectors: nearer calls than this are decided in float64
CLOSE_CALL = 1e-4


@serializable("Clusters")
@dataclass(frozen=True, slots=True)
class Clusters:
    """``centres`` (K, d); an image belongs to the nearest."""

    centres: F32

    def __len__(self) -> int:
        return len(self.centres)

    def of_pairs(self, view: PairView) -> tuple[I64, I64]:
        """Cluster of the left and of the right image of each pair, (p,) and (p,)."""
        rows, vectors = view.images()
        cluster = np.full(rows.max(initial=-1) + 1, -1, dtype=np.int64)
        cluster[rows] = nearest_centre(vectors, self.centres)
        return view.ends(cluster)


def fit_clusters(view: PairView, K: int, n_init: int, engine: ClusterEngine, ctx: FitContext) -> Clusters:
    """Cluster the distinct images of the pairs, into no more clusters than there are images."""
    vectors = np.ascontiguousarray(view.images()[1], dtype=np.float32)
    K = min(K, len(vectors))
    seed = ctx.seed_for("kmeans")
    library = _version_of(engine)
    recipe = (
        VERSION,
        library,
        K,
        n_init,
        engine,
        seed,
        ctx.threads,
        FINALISTS,
        START_ITERATIONS,
        ROUND_ITERATIONS,
        MAX_ROUNDS,
    )
    run = {"faiss": _run_faiss, "sklearn": _run_sklearn}[engine]
    if ctx.cache is None:
        return Clusters(run(vectors, K, n_init, seed, ctx.threads))
    stored = ctx.cache / "kmeans" / f"{_digest(vectors, recipe)}.npz"
    centres = _read(stored, (K, vectors.shape[1]))
    if centres is None:
        centres = run(vectors, K, n_init, seed, ctx.threads)
        _write(stored, centres)
    return Clusters(centres)


def nearest_centre(vectors: F32, centres: F32) -> I64:
    """Index of the centre nearest to each vector, (n,); of equally near ones the first.

    The answer for a vector does not depend on which others are asked about. A matrix product does, in its last
    digits: where two centres are that close to a tie, their distances are computed again, one vector at a time.
    """
    nearest = np.empty(len(vectors), dtype=np.int64)
    half_norms = np.einsum("ij,ij->i", centres, centres) / 2
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        closeness = block @ centres.T - half_norms  # (|v|^2 - distance^2) / 2
        within = closeness >= closeness.max(axis=1, keepdims=True) - CLOSE_CALL
        chosen = closeness.argmax(axis=1)
        for row in np.flatnonzero(within.sum(axis=1) > 1):
            candidates = np.flatnonzero(within[row])
            gap = centres[candidates].astype(np.float64) - block[row]
            chosen[row] = candidates[np.argmin((gap**2).sum(axis=1))]
        nearest[start : start + BLOCK] = chosen
    return nearest


def _run_faiss(vectors: F32, K: int, n_init: int, seed: int, threads: int) -> F32:
    """Starts run side by side, one thread each: quicker than sharing out the work inside a start, and the centres do
    not depend on the number of threads."""
    with single_thread_blas(), ThreadPoolExecutor(threads) as pool:
        starts = pool.map(lambda i: _faiss(vectors, K, seed + i, START_ITERATIONS), range(n_init))
        best = sorted(starts, key=lambda start: start[0])[:FINALISTS]
        finished = pool.map(lambda start: _to_rest(vectors, K, seed, start), best)
        return min(finished, key=lambda end: end[0])[1]


def _to_rest(vectors: F32, K: int, seed: int, start: tuple[float, F32]) -> tuple[float, F32]:
    """Lloyd steps until they no longer help: inertia and centres."""
    inertia, centres = start
    for _ in range(MAX_ROUNDS):
        before = inertia
        inertia, centres = _faiss(vectors, K, seed, ROUND_ITERATIONS, centres)
        if not inertia < before * (1 - RELATIVE_TOLERANCE):
            break
    return inertia, centres


def _faiss(vectors: F32, K: int, seed: int, iterations: int, init: F32 | None = None) -> tuple[float, F32]:
    """The inertia before the last step and the centres after it; without ``init`` k-means++ draws the first ones."""
    import faiss

    faiss.omp_set_num_threads(1)  # of the calling thread only
    model: Any = faiss.Kmeans(
        vectors.shape[1],
        K,
        niter=iterations,
        seed=seed % 2**31,  # a signed number there
        max_points_per_centroid=len(vectors),  # no sampling, which is the default
        min_points_per_centroid=1,  # no warning where images are few
        init_method=faiss.ClusteringInitMethod_KMEANS_PLUS_PLUS,  # random ones end higher, and the source has these
    )
    return float(model.train(vectors, init_centroids=init)), model.centroids


def _run_sklearn(vectors: F32, K: int, n_init: int, seed: int, threads: int) -> F32:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads), warnings.catch_warnings():
        # fewer distinct vectors than clusters: the spare clusters stay empty, which callers handle
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(n_clusters=K, n_init=n_init, random_state=seed).fit(vectors)
    centres: F32 = model.cluster_centers_.astype(np.float32)
    return centres


def _version_of(engine: ClusterEngine) -> str:
    from importlib import import_module

    return str(import_module(engine).__version__)


def _digest(vectors: F32, recipe: tuple[Any, ...]) -> str:
    content = hashlib.sha256(repr((vectors.shape, *recipe)).encode())
    content.update(vectors.data)
    return content.hexdigest()


def _read(path: Path, shape: tuple[int, int]) -> F32 | None:
    """The stored centres; None where there are none or the file is damaged (an npz carries checksums)."""
    try:
        with path.open("rb") as file:
            centres = read_npz(file, ["centres"]).get("centres")
    except (OSError, UnreadableArrayError):
        return None
    if centres is None or centres.shape != shape or centres.dtype != np.float32:
        return None
    return centres


def _write(path: Path, centres: F32) -> None:
    """Under its name only once it is whole: another process may be reading. A cache only saves time: where it cannot
    be written (a full disk, a folder that is not ours), the run goes on without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, centres=centres)
    except OSError as error:
        log.info("the centres are not kept in %s: %s", path.parent, error.strerror)
