"""Folds for pairs that have none, without common people as far as it is known who is on the images."""

from __future__ import annotations

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.types import I32, I64, UNKNOWN, Bool
from fairfr.data.text_table import CodedColumn
from fairfr.pairs.deal import deal, linked_units
from fairfr.pairs.overlap import infer_identities


def folds_of_rows(same: Bool, count: int) -> tuple[CodedColumn, Finding]:
    """Folds (p,) for pairs whose images have no ids: each gets its share of both classes."""
    order = np.random.default_rng(0).permutation(len(same))
    by_class = order[np.argsort(same[order], kind="stable")]
    fold = np.empty(len(same), dtype=np.int32)
    fold[by_class] = np.arange(len(same)) % count
    text = "It is not known who is on the images, so the same people may be in several of the new folds."
    return _column(fold, count), Finding("folds-of-rows", "warning", text)


def folds_of_people(identity: I32, left: I32, right: I32, same: Bool, count: int) -> tuple[CodedColumn, Finding]:
    """Folds (p,) for pairs of images ``left``, ``right`` (p,) of people ``identity`` (n,), -1 = unknown."""
    people = infer_identities(identity, left[same], right[same])
    unit, n_cut = linked_units(people[left], people[right], count)
    n_units = int(unit.max()) + 1
    if n_units < count:
        raise DataError(
            f"{len(same):,} pairs of so few people cannot be dealt to {count} folds. Use --folds {n_units}."
        )
    fold = deal(unit, same.astype(np.int64), count)[_first_of_its_kind(left, right)]
    known = "" if np.all(identity != UNKNOWN) else _UNKNOWN
    if n_cut:
        text = (
            "Pairs link so many people that the new folds cannot be without common people. "
            f"protocol=identity_disjoint leaves out the training pairs that share people with a tested fold.{known}"
        )
        return _column(fold, count), Finding("folds-share-people", "warning", text)
    return _column(fold, count), Finding(
        "folds-without-common-people", "note", f"No two new folds share people.{known}"
    )


def _first_of_its_kind(left: I32, right: I32) -> I64:
    """The first row with the same two images, (p,): a pair that comes twice is tested in one fold."""
    ends = np.sort(np.column_stack([left, right]), axis=1)
    _, first, kind = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    rows: I64 = first[kind.ravel()]
    return rows


_UNKNOWN = " Some images have no identity: those that genuine pairs connect count as one person."


def _column(fold: np.typing.NDArray[np.integer], count: int) -> CodedColumn:
    return CodedColumn(fold.astype(np.int32), tuple(map(str, range(count))))
