"""The facts about a set: plain numbers, without a judgement on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.names import ALL, FPR_LEVELS, POOLED
from fairfr.core.types import F64, I16, I32, I64, UNKNOWN, Bool, Grouping, VerificationSet
from fairfr.data.files import DataFile
from fairfr.data.neutral_layout import STRUCTURE, attribute_columns
from fairfr.data.text_table import read_table
from fairfr.pairs.overlap import folds_per_value, pair_keys, unique_per_fold
from fairfr.pairs.vectors import invalid_cosines, pair_cosines

STORED_COSINE_TOLERANCE = 0.01  # a cosine stored with two decimals is off by half of this
SAME_PICTURE_COSINE = 0.95  # no model sees two people as this close, unless it sees one picture twice


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is; ``pairs_left_out`` are rows of the pairs file without vectors."""

    images: int
    images_without_identity: int
    identities: int
    pairs: int
    same: int
    different: int
    folds: int
    pairs_left_out: int


@dataclass(frozen=True, slots=True)
class Repetitions:
    """What occurs more than once: images and identities in several folds, and pairs, whichever way round."""

    images_between_folds: int
    identities_between_folds: int
    repeated_pairs: int
    repeated_pairs_between_folds: int


@dataclass(frozen=True, slots=True)
class GroupingFacts:
    """One grouping: mixed pairs have two known groups, ``pairs_without_group`` at least one unknown."""

    grouping: str
    used_by_methods: bool
    groups: tuple[str, ...]
    images: tuple[int, ...]
    images_without_group: int
    mixed_pairs: int
    mixed_same: int
    pairs_without_group: int


@dataclass(frozen=True, slots=True)
class FoldGroup:
    """The pairs inside one group (or ``all``) of one fold (or ``pooled``).

    ``false_matches`` is how many of the different pairs a false positive rate corresponds to; ``enough`` is whether
    metrics have a value here at all.
    """

    fold: str
    grouping: str
    group: str
    same: int
    different: int
    enough: bool
    false_matches: dict[str, float]


@dataclass(frozen=True, slots=True)
class CosineFacts:
    """The cosines of the set."""

    mean_same: float
    mean_different: float
    different_above_095: int


@dataclass(frozen=True, slots=True)
class StoredCosine:
    """A column of the pairs file that could be cosines, against those of the vectors."""

    column: str
    largest_difference: float
    mean_difference: float
    differing_pairs: int
    correlation: float | None


@dataclass(frozen=True, slots=True)
class Facts:
    """All that ``check`` says about a set."""

    counts: Counts
    shared: Repetitions
    groupings: tuple[GroupingFacts, ...]
    fold_groups: tuple[FoldGroup, ...]
    cosine: CosineFacts | None
    stored_cosines: tuple[StoredCosine, ...]


def collect_facts(data: VerificationSet, pairs: DataFile, min_pairs: int) -> Facts:
    """The facts about a set.

    Parameters
    ----------
    data : VerificationSet
        p pairs of n images; with vectors, with cosines, or with neither.
    pairs : DataFile
        The file that its pairs come from, whose other columns may be cosines too.
    min_pairs : int
        How many pairs a group needs to be measured.
    """
    table = read_table(pairs, {"fold"})
    cosine = data.cosine
    cosine_facts: CosineFacts | None = None
    stored: tuple[StoredCosine, ...] = ()
    if data.embeddings is not None:
        cosine = pair_cosines(data.embeddings.vectors, data.pairs)
        known = {*STRUCTURE, *attribute_columns(data.groupings)}
        others = [name for name in table.names if name not in known]
        stored = tuple(_stored(pairs, others, cosine, data.row))
    if cosine is not None:
        cosine_facts = _cosine(cosine, data.same)
    return Facts(
        _counts(data, table.n_rows),
        _shared(data),
        tuple(_grouping(data, grouping) for grouping in data.groupings.values()),
        tuple(_fold_groups(data, min_pairs)),
        cosine_facts,
        stored,
    )


def _counts(data: VerificationSet, n_rows: int) -> Counts:
    known = data.identity[data.identity != UNKNOWN]
    same = int(np.count_nonzero(data.same))
    return Counts(
        images=len(data.images),
        images_without_identity=len(data.identity) - len(known),
        identities=len(np.unique(known)),
        pairs=data.n_pairs,
        same=same,
        different=data.n_pairs - same,
        folds=len(data.fold_labels),
        pairs_left_out=n_rows - data.n_pairs,
    )


