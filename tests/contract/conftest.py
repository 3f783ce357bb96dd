"""The data that every method is tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fairfr.core.types import EmbeddingSet, VerificationSet

N_PAIRS, DIMENSIONS = 1500, 32


@pytest.fixture(scope="module")
def data(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    """1,500 pairs of the BFW stand-in in few dimensions: groups, identities, repeated images and mixed pairs."""
    whole = synthetic_set("bfw", scale=0.02)
    assert whole.embeddings is not None
    vectors = whole.embeddings.vectors[:, :DIMENSIONS]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.sort(np.random.default_rng(0).choice(whole.n_pairs, N_PAIRS, replace=False))
    return replace(
        whole,
        pairs=whole.pairs.take(rows),
        same=whole.same[rows],
        fold=whole.fold[rows],
        embeddings=EmbeddingSet("cut", "0", whole.images, vectors),
    )
