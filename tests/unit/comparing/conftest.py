"""Made-up people in blocks, whose impostor pairs stay inside a block: folds without common people are possible."""

from __future__ import annotations

import numpy as np
import pytest
from made_faces import Faces


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