def _shared(data: VerificationSet) -> Repetitions:
    left = data.pairs.left
    right = data.pairs.right
    key = pair_keys(left, right, len(data.images))
    n_different = len(np.unique(key))
    in_folds = unique_per_fold(key, data.fold)
    return Repetitions(
        images_between_folds=_in_several(left, right, data.fold),
        identities_between_folds=_in_several(data.identity[left], data.identity[right], data.fold),
        repeated_pairs=data.n_pairs - n_different,
        repeated_pairs_between_folds=len(in_folds) - n_different,
    )


def _in_several(left: I32, right: I32, fold: I16) -> int:
    """How many of the known values of two columns (p,) occur in more than one fold."""
    return int(np.count_nonzero(folds_per_value(left, right, fold) > 1))


def _grouping(data: VerificationSet, grouping: Grouping) -> GroupingFacts:
    left = grouping.codes[data.pairs.left]
    right = grouping.codes[data.pairs.right]
    known = (left != UNKNOWN) & (right != UNKNOWN)
    mixed = known & (left != right)
    images = np.bincount(grouping.codes[grouping.codes != UNKNOWN], minlength=len(grouping.levels))
    return GroupingFacts(
        grouping=grouping.id,
        used_by_methods=grouping.id == data.grouping,
        groups=grouping.levels,
        images=tuple(images.tolist()),
        images_without_group=int(np.count_nonzero(grouping.codes == UNKNOWN)),
        mixed_pairs=int(np.count_nonzero(mixed)),
        mixed_same=int(np.count_nonzero(mixed & data.same)),
        pairs_without_group=int(np.count_nonzero(~known)),
    )


def _fold_groups(data: VerificationSet, min_pairs: int) -> Iterator[FoldGroup]:
    """Every fold and all together, for all pairs and then each group of each grouping (both images in it)."""
    yield from _cells_of(data, ALL, (ALL,), np.zeros(data.n_pairs, dtype=np.int16), 1)
    for grouping in data.groupings.values():
        yield from _cells_of(data, grouping.id, grouping.levels, grouping.of(data.pairs, "both"), min_pairs)


def _cells_of(
    data: VerificationSet, grouping: str, levels: tuple[str, ...], group: I16, min_pairs: int
) -> Iterator[FoldGroup]:
    n_folds = len(data.fold_labels)
    count = np.zeros((2, len(levels), n_folds), dtype=np.int64)
    for kind, chosen in enumerate((data.same, ~data.same)):
        inside = chosen & (group != UNKNOWN)
        flat = group[inside].astype(np.int64) * n_folds + data.fold[inside]
        count[kind] = np.bincount(flat, minlength=count[kind].size).reshape(count[kind].shape)
    with_pooled = np.concatenate([count, count.sum(axis=2, keepdims=True)], axis=2)
    for level, name in enumerate(levels):
        for fold, label in enumerate((*data.fold_labels, POOLED)):
            same, different = (int(number) for number in with_pooled[:, level, fold])
            enough = same > 0 and different > 0 and same + different >= min_pairs
            matches = {text: round(alpha * different, 3) for text, alpha in FPR_LEVELS.items()}
            yield FoldGroup(label, grouping, name, same, different, enough, matches)


def _cosine(cosine: F64, same: Bool) -> CosineFacts:
    return CosineFacts(
        mean_same=float(cosine[same].mean()),
        mean_different=float(cosine[~same].mean()),
        different_above_095=int(np.count_nonzero(cosine[~same] > SAME_PICTURE_COSINE)),
    )


def _stored(file: DataFile, names: list[str], cosine: F64, row: I64 | None) -> Iterator[StoredCosine]:
    if not names:
        return
    table = read_table(file, set(names))
    for name in names:
        try:
            values = table.numbers(name)
        except DataError:  # words: no cosines
            continue
        if invalid_cosines(values).any() or (values == np.round(values)).all():  # whole numbers are labels or counts
            continue
        if row is not None:
            values = values[row]
        difference = np.abs(values - cosine)
        correlation: float | None = None
        if len(values) > 1 and values.std() > 0 and cosine.std() > 0:
            correlation = float(np.corrcoef(values, cosine)[0, 1])
        yield StoredCosine(
            column=name,
            largest_difference=float(difference.max()),
            mean_difference=float(difference.mean()),
            differing_pairs=int(np.count_nonzero(difference > STORED_COSINE_TOLERANCE)),
            correlation=correlation,
        )
