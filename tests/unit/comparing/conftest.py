"""Made-up people in blocks, whose impostor pairs stay inside a block: folds without common people are possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        return self.embeddings, self.pairs, self.same

    @property
    def known(self) -> dict[str, Any]:
        return {"groups": {"gender": self.group}, "identities": self.who}


@pytest.fixture(scope="session")
def faces() -> Faces:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(80), 5)
    n = len(who)
    embeddings = rng.standard_normal((80, 12))[who] + 0.9 * rng.standard_normal((n, 12))
    every = np.array([(i, j) for i in range(n) for j in range(i)])
    near = every[who[every[:, 0]] // 8 == who[every[:, 1]] // 8]
    same = who[near[:, 0]] == who[near[:, 1]]
    kept = rng.permutation(np.flatnonzero(same | (rng.random(len(near)) < 0.5)))
    return Faces(embeddings, near[kept], same[kept], who, np.array(["f", "m"])[who % 2])
