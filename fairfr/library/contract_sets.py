"""The small synthetic set on which a method is tried, and the same set told in other ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairfr.core.config import CONF_DIR, from_mapping
from fairfr.core.types import I64, UNKNOWN, EmbeddingSet, Grouping, Pairs, VerificationSet
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import generate_standin

N_PAIRS = 1500
DIMENSIONS = 32
SCALE = 0.02
"""Of the stand-in of BFW."""


def small_set() -> VerificationSet:
    """1,500 pairs of the BFW stand-in in 32 dimensions: groups, identities, repeated images and mixed pairs."""
    import yaml

    described = yaml.safe_load((CONF_DIR / "dataset" / "bfw.yaml").read_text(encoding="utf-8"))
    settings = from_mapping(DatasetSettings, described)
    assert settings.standin is not None
    whole = generate_standin("bfw", "magface", replace(settings.standin, scale=SCALE), settings.grouping)
    assert whole.embeddings is not None
    vectors = whole.embeddings.vectors[:, :DIMENSIONS]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.sort(np.random.default_rng(0).choice(whole.n_pairs, N_PAIRS, replace=False))
    return replace(
        whole,
        pairs=whole.pairs.take(rows),
        same=whole.same[rows],
        fold=whole.fold[rows],
        embeddings=EmbeddingSet("cut", "0", np.asarray(whole.images), vectors),
    )


def copied(data: VerificationSet) -> VerificationSet:
    """The same set in arrays of its own."""
    assert data.embeddings is not None
    groupings = {id: replace(grouping, codes=grouping.codes.copy()) for id, grouping in data.groupings.items()}
    return replace(
        data,
        identity=data.identity.copy(),
        pairs=Pairs(data.pairs.left.copy(), data.pairs.right.copy()),
        same=data.same.copy(),
        fold=data.fold.copy(),
        groupings=groupings,
        embeddings=replace(data.embeddings, vectors=data.embeddings.vectors.copy()),
    )


def with_sides_exchanged(data: VerificationSet) -> VerificationSet:
    """Left and right exchanged in about half of the pairs."""
    exchanged = np.random.default_rng(2).random(data.n_pairs) < 0.5
    left = np.where(exchanged, data.pairs.right, data.pairs.left)
    right = np.where(exchanged, data.pairs.left, data.pairs.right)
    return replace(data, pairs=Pairs(left, right))


def shuffled(data: VerificationSet, seed: int) -> tuple[VerificationSet, I64]:
    """The same images and pairs in another order, people numbered anew; and the old row of each pair (p,)."""
    rng = np.random.default_rng(seed)
    images = rng.permutation(len(data.images))
    rows = rng.permutation(data.n_pairs)
    found = part_of(data, rows, images)
    code = rng.permutation(data.identity.max() + 1).astype(np.int32)
    return replace(found, identity=np.where(found.identity < 0, UNKNOWN, code[found.identity])), rows


def part_of(data: VerificationSet, rows: I64, images: I64) -> VerificationSet:
    """Some pairs (rows) over some images, both in the given order."""
    assert data.embeddings is not None
    ids = np.asarray(data.images)[images]
    place = np.full(len(data.images), -1, dtype=np.int32)
    place[images] = np.arange(len(images))
    return replace(
        data,
        images=ids,
        identity=data.identity[images],
        pairs=Pairs(place[data.pairs.left[rows]], place[data.pairs.right[rows]]),
        same=data.same[rows],
        fold=data.fold[rows],
        groupings={id: replace(grouping, codes=grouping.codes[images]) for id, grouping in data.groupings.items()},
        embeddings=EmbeddingSet("cut", "0", ids, data.embeddings.vectors[images]),
    )


def alone(data: VerificationSet, rows: I64) -> VerificationSet:
    """Some pairs as a set of their own: their images alone, in another order; groups numbered anew, with one more."""
    used = np.unique(np.concatenate([data.pairs.left[rows], data.pairs.right[rows]]))
    found = part_of(data, rows, np.random.default_rng(1).permutation(used))
    groupings = {}
    for id, grouping in found.groupings.items():
        levels = ("never met", *reversed(grouping.levels))
        codes = np.where(grouping.codes < 0, UNKNOWN, len(grouping.levels) - grouping.codes)
        groupings[id] = Grouping(id, levels, codes.astype(np.int16))
    return replace(found, groupings=groupings)
