"""Random samples of protocols: named by what they are for, the same for every method and in any order of runs."""

from __future__ import annotations

import hashlib

import numpy as np

from fairfr.core.types import I64, Bool


def rng_of(*about: object) -> np.random.Generator:
    """A generator seeded by what it is for."""
    digest = hashlib.sha256("\x1f".join(map(str, about)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def stratified(same: Bool, size: int, rng: np.random.Generator) -> I64:
    """``size`` of the pairs with labels ``same`` (p,), as ascending positions (size,).

    The sample keeps the share of genuine pairs, to a pair. Of a generator in the same state, a smaller sample is part
    of every larger one.
    """
    n_same = round(size * float(same.mean())) if len(same) else 0
    order = rng.permutation(len(same))
    kept = [order[same[order]][:n_same], order[~same[order]][: size - n_same]]
    return np.sort(np.concatenate(kept))
