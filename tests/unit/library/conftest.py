"""Faces of 60 made-up people, five images each, in three groups; and a small model with new data for it, as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_faces import Faces

import fairfr


@pytest.fixture(scope="session")
def faces() -> Faces:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 5)
    embeddings = rng.standard_normal((60, 16))[who] + 0.8 * rng.standard_normal((300, 16))
    # each pair once: 400 of the 600 inside people, and 400 across
    inside = np.array([(i, j) for i in range(300) for j in range(i) if who[i] == who[j]])
    across = np.array([(i, j) for i in range(300) for j in range(i) if who[i] != who[j]])
    inside, across = (rng.permutation(each)[:400] for each in (inside, across))
    pairs = np.concatenate([inside, across])
    return Faces(embeddings, pairs, who[pairs[:, 0]] == who[pairs[:, 1]], who, np.array(["a", "b", "c"])[who % 3])


N, D, P = 60, 8, 500


class Scene:
    """``model.fairfr`` and ``new.npz``, ``new.csv`` in one folder, with the same things in memory."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(3)
        people = np.arange(N) // 2
        self.folder = folder
        self.vectors = (rng.normal(size=(N // 2, D))[people] + 0.8 * rng.normal(size=(N, D))).astype(np.float32)
        self.ids = np.array([f"image-{i}.jpg" for i in range(N)])
        pairs = np.array([(i, j) for i in range(N) for j in range(i)])
        same = people[pairs[:, 0]] == people[pairs[:, 1]]
        kept = same | (rng.random(len(pairs)) < 0.2)
        self.training = pairs[kept], same[kept]
        self.model = fairfr.ACLinear().fit(self.vectors, *self.training)
        self.pairs = rng.integers(0, N, (P, 2))
        self.model.save(folder / "model.fairfr")
        np.savez(folder / "new.npz", image=self.ids, vectors=self.vectors)
        self.table().to_csv(folder / "new.csv", index=False)

    def table(self) -> pd.DataFrame:
        return pd.DataFrame({"left": self.ids[self.pairs[:, 0]], "right": self.ids[self.pairs[:, 1]], "note": "a, b"})

    def __truediv__(self, name: str) -> Path:
        return self.folder / name


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)
