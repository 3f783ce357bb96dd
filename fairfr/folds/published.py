"""The published folds: leave one out, fit on the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairfr.core.types import FoldSplit, VerificationSet


@dataclass(frozen=True, slots=True)
class LeaveOneFoldOut:
    """One split for each fold of the pairs file, in the file's order."""

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        for code, label in enumerate(data.fold_labels):
            held_out = data.fold == code
            yield FoldSplit(label, np.flatnonzero(~held_out), np.flatnonzero(held_out))
