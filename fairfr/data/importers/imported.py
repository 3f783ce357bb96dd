"""A data set that was read from foreign files: images, pairs and scores, checked as strictly as the loader will."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairfr.core.findings import Finding
from fairfr.core.overlap import n_folds_of, pair_keys
from fairfr.core.types import F64, I32, UNKNOWN
from fairfr.core.wording import counted, first_few, spaced
from fairfr.data.images_file import ImageTable
from fairfr.data.pairs_file import LabelledPairs, number_folds, position
from fairfr.data.tables import CodedColumn
from fairfr.data.validation import check_folds, check_pairs, identity_oddities, lookalikes

NAMED = 12  # folds named in the summary


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """What will be written: ``people`` are the names that ``images.identity`` indexes, ``scores`` (p,) by column."""

    images: ImageTable
    people: tuple[str, ...]
    pairs: LabelledPairs
    scores: Mapping[str, F64]
    notes: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How much there is of everything; ``mixed`` pairs have images of two known, different groups."""

    images: int
    identities: int
    pairs: int
    folds: tuple[str, ...]
    genuine: int
    mixed: Mapping[str, int]
    unknown: Mapping[str, int]
    duplicates: int
    shared_identities: int


def recode(column: CodedColumn, meaning: Callable[[str], str]) -> CodedColumn:
    """The column with each distinct value replaced by its meaning; blank meanings are unknown."""
    meanings = [meaning(value) for value in column.values]
    values = tuple(dict.fromkeys(value for value in meanings if value))
    # one more entry at the end, so that code -1 (blank) stays -1
    number = np.append(position(meanings, values), np.int32(UNKNOWN))
    return CodedColumn(number[column.codes], values)


def column_of(values: Sequence[str]) -> CodedColumn:
    """One value for each image as a column; blank is unknown."""
    distinct = tuple(dict.fromkeys(value for value in values if value))
    return CodedColumn(position(values, distinct), distinct)


def image_codes(left: CodedColumn, right: CodedColumn) -> tuple[tuple[str, ...], I32, I32]:
    """The sorted ids of all images that two columns name, and which of them each row's two images are (p,)."""
    ids = tuple(sorted({*left.values, *right.values}))
    return ids, position(left.values, ids)[left.codes], position(right.values, ids)[right.codes]


def assemble_import(
    path: Path,
    ids: tuple[str, ...],
    identity: Sequence[str],
    attributes: Mapping[str, CodedColumn],
    pairs: LabelledPairs,
) -> ImportedSet:
    """The set, or DataError for what the loader would refuse; oddities become notes."""
    who = column_of(identity)
    images = ImageTable(path, ids, who.codes, attributes, who.values)
    fold, labels = number_folds(pairs)
    notes = [
        *check_pairs(pairs, ids),
        *check_folds(pairs, fold, labels),
        *identity_oddities(pairs, images.identity, fold),
        *lookalikes(pairs.table.path, "folds", labels),
        *(
            alike
            for name, column in attributes.items()
            for alike in lookalikes(path, f"values of {name}", column.values)
        ),
    ]
    return ImportedSet(images, who.values, pairs, {}, tuple(notes))


def count(data: ImportedSet) -> ImportCounts:
    """Count what there is."""
    pairs, images = data.pairs, data.images
    fold, labels = number_folds(pairs)
    n = len(images.ids)
    key = pair_keys(pairs.left, pairs.right, n)
    mixed, unknown = {}, {}
    for name, column in images.attributes.items():
        left, right = column.codes[pairs.left], column.codes[pairs.right]
        mixed[name] = int(np.count_nonzero((left != right) & (left != UNKNOWN) & (right != UNKNOWN)))
        unknown[name] = int(np.count_nonzero(column.codes == UNKNOWN))
    folds_of = n_folds_of(images.identity[pairs.left], images.identity[pairs.right], fold)
    return ImportCounts(
        images=n,
        identities=len(data.people),
        pairs=len(pairs),
        folds=labels,
        genuine=int(np.count_nonzero(pairs.same)),
        mixed=mixed,
        unknown=unknown,
        duplicates=len(key) - len(np.unique(key)),
        shared_identities=int(np.count_nonzero(folds_of > 1)),
    )


def summary(data: ImportedSet) -> str:
    """What was found, for people: the counts, then whatever is odd."""
    found = count(data)
    lines = [
        f"images                {spaced(found.images)}",
        f"identities            {spaced(found.identities)}",
        f"pairs                 {spaced(found.pairs)} ({spaced(found.genuine)} genuine, "
        f"{spaced(found.pairs - found.genuine)} impostor)",
        f"folds                 {len(found.folds)} ({first_few(found.folds, NAMED)})",
        f"duplicate pairs       {spaced(found.duplicates)}",
        f"identities in several folds  {spaced(found.shared_identities)}",
    ]
    for name, column in data.images.attributes.items():
        levels = ", ".join(sorted(column.values))
        lines.append(
            f"{name}: {levels}; {counted(found.mixed[name], 'mixed pair')}, "
            f"{counted(found.unknown[name], 'image')} unknown"
        )
    if data.scores:
        lines.append(f"score columns: {', '.join(data.scores)} (backbone=scores backbone.column=...)")
    return "\n".join([*lines, *(f"note: {note}" for note in data.notes)])
