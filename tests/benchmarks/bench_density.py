"""Local density: the neighbour scan of BFW against faiss on built midpoints."""

from __future__ import annotations

import numpy as np
from measured import Measured, seconds

from fairfr.core.types import F32, Pairs
from fairfr.pairs._scan import SPARE
from fairfr.pairs.neighbours import Midpoints, nearest_midpoints

DIMS = 512
K = 20
SPECTRUM = 105.7  # effective dimensions of the BFW stand-in for MagFace
IMAGES_EACH = 25
FAISS_SHARE = 10  # faiss searches every tenth query, and its time is multiplied: it takes minutes for all


def faces(n: int) -> F32:
    """Unit vectors (n, 512) of people with some images each, most of their variance in few directions."""
    rng = np.random.default_rng(0)
    spectrum = np.exp(-np.arange(DIMS) / SPECTRUM)
    people = rng.standard_normal((-(-n // IMAGES_EACH), DIMS), dtype=np.float32)
    vectors = people[np.arange(n) // IMAGES_EACH] + rng.standard_normal((n, DIMS), dtype=np.float32)
    vectors *= spectrum.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def random_pairs(n: int, p: int) -> Pairs:
    return Pairs(*np.random.default_rng(1).integers(0, n, (2, p), dtype=np.int32))


def faiss_seconds(queries: Midpoints, references: Midpoints, k: int, threads: int) -> float:
    """The plain way: a flat index over built midpoints."""
    import faiss

    faiss.omp_set_num_threads(threads)

    def search() -> None:
        lookup = faiss.IndexFlatL2(DIMS)
        lookup.add(references.dense(0, len(references)))
        lookup.search(queries.dense(0, len(queries)), k)

    return seconds(search)


def every(midpoints: Midpoints, step: int) -> Midpoints:
    return Midpoints(midpoints.vectors, midpoints.pairs.take(np.arange(0, len(midpoints), step)))


def measure_scan(threads: int, n: int = 16_000, p: int = 740_000, n_references: int = 6000) -> Measured:
    """The training pairs of one fold of BFW."""
    vectors, pairs = faces(n), random_pairs(n, p)
    queries = Midpoints(vectors, pairs)
    references = every(queries, p // n_references)
    nearest_midpoints(every(queries, 1000), references, K, "scan", threads)  # compile
    ours = seconds(lambda: nearest_midpoints(queries, references, K, "scan", threads), repeats=2)
    plain = FAISS_SHARE * faiss_seconds(every(queries, FAISS_SHARE), references, K, threads)
    flops = 2 * n * len(references) * DIMS
    read = p * (2 * len(references) * 4 + (K + SPARE) * DIMS * 8)
    limit = (
        f"{flops / 1e9:.0f} GFlop of image x reference products ({flops / ours / 1e9:.0f} GFlop/s over the whole), "
        f"{read / 1e9:.0f} GB read from the caches by scan and distances ({read / ours / 1e9:.0f} GB/s)"
    )
    work = f"{K} nearest of {len(references):,} references, {p:,} pairs of {n:,} images, against faiss on midpoints"
    return Measured(work, ours, plain, limit, "4 x faiss")


def measure(threads: int) -> list[Measured]:
    """Every row of this topic."""
    return [measure_scan(threads)]
