"""What occurs more than once: pairs, images and people in several folds, copies of an image, images of one person."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import F32, I16, I32, I64, UNKNOWN

Codes = npt.NDArray[np.integer[Any]]

# of unit vectors; half precision costs 3e-4, other images of a person are at .1 and more
DUPLICATE_DISTANCE = 1e-3
N_PROJECTIONS = 8  # random directions that are compared first


def pair_keys(left: Codes, right: Codes, n_images: int) -> I64:
    """One number for each pair (p,), whichever way round it is written; equal keys are the same two images.

    Keys sort pairs by the smaller code, then by the larger one.
    """
    return np.minimum(left, right).astype(np.int64) * n_images + np.maximum(left, right)


def folds_per_value(left: Codes, right: Codes, fold: I16) -> I64:
    """In how many folds each known value of ``left`` and ``right`` (p,) occurs, (k,), in the order of the values."""
    who = np.concatenate([left, right]).astype(np.int64)
    folds = np.concatenate([fold, fold])
    is_known = who != UNKNOWN
    _, times = np.unique(unique_per_fold(who[is_known], folds[is_known]), return_counts=True)
    return times.astype(np.int64)


def unique_per_fold(values: I64, fold: I16) -> I64:
    """The distinct of ``values`` (m,), once for each fold they occur in."""
    n_folds = int(fold.max(initial=0)) + 1
    return np.unique(values * n_folds + fold) // n_folds


def near_duplicates(vectors: F32) -> tuple[I64, I64]:
    """Pairs of rows of ``vectors`` (n, d) that are no farther apart than ``DUPLICATE_DISTANCE``, (m,) and (m,).

    Not by equal fingerprints of rounded values: a value next to a rounding boundary would hide a copy. Distances can
    only shrink in a projection, so rows that are far apart in a few random directions need no second look.
    """
    from scipy.spatial import cKDTree

    directions = np.random.default_rng(0).standard_normal((vectors.shape[1], N_PROJECTIONS))
    if len(directions) >= N_PROJECTIONS:
        directions = np.linalg.qr(directions)[0]
    else:
        directions = np.eye(len(directions))
    near = cKDTree(vectors @ directions).query_pairs(2 * DUPLICATE_DISTANCE, output_type="ndarray").astype(np.int64)
    gap = np.linalg.norm(vectors[near[:, 0]].astype(np.float64) - vectors[near[:, 1]], axis=1)
    left, right = near[gap <= DUPLICATE_DISTANCE].T
    return left, right


def connected_components(n: int, a: I64, b: I64) -> I64:
    """The connected component of each of ``n`` nodes, (n,), numbered from 0; ``a`` and ``b`` (m,) are linked."""
    from scipy.sparse import coo_array, csgraph

    links = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
    return np.asarray(csgraph.connected_components(links, directed=False)[1], dtype=np.int64)


def infer_identities(known: I32 | I64, left: I32 | I64, right: I32 | I64) -> I64:
    """The person on each image, (n,), numbered from 0.

    ``known`` (n,): identities, -1 where unknown. Images of unknown identity that the genuine pairs ``left``, ``right``
    (g,) connect, also through images of a known one, are one person; an unknown image in none is a person of its own.
    """
    n = len(known)
    named = np.flatnonzero(known != UNKNOWN)
    # two known images are never linked by a pair: between them the metadata has the word
    open_pair = (known[left] == UNKNOWN) | (known[right] == UNKNOWN)
    # beside the n images a node for each identity: it connects the images of one person
    heads = np.concatenate([named, left[open_pair]])
    tails = np.concatenate([n + known[named].astype(np.int64), right[open_pair]])
    linked = connected_components(n + int(known.max(initial=UNKNOWN)) + 1, heads, tails)[:n]
    people: I64 = np.unique(linked, return_inverse=True)[1]
    return people
