"""The images of a user's own tables: which ones the pairs use, their identities and attributes."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from fairfr.core import names
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.text import plural, shorten_list
from fairfr.core.types import I32, I64, UNKNOWN, Bool, PlaceholderIds
from fairfr.data.images_file import resolve_mentions
from fairfr.data.importers.bins import cut_column, read_bins
from fairfr.data.importers.imported_set import image_codes
from fairfr.data.importers.own_columns import MAX_NAMED_VALUES, OwnColumns
from fairfr.data.pairs_file import index_of
from fairfr.data.text_table import CodedColumn
from fairfr.pairs.overlap import pair_keys

STRUCTURE = ("fold", "left", "right", "same", "image", "identity")


class Ends:
    """The two images of each pair, by ids or, where there are only scores, two of its own."""

    def __init__(self, pairs: OwnColumns, columns: tuple[str, str], sides: list[CodedColumn] | None) -> None:
        self.columns = columns
        self._pairs = pairs
        self._sides = sides
        n = pairs.table.n_rows
        self.ids: tuple[str, ...] | PlaceholderIds = PlaceholderIds(n)
        self.left: I32 = np.arange(0, 2 * n, 2, dtype=np.int32)
        self.right: I32 = self.left + np.int32(1)
        self._named: Bool = np.zeros(n, dtype=bool)  # rows in which neither id is blank
        if sides is not None and all(side.values for side in sides):
            self.ids, self.left, self.right = image_codes(*sides)
            self._named = (sides[0].codes != UNKNOWN) & (sides[1].codes != UNKNOWN)

    @classmethod
    def of(cls, pairs: OwnColumns, arguments: argparse.Namespace) -> Ends:
        columns = (arguments.left, arguments.right)
        has_scores = bool(arguments.score or arguments.distance)
        if has_scores and columns == ("left", "right") and not (pairs.has("left") or pairs.has("right")):
            if arguments.image_table is not None:
                raise ConfigError(
                    "--image-table describes images by their ids: name the pairs' with --left and --right."
                )
            return cls(pairs, columns, None)
        sides = [pairs.image_ids(columns[0], "--left"), pairs.image_ids(columns[1], "--right")]
        there = [side for side in sides if side is not None]
        if len(there) < 2:
            return cls(pairs, columns, None)
        return cls(pairs, columns, there)

    def check_known(self, described: CodedColumn | None, path: Path) -> None:
        """A problem for each side with images that the images' table does not describe."""
        if described is None or self._sides is None:
            return
        for name, side in zip(self.columns, self._sides, strict=True):
            unknown = index_of(side.values, described.values) == UNKNOWN
            rows = np.flatnonzero(np.append(unknown, False)[side.codes]).tolist()
            if rows:
                absent = [value for value, is_absent in zip(side.values, unknown, strict=True) if is_absent]
                self._pairs.problem(
                    "unknown-image",
                    f"{plural(len(absent), 'image')} of '{name}' ({shorten_list(absent, 3)}) not in {path}, where the "
                    f"first is '{described.values[0]}'.",
                    rows,
                )

    def check_labels(self, same: Bool | None) -> None:
        """A problem for pairs of an image with itself, and for pairs that are labelled both ways."""
        alone = np.flatnonzero((self.left == self.right) & self._named).tolist()
        if alone:
            self._pairs.problem("self-pair", "an image is paired with itself. Remove the row or correct an id.", alone)
        rows = np.flatnonzero(self._named)
        if same is None or not len(rows):
            return
        key: I64 = np.unique(pair_keys(self.left[rows], self.right[rows], len(self.ids)), return_inverse=True)[1]
        n_same = np.bincount(key[same[rows]], minlength=int(key.max()) + 1)
        both_ways = np.flatnonzero((n_same > 0) & (n_same < np.bincount(key)))
        for code in both_ways[:MAX_NAMED_VALUES]:
            self._pairs.problem("two-labels", "one pair with two labels. Correct one.", rows[key == code].tolist())
        if len(both_ways) > MAX_NAMED_VALUES:
            self._pairs.problem(
                "two-labels", f"{plural(len(both_ways) - MAX_NAMED_VALUES, 'other pair')} with two labels."
            )


