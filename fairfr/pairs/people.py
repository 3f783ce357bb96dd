"""Infer unknown identities: images that are connected by genuine pairs show one person."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import I32, I64, UNKNOWN


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
