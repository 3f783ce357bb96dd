"""Folds that share no person: what a method learns of somebody says nothing about whom it is tested on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairfr.core.types import FoldSplit, VerificationSet
from fairfr.folds._disjoint import disjoint_splits
from fairfr.folds._people import people_of


@dataclass(frozen=True, slots=True)
class IdentityDisjoint:
    """Where it is unknown who is on an image, genuine pairs connect images to one person.

    ``folds``: how many; None: as many as published.
    """

    folds: int | None = None

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]:
        yield from disjoint_splits(data, people_of(data), self.folds, "people")
