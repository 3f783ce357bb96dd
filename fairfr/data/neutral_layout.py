"""Read a set from the neutral layout: images, pairs and one backbone's vectors, or pairs with a column of cosines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fairfr.core import names
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.text import plural
from fairfr.core.types import (
    F64,
    I32,
    I64,
    UNKNOWN,
    EmbeddingSet,
    Grouping,
    Pairs,
    PlaceholderIds,
    StrArray,
    VerificationSet,
    read_only,
)
from fairfr.data.embeddings_file import RawVectors, read_vectors
from fairfr.data.files import DataFile
from fairfr.data.images_file import (
    ImageTable,
    build_groupings,
    check_attribute_names,
    group_columns,
    read_attribute,
    read_images,
    resolve_mentions,
)
from fairfr.data.pairs_file import LabelledPairs, fold_codes, image_rows, index_of, label_pairs
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.data.text_table import CodedColumn, TextTable, read_table
from fairfr.data.validation import (
    check_folds,
    check_pairs,
    group_findings,
    identity_findings,
    levels_for_unknown,
    reversed_scores,
    similar_value_findings,
    without_groups,
)
from fairfr.pairs.vectors import COSINE_RANGE, invalid_cosines, unit_rows


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """What a set is called and which bytes it comes from."""

    dataset: DatasetSettings
    backbone: BackboneSettings
    digest: str


def load_neutral(spec: DatasetSpec, images: DataFile, pairs: DataFile, embeddings: DataFile) -> VerificationSet:
    """A full set: every pair refers to an image that is described and has a vector.

    Parameters
    ----------
    spec : DatasetSpec
        What the set is called, and how it is grouped.
    images, pairs, embeddings : DataFile
        Tables (csv or parquet) of images and pairs, and an npz with ``image`` (m,) and ``vectors`` (m, d).

    Returns
    -------
    VerificationSet
        The p pairs, over the n images that occur in one, with unit vectors (n, d); oddities are its ``warnings``.

    Raises
    ------
    DataError
        A file is malformed or contradicts itself or another; the message names file, row and remedy.
    """
    image_table = read_images(images, spec.dataset.grouping)
    labelled = read_pairs(pairs, image_table)
    found = check_pairs(labelled, image_table.ids)
    raw = read_vectors(embeddings)
    labelled, dropped = _with_vectors(labelled, image_table, raw, spec.dataset.missing)
    image_table, labelled = drop_unused_images(image_table, labelled)
    rows = index_of(image_table.ids, raw.images).astype(np.int64)
    ids = np.asarray(image_table.id_array())
    vectors = EmbeddingSet(spec.backbone.id, embeddings.digest, ids, unit_rows(raw.vectors, rows))
    return build_set(spec, image_table, labelled, vectors, found + dropped + _unused(raw, rows))


def read_pairs(file: DataFile, images: ImageTable) -> LabelledPairs:
    """The pairs file over the images of ``images``."""
    table = read_table(file, {"fold", "left", "right", "same"})
    table.require("left", "right", "same")
    left, right = (image_rows(table, side, images.ids, str(images.path)) for side in ("left", "right"))
    return label_pairs(table, left, right)


def drop_unused_images(images: ImageTable, pairs: LabelledPairs) -> tuple[ImageTable, LabelledPairs]:
    """The images that occur in a pair, and the pairs over these."""
    used = pairs.used(len(images.ids))
    return images.keep(used), pairs.renumbered(used)


def build_set(
    spec: DatasetSpec, images: ImageTable, pairs: LabelledPairs, content: EmbeddingSet | F64, found: list[Finding]
) -> VerificationSet:
    """Check folds and groups and put the set together.

    Parameters
    ----------
    spec : DatasetSpec
        What the set is called, and how it is grouped.
    images, pairs : ImageTable, LabelledPairs
        n images that occur in a pair, and p pairs of them.
    content : EmbeddingSet or (p,)
        Vectors of these images in this order, or the cosines of the pairs if there are none.
    found : list of Finding
        What reading them has found already.
    """
    fold, labels = fold_codes(pairs)
    groupings, grouping = build_groupings(images, spec.dataset.grouping)
    both = Pairs(read_only(pairs.left), read_only(pairs.right))
    findings = list(found)
    findings += check_folds(pairs, fold, labels)
    findings += identity_findings(pairs, images.identity, fold)
    findings += similar_value_findings(pairs.table.path, "folds", labels)
    findings += _level_findings(images.path, [groupings[name] for name in spec.dataset.grouping])
    findings += without_groups(spec.dataset.id, images)
    findings += group_findings(both, pairs.same, groupings.values(), spec.dataset.min_pairs)
    embeddings: EmbeddingSet | None = None
    cosine: F64 | None = None
    if isinstance(content, EmbeddingSet):
        embeddings = content
        ids: StrArray | PlaceholderIds = content.images
    else:
        read_only(content)
        cosine = content
        ids = images.id_array()
    return VerificationSet(
        id=spec.dataset.id,
        source="files",
        backbone=spec.backbone.id,
        digest=spec.digest,
        images=ids,
        identity=read_only(images.identity),
        pairs=both,
        same=read_only(pairs.same),
        fold=read_only(fold),
        fold_labels=labels,
        groupings=groupings,
        grouping=grouping,
        embeddings=embeddings,
        cosine=cosine,
        row=read_only(pairs.rows),
        warnings=tuple(findings),
        people=images.people,
        group_columns=images.group_columns,
    )


def _level_findings(path: Path, attributes: Sequence[Grouping]) -> list[Finding]:
    """Levels that differ only in spelling, then levels whose names say that the group is not known."""
    findings: list[Finding] = []
    for attribute in attributes:
        findings += similar_value_findings(path, f"values of {attribute.id}", attribute.levels)
    for attribute in attributes:
        findings += levels_for_unknown(path, attribute.id, attribute.levels)
    return findings


def _with_vectors(
    pairs: LabelledPairs, images: ImageTable, raw: RawVectors, missing: str
) -> tuple[LabelledPairs, list[Finding]]:
    """The pairs whose images both have a vector; all of them, unless the user chose to drop the others."""
    used = pairs.used(len(images.ids))
    absent = used & (index_of(images.ids, raw.images) == UNKNOWN)
    if not absent.any():
        return pairs, []
    lost = absent[pairs.left] | absent[pairs.right]
    n_absent, n_used, n_lost = (int(np.count_nonzero(marks)) for marks in (absent, used, lost))
    what = (
        f"{raw.file.path} has no vector for {n_absent:,} of {plural(n_used, 'image')} "
        f"(first: {images.ids[int(np.argmax(absent))]})"
    )
    if n_lost == len(pairs):
        raise DataError(
            f"{what}, so no pair is left. Its own ids look like '{raw.images[0]}': "
            f"import the vectors again with the ids of {images.path}.",
            code="missing-vectors",
        )
    if missing == "stop":
        verb = "uses" if n_lost == 1 else "use"
        raise DataError(
            f"{what}.\n  Import them again, or set dataset.missing=drop to leave out the "
            f"{plural(n_lost, 'pair')} that {verb} them.",
            code="missing-vectors",
        )
    share = f"{n_lost:,} of {plural(len(pairs), 'pair')}"
    text = f"{what}; dataset.missing=drop left out the {share} that use them."
    counts = {"images": n_absent, "of": n_used, "pairs_left_out": n_lost}
    return pairs.keep(~lost), [Finding("missing-vectors", "serious", text, counts)]


def _unused(raw: RawVectors, rows: I64) -> list[Finding]:
    count = len(raw.images) - len(rows)
    if not count:
        return []
    total = plural(len(raw.images), "vector")
    text = f"{raw.file.path}: {count:,} of {total} belong to images that no pair uses; they are left out."
    return [Finding("unused-vectors", "note", text, {"vectors": count, "of": len(raw.images)})]


STRUCTURE = ("fold", "left", "right", "same")


def load_scores(spec: DatasetSpec, pairs: DataFile, images: DataFile | None) -> VerificationSet:
    """A set without vectors.

    Parameters
    ----------
    spec : DatasetSpec
        What the set is called, how it is grouped, and which column has the cosines.
    pairs : DataFile
        The table of pairs.
    images : DataFile or None
        Attributes come from here by image id, if the pairs have ids; else from columns of ``pairs``.

    Returns
    -------
    VerificationSet
        p pairs with their ``cosine`` (p,); without ids each pair has two images of its own.
    """
    column = spec.backbone.column
    attributes = spec.dataset.grouping
    assert column is not None
    check_column(column, attributes)
    check_attribute_names(pairs.path, attributes)
    table = read_table(pairs, {*STRUCTURE, column, *attribute_columns(attributes)})
    table.require("same")
    table.require(column, remedy="Set backbone.column to the column with the cosines.")
    cosine = _read_cosine(table, column)
    with_ids = _has_ids(table)
    if with_ids and images is not None:
        image_table = read_images(images, attributes)
        left, right = (image_rows(table, side, image_table.ids, str(images.path)) for side in ("left", "right"))
    else:
        ids, left, right = _images_of(table, with_ids)
        image_table = _describe(table, attributes, ids, left, right)
    labelled = label_pairs(table, left, right)
    found = check_pairs(labelled, image_table.ids)
    data = build_set(spec, *drop_unused_images(image_table, labelled), cosine, found)
    return replace(
        data, warnings=(*data.warnings, *reversed_scores(table.path, column, cosine, data.same, len(data.images)))
    )


def attribute_columns(attributes: Iterable[str]) -> set[str]:
    """What the attributes may be called in a pairs file: ``gender``, or ``gender_left`` and ``gender_right``."""
    columns: set[str] = set()
    for name in attributes:
        columns.add(name)
        columns.update(f"{name}{side}" for side in names.SIDES)
    return columns


def check_column(column: str, attributes: tuple[str, ...]) -> None:
    """ConfigError if the column of cosines has another meaning already: the labels would pass for perfect scores."""
    if column in STRUCTURE or column in attribute_columns(attributes):
        raise ConfigError(f"backbone.column={column} is not a score. Name the column with the cosines.")


def _has_ids(table: TextTable) -> bool:
    sides = [side for side in ("left", "right") if side in table.names]
    if len(sides) == 1:
        raise DataError(
            f"{table.path} has column '{sides[0]}' alone. Give both left and right, or neither.", code="missing-column"
        )
    return len(sides) == 2


def _read_cosine(table: TextTable, column: str) -> F64:
    cosine = table.numbers(column)
    wrong = invalid_cosines(cosine)
    if wrong.any():
        row = int(np.argmax(wrong))
        where = f"{table.path}, {table.location(row)}: '{column}' is {cosine[row]:g}"
        if not np.isfinite(cosine[row]):
            raise DataError(
                f"{where}, which is no score. Remove the rows for which the matcher gave none.", code="not-a-number"
            )
        raise DataError(
            f"{where}, but a cosine lies within -1..1. Scores on another scale become cosines with fairfr import table "
            "--score COL --score-range LOW HIGH.",
            code="not-a-cosine",
        )
    return np.clip(cosine, *COSINE_RANGE)


def _images_of(table: TextTable, with_ids: bool) -> tuple[tuple[str, ...] | PlaceholderIds, I32, I32]:
    """Image ids, and the two images of each row: by its ids, or two of its own."""
    if not with_ids:
        left = np.arange(0, 2 * table.n_rows, 2, dtype=np.int32)
        return PlaceholderIds(table.n_rows), left, left + np.int32(1)
    joined, left, right = _joined(table.required_text("left"), table.required_text("right"))
    return joined, left, right


def _joined(left: CodedColumn, right: CodedColumn) -> tuple[tuple[str, ...], I32, I32]:
    """Two columns over one list of values: that list, and the codes of each."""
    values = tuple(dict.fromkeys((*left.values, *right.values)))
    # one more entry at the end, so that code -1 (blank) stays -1
    number = np.append(index_of(right.values, values), np.int32(UNKNOWN))
    return values, left.codes, number[right.codes]


def _describe(
    table: TextTable, attributes: tuple[str, ...], ids: tuple[str, ...] | PlaceholderIds, left: I32, right: I32
) -> ImageTable:
    found = {name: _attribute(table, name, ids, np.concatenate([left, right])) for name in attributes}
    identity = np.full(len(ids), UNKNOWN, dtype=np.int32)
    others = [name for name in table.names if name not in table.arrays]  # neither structure nor the score
    possible: dict[str, int] = {}
    if not attributes:
        possible = group_columns(table.file, others)
    return ImageTable(table.path, ids, identity, found, group_columns=possible)


def _attribute(table: TextTable, name: str, ids: Sequence[str], ends: I32) -> CodedColumn:
    """An attribute of each image, from what the rows say of their left, then their right images (``ends``, 2p)."""
    values, left, right = _joined(*_two_columns(table, name))
    if isinstance(ids, PlaceholderIds):  # each image is mentioned once, left and right in turn
        return CodedColumn(np.column_stack([left, right]).ravel(), values)
    said = np.concatenate([left, right])
    codes, contradicts = resolve_mentions(len(ids), ends, said)
    if contradicts.any():
        image = ends[int(np.argmax(contradicts))]
        rows = np.flatnonzero((ends == image) & (said != UNKNOWN)) % table.n_rows
        found = sorted({values[code] for code in said[(ends == image) & (said != UNKNOWN)].tolist()})
        raise DataError(
            f"{table.path}, {table.location(int(rows.min()))}: image '{ids[image]}' has several values of {name} "
            f"({', '.join(found)}; again in {table.location(int(rows.max()))}). An attribute belongs to an image: "
            f"give mixed pairs {name}_left and {name}_right.",
            code="contradiction",
        )
    return CodedColumn(codes, values)


def _two_columns(table: TextTable, name: str) -> tuple[CodedColumn, CodedColumn]:
    sides = (f"{name}_left", f"{name}_right")
    if sides[0] in table.names or sides[1] in table.names:
        if name in table.names:
            raise DataError(
                f"{table.path} has both '{name}' and '{name}_left/_right'. Keep one or the other.", code="column-twice"
            )
        return read_attribute(table, sides[0]), read_attribute(table, sides[1])
    column = read_attribute(table, name)
    return column, column
