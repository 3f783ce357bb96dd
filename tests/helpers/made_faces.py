"""Images of made-up people, with labelled pairs of them, as arrays in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Faces:
    """``who`` is on each image, and in which ``group``, (n,); ``pairs`` are row numbers, (p, 2)."""

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