def read_identity(file: OwnColumns, ends: Ends, arguments: argparse.Namespace) -> CodedColumn:
    """Who is on each image of the file."""
    unknown = CodedColumn(np.full(len(ends.ids), UNKNOWN, dtype=np.int32), ())
    if arguments.image_table is None:
        if arguments.identity is None:
            return unknown
        if arguments.identity.count(",") != 1 or isinstance(ends.ids, PlaceholderIds):
            raise ConfigError(
                "--identity COL names a column of --image-table. Without that table, name two columns of --pairs, "
                "--identity COL,COL, beside the ids of images (--left, --right)."
            )
        return _of_images(file, ends, arguments.identity.split(","), "--identity") or unknown
    if arguments.identity is None and not file.has("identity"):
        return CodedColumn(np.full(file.table.n_rows, UNKNOWN, dtype=np.int32), ())
    return file.text(arguments.identity or "identity", "--identity") or unknown


def _of_images(file: OwnColumns, ends: Ends, columns: list[str], option: str) -> CodedColumn | None:
    """What one or two columns of the pairs say about each image; None if they are not there."""
    columns = [column.strip() for column in columns]
    sides = [file.text(column, option) for column in columns]
    there = [side for side in sides if side is not None]
    if len(there) < len(sides):
        return None
    values, left, right = image_codes(there[0], there[-1])
    said = np.concatenate([_with_blanks(there[0], left), _with_blanks(there[-1], right)])
    both = np.concatenate([ends.left, ends.right])
    codes, contradicts = resolve_mentions(len(ends.ids), both, said)
    if contradicts.any():
        image = int(both[np.argmax(contradicts)])
        called = ", ".join(map(file.called, columns))
        rows = np.unique(np.flatnonzero((both == image) & (said != UNKNOWN)) % file.table.n_rows)
        file.problem("contradiction", f"image '{ends.ids[image]}' has several values in {called}.", rows.tolist())
    return CodedColumn(codes, values)


def _with_blanks(column: CodedColumn, codes: I32) -> I32:
    return np.where(column.codes == UNKNOWN, np.int32(UNKNOWN), codes)


def read_attributes(
    file: OwnColumns, ends: Ends, arguments: argparse.Namespace
) -> tuple[dict[str, CodedColumn], list[Finding]]:
    """Attributes of each image of the file by name, and notes on columns that cannot be one."""
    attributes: dict[str, CodedColumn] = {}
    notes: list[Finding] = []
    if arguments.image_table is None:
        for option in arguments.attribute:
            name, wanted = _attribute_columns(file, option)
            column = _of_images(file, ends, wanted, "--attribute")
            if column is not None:
                attributes[name] = column
        return attributes, notes
    for name in file.names:
        if name in (arguments.image, arguments.identity or "identity") or not name or name.startswith("Unnamed:"):
            continue
        try:
            column = file.text(name, "")
        except DataError:  # such as numbers with decimals, which have no one spelling
            column = None
        if column is None or name in names.ATTRIBUTES or name in STRUCTURE or name.endswith(names.SIDES):
            why = "its name means something else here" if column else "its values are not short texts"
            text = f"{arguments.image_table}: column '{name}' is left out, because {why}."
            notes.append(Finding("column-left-out", "note", text))
        else:
            attributes[name] = column
    return attributes, notes


def _attribute_columns(file: OwnColumns, option: str) -> tuple[str, list[str]]:
    """The name of an attribute of the pairs, and its one or two columns."""
    name, columns = name_and_value(option)
    by_side = [name + side for side in names.SIDES]
    if columns:
        return name, [column.strip() for column in columns.split(",")]
    if file.has(by_side[0]):
        return name, by_side
    return name, [name]


def cut_attributes(file: OwnColumns, arguments: argparse.Namespace) -> None:
    """Put groups in the place of the numbers that ``--bins`` names."""
    columns_of = {name: [name] for name in file.names}
    if arguments.image_table is None:
        columns_of = dict(_attribute_columns(file, option) for option in arguments.attribute)
    for name, edges in read_bins(arguments.bins).items():
        if name not in columns_of:
            known = ", ".join(columns_of) or "none; name it with --attribute"
            raise ConfigError(f"--bins {name}: {file.table.path} has no such attribute. Its attributes: {known}.")
        for column in columns_of[name]:
            if file.has(column):  # a missing one is told of where it is read
                source = file.names[column]
                file.put(column, cut_column(file.table, source, edges), source)


def name_and_value(option: str) -> tuple[str, str | None]:
    """``label=genuine`` as its two parts."""
    name, equals, value = option.partition("=")
    if not equals:
        return name, None
    return name, value
