"""Folds that share no image: pairs with an image in common, or with copies of one, lie in one fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairfr.core.types import FoldSplit, VerificationSet
from fairfr.folds._disjoint import disjoint_splits
from fairfr.folds._people import distinct_images


@dataclass(frozen=True, slots=True)
class EndpointDisjoint:
    """Images are the same if their vectors are but for rounding, whatever they are called. People may be on both sides.

    ``folds``: how many; None: as many as published.
    """

    folds: int | None = None

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        yield from disjoint_splits(data, distinct_images(data), self.folds, "images")
