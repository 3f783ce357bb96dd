"""Faces of 60 made-up people, five images each, in three groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest


@dataclass
class Faces:
    embeddings: np.ndarray
    pairs: np.ndarray
    same: np.ndarray
    who: np.ndarray
    group: np.ndarray

    @property
    def cosine(self) -> np.ndarray:
        unit = self.embeddings / np.linalg.norm(self.embeddings, axis=1, keepdims=True)
        return (unit[self.pairs[:, 0]] * unit[self.pairs[:, 1]]).sum(axis=1)


@pytest.fixture(scope="session")
def faces() -> Faces:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 5)
    embeddings = rng.standard_normal((60, 16))[who] + 0.8 * rng.standard_normal((300, 16))
    genuine = rng.integers(60, size=400)
    inside = genuine[:, None] * 5 + np.array([rng.choice(5, 2, replace=False) for _ in range(400)])
    first = rng.integers(300, size=400)
    across = np.column_stack([first, (first + rng.integers(1, 300, size=400)) % 300])  # never an image with itself
    pairs = np.concatenate([inside, across])
    return Faces(embeddings, pairs, who[pairs[:, 0]] == who[pairs[:, 1]], who, np.array(["a", "b", "c"])[who % 3])
