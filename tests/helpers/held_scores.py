"""Held-out scores of pairs, without a run folder."""

from __future__ import annotations

from typing import Any

import numpy as np
from made_runs import run_of

from fairfr.stored.scores import RunScores


class Held:
    """Held-out scores without a file: what ``find_threshold`` reads of a run. Each image shows a person of its own."""

    people = RunScores.people
    people_of = RunScores.people_of

    def __init__(self, same: Any, probability: Any, images: Any, group: Any = None, known: bool = True) -> None:
        self.same, self.probability, self.score = np.asarray(same), np.asarray(probability), np.asarray(probability)
        self.images = tuple(np.asarray(side) for side in images)
        self.identities = self.images if known else None
        self.levels = ("a", "b") if group is not None else ()
        self._group = np.full(len(self.same), -1) if group is None else np.asarray(group)
        label = {"label": "x"}
        self.run = run_of({"dataset": label, "backbone": label, "method": label, "data": {"folds": ["1", "2"]}})

    def pair_groups(self, reading: str) -> Any:
        return self._group


def strangers(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pair shows people who are in no other pair."""
    return np.arange(n), n + np.arange(n)
