"""The published folds: leave one out, fit on the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairfr.core.types import I16, I64, FoldSplit, VerificationSet


@dataclass(frozen=True, slots=True)
class LeaveOneFoldOut:
    """One split for each fold of the pairs file, in the file's order."""

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        for code, label in enumerate(data.fold_labels):
            yield FoldSplit(label, partial(_all_but, data.fold, code), np.flatnonzero(data.fold == code))


def _all_but(fold: I16, code: int) -> I64:
    return np.flatnonzero(fold != code)
