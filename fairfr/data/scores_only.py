"""Read a scores-only set: pairs with a column of cosines, as a vendor's matcher or a published table gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fairfr.core import names
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.types import F64, I32, UNKNOWN, Bool, RowIds, VerificationSet
from fairfr.data.files import DataFile
from fairfr.data.images_file import ImageTable, check_attribute_names, one_value_each, read_attribute, read_images
from fairfr.data.neutral import SetSpec, assemble, only_used
from fairfr.data.pairs_file import label_pairs, look_up, position
from fairfr.data.tables import CodedColumn, Table, read_table
from fairfr.data.validation import check_pairs

STRUCTURE = ("fold", "left", "right", "same")
TOLERANCE = 1e-6  # cosines computed in float32 overshoot 1 by rounding


def load_scores(spec: SetSpec, pairs: DataFile, images: DataFile | None) -> VerificationSet:
    """A set without vectors.

    Parameters
    ----------
    spec : SetSpec
        What the set is called, how it is grouped, and which column holds the cosines.
    pairs : DataFile
        The table of pairs.
    images : DataFile or None
        Attributes come from here by image id, if the pairs have ids; else from columns of ``pairs``.

    Returns
    -------
    VerificationSet
        p pairs with their ``cosine`` (p,); without ids each pair has two images of its own.
    """
    column, attributes = spec.backbone.column, spec.dataset.grouping
    assert column is not None
    check_column(column, attributes)
    check_attribute_names(pairs.path, attributes)
    table = read_table(pairs, {*STRUCTURE, column, *attribute_columns(attributes)})
    table.require("fold", "same")
    table.require(column, remedy="Set backbone.column to the column that holds the cosines.")
    cosine = _read_cosine(table, column)
    with_ids = _has_ids(table)
    if with_ids and images is not None:
        image_table = read_images(images, attributes)
        left, right = (look_up(table, side, image_table.ids, str(images.path)) for side in ("left", "right"))
    else:
        ids, left, right = _images_of(table, with_ids)
        image_table = _describe(table, attributes, ids, left, right)
    labelled = label_pairs(table, left, right)
    found = check_pairs(labelled, image_table.ids)
    data = assemble(spec, *only_used(image_table, labelled), cosine, found)
    return replace(data, warnings=(*data.warnings, *_reversed(table, column, cosine, data.same)))


def attribute_columns(attributes: Iterable[str]) -> set[str]:
    """What the attributes may be called in a pairs file: ``gender``, or ``gender_left`` and ``gender_right``."""
    return {f"{name}{side}" for name in attributes for side in ("", *names.SIDES)}


def no_cosine(values: F64) -> Bool:
    """Which of the numbers (p,) cannot be cosines; nan is none either."""
    wrong: Bool = ~(np.abs(values) <= 1 + TOLERANCE)
    return wrong


def check_column(column: str, attributes: tuple[str, ...]) -> None:
    """ConfigError if the column of cosines has another meaning already: the labels would pass for perfect scores."""
    if column in STRUCTURE or column in attribute_columns(attributes):
        raise ConfigError(f"backbone.column={column} is not a score. Name the column that holds the cosines.")


def _has_ids(table: Table) -> bool:
    sides = [side for side in ("left", "right") if side in table.names]
    if len(sides) == 1:
        raise DataError(f"{table.path} has column '{sides[0]}' alone. Give both left and right, or neither.")
    return len(sides) == 2


def _read_cosine(table: Table, column: str) -> F64:
    cosine = table.numbers(column)
    wrong = no_cosine(cosine)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{table.path}, {table.where(row)}: '{column}' is {cosine[row]:g}, but a cosine lies within -1..1. "
            "Convert the scores to cosines (e.g. divide percentages by 100), or remove rows without a score."
        )
    return np.clip(cosine, -1.0, 1.0)


def _reversed(table: Table, column: str, cosine: F64, same: Bool) -> list[Finding]:
    if cosine[same].mean() >= cosine[~same].mean():
        return []
    text = (
        f"{table.path}: on average '{column}' is lower for pairs of one person than for others. "
        "Cosines grow with likeness; is this a distance?"
    )
    return [Finding("reversed-scores", "serious", text)]


def _images_of(table: Table, with_ids: bool) -> tuple[tuple[str, ...] | RowIds, I32, I32]:
    """Image ids, and the two images of each row: by its ids, or two of its own."""
    if not with_ids:
        left = np.arange(0, 2 * table.n_rows, 2, dtype=np.int32)
        return RowIds(table.n_rows), left, left + np.int32(1)
    joined, left, right = _joined(table.filled("left"), table.filled("right"))
    return joined, left, right


def _joined(left: CodedColumn, right: CodedColumn) -> tuple[tuple[str, ...], I32, I32]:
    """Two columns over one list of values: that list, and the codes of each."""
    values = tuple(dict.fromkeys((*left.values, *right.values)))
    # one more entry at the end, so that code -1 (blank) stays -1
    number = np.append(position(right.values, values), np.int32(UNKNOWN))
    return values, left.codes, number[right.codes]


def _describe(
    table: Table, attributes: tuple[str, ...], ids: tuple[str, ...] | RowIds, left: I32, right: I32
) -> ImageTable:
    found = {name: _attribute(table, name, ids, np.concatenate([left, right])) for name in attributes}
    return ImageTable(table.path, ids, np.full(len(ids), UNKNOWN, dtype=np.int32), found)


def _attribute(table: Table, name: str, ids: Sequence[str], ends: I32) -> CodedColumn:
    """An attribute of each image, from what the rows say of their left, then their right images (``ends``, 2p)."""
    values, left, right = _joined(*_two_columns(table, name))
    if isinstance(ids, RowIds):  # each image is mentioned once, left and right in turn
        return CodedColumn(np.column_stack([left, right]).ravel(), values)
    said = np.concatenate([left, right])
    codes, contradicts = one_value_each(len(ids), ends, said)
    if contradicts.any():
        image = ends[int(np.argmax(contradicts))]
        rows = np.flatnonzero((ends == image) & (said != UNKNOWN)) % table.n_rows
        found = sorted({values[code] for code in said[(ends == image) & (said != UNKNOWN)].tolist()})
        raise DataError(
            f"{table.path}, {table.where(int(rows.min()))}: image '{ids[image]}' has several values of {name} "
            f"({', '.join(found)}; again in {table.where(int(rows.max()))}). An attribute belongs to an image: "
            f"give mixed pairs {name}_left and {name}_right."
        )
    return CodedColumn(codes, values)


def _two_columns(table: Table, name: str) -> tuple[CodedColumn, CodedColumn]:
    sides = (f"{name}_left", f"{name}_right")
    if sides[0] in table.names or sides[1] in table.names:
        if name in table.names:
            raise DataError(f"{table.path} has both '{name}' and '{name}_left/_right'. Keep one or the other.")
        return read_attribute(table, sides[0]), read_attribute(table, sides[1])
    column = read_attribute(table, name)
    return column, column
