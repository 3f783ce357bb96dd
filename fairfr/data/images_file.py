"""What is known about each image: its id, its identity, its attributes; and the groups that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core import names
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import I32, UNKNOWN, Bool, Grouping, PlaceholderIds, StrArray, cross_groupings, read_only
from fairfr.data.files import DataFile
from fairfr.data.text_table import CodedColumn, TextTable, read_table

MAX_LEVELS = 32_000  # group codes are int16
# of a column that names groups rather than people or sizes
MIN_GROUPS_OF_COLUMN = 2
MAX_GROUPS_OF_COLUMN = 50
RESERVED = "|"
ALLOWED_ID_BYTES = 2**28  # bytes


@dataclass(frozen=True, slots=True)
class ImageTable:
    """Ids, identity and attributes of n images; ``path`` is the file that says so.

    ``identity`` (n,) indexes ``people``; -1 = unknown. ``group_columns`` are columns that could be attributes, with
    their numbers of levels, where none are asked for.
    """

    path: Path
    ids: tuple[str, ...] | PlaceholderIds
    identity: I32
    attributes: Mapping[str, CodedColumn]
    people: tuple[str, ...] = ()
    group_columns: Mapping[str, int] = field(default_factory=dict)

    def keep(self, chosen: Bool) -> ImageTable:
        """Only the images marked in ``chosen`` (n,)."""
        if chosen.all():
            return self
        ids = tuple(self.ids[i] for i in np.flatnonzero(chosen).tolist())
        attributes = {name: CodedColumn(c.codes[chosen], c.values) for name, c in self.attributes.items()}
        return replace(self, ids=ids, identity=self.identity[chosen], attributes=attributes)

    def id_array(self) -> StrArray | PlaceholderIds:
        """The ids (n,), each in as much room as the longest takes."""
        if isinstance(self.ids, PlaceholderIds):
            return self.ids
        longest = max(self.ids, key=len)
        if 4 * len(longest) * len(self.ids) > max(ALLOWED_ID_BYTES, 64 * sum(map(len, self.ids))):
            raise DataError(
                f"{self.path}: image '{longest[:40]}...' has {len(longest)} characters, far more than the others. "
                "Shorten it: all ids are kept in its width.",
                code="long-cell",
            )
        ids: StrArray = np.array(self.ids, dtype=np.str_)
        return read_only(ids)


def read_images(file: DataFile, attributes: tuple[str, ...]) -> ImageTable:
    """The images file. ``identity`` may be missing; the ``attributes`` may not."""
    check_attribute_names(file.path, attributes)
    table = read_table(file, {"image", "identity", *attributes})
    table.require("image")
    image = table.required_text("image")
    if len(image.values) < table.n_rows:
        raise _repeated(table, image)
    identity = CodedColumn(np.full(table.n_rows, UNKNOWN, dtype=np.int32), ())
    if "identity" in table.names:
        identity = table.text("identity")
    described = {name: read_attribute(table, name) for name in attributes}
    possible: dict[str, int] = {}
    if not attributes:
        possible = group_columns(file, _of_one_image(table.names))
    return ImageTable(file.path, image.values, identity.codes, described, identity.values, possible)


def _of_one_image(columns: Sequence[str]) -> list[str]:
    """The columns of an images file that may be attributes."""
    return [name for name in columns if name not in ("image", "identity") and not name.endswith(names.SIDES)]


def group_columns(file: DataFile, columns: Sequence[str]) -> dict[str, int]:
    """Which of the ``columns`` could name groups, with their numbers of levels.

    Two columns with one value for each image of a pair are one attribute.
    """
    import pyarrow.compute as pc

    wanted = [name for name in columns if columns.count(name) == 1 and name.strip()]
    try:
        table = read_table(file, wanted)
    except DataError:  # only a hint would be lost: what is read for a run is checked by itself
        return {}
    found = {}
    for name in wanted:
        attribute = _without_side(name)
        if attribute in names.ATTRIBUTES or attribute in found or not _is_plain(table.arrays[name].type):
            continue
        n_levels = pc.count_distinct(table.arrays[name], mode="only_valid").as_py()
        if MIN_GROUPS_OF_COLUMN <= n_levels <= MAX_GROUPS_OF_COLUMN + 1:  # blanks are not a level
            n_levels = sum(bool(str(value).strip()) for value in table.arrays[name].unique().drop_null().to_pylist())
        if MIN_GROUPS_OF_COLUMN <= n_levels <= MAX_GROUPS_OF_COLUMN:
            found[attribute] = n_levels
    return found


def _without_side(name: str) -> str:
    for side in names.SIDES:
        name = name.removesuffix(side)
    return name


def _is_plain(kind: Any) -> bool:
    """Whether cells of this arrow type are texts, whole numbers or truth values, which can name groups."""
    return str(kind) in ("string", "large_string", "bool") or "int" in str(kind)


def check_attribute_names(path: Path, attributes: Sequence[str]) -> None:
    """DataError if an attribute is called like something else in what a run writes, which it would replace."""
    for name in attributes:
        if name in names.ATTRIBUTES:
            raise DataError(
                f"{path}: column '{name}' cannot be used as an attribute, because results have a '{name}' of their "
                "own. Rename the column, there and in dataset.grouping.",
                code="reserved-name",
            )
        side = next((side for side in names.SIDES if name.endswith(side)), None)
        if side is not None:
            raise DataError(
                f"{path}: column '{name}' cannot be used as an attribute: '{side}' marks one image of a pair. "
                f"Name '{name.removesuffix(side)}' in dataset.grouping, or rename the column.",
                code="reserved-name",
            )


def read_attribute(table: TextTable, name: str) -> CodedColumn:
    """One attribute's column; blank cells are unknown."""
    table.require(name, remedy="Add the column, or correct dataset.grouping.")
    column = table.text(name)
    for code, value in enumerate(column.values):
        if RESERVED in value:
            raise DataError(
                f"{table.path}, {table.first_location(column.codes == code)}: {name} is {value!r}, "
                f"but '{RESERVED}' is reserved. Write the value with another character.",
                code="reserved-name",
            )
    return column


def resolve_mentions(n_images: int, ends: I32, said: I32) -> tuple[I32, Bool]:
    """What rows say about images, as one value for each image.

    Parameters
    ----------
    n_images : int
        n, how many images there are.
    ends, said : (m,)
        An image, and the code that a row gives it (-1: none), for each mention.

    Returns
    -------
    codes : (n,)
        The last known code of each image, -1 if there is none.
    contradicts : (m,)
        The mentions with another known code than that.
    """
    known = said != UNKNOWN
    codes = np.full(n_images, UNKNOWN, dtype=np.int32)
    codes[ends[known]] = said[known]
    return codes, known & (said != codes[ends])


def build_groupings(images: ImageTable, attributes: tuple[str, ...]) -> tuple[dict[str, Grouping], str | None]:
    """Each attribute and their product as groupings by id, and the id of the product (None without attributes)."""
    if len(set(attributes)) < len(attributes):
        raise ConfigError(f"dataset.grouping names an attribute twice: {', '.join(attributes)}. Name each once.")
    if not attributes:
        return {}, None
    parts = tuple(_grouping(images, name) for name in attributes)
    product = cross_groupings(parts)
    _check_levels(images.path, product)
    read_only(product.codes)
    return {part.id: part for part in (*parts, product)}, product.id


def _grouping(images: ImageTable, name: str) -> Grouping:
    column = images.attributes[name]
    present = np.unique(column.codes[column.codes != UNKNOWN]).tolist()
    present.sort(key=column.values.__getitem__)
    # one more entry at the end, so that code -1 (unknown) stays -1; wide until the number of levels is checked
    number = np.full(len(column.values) + 1, UNKNOWN, dtype=np.int64)
    number[present] = np.arange(len(present))
    grouping = Grouping(name, tuple(column.values[code] for code in present), number[column.codes].astype(np.int16))
    _check_levels(images.path, grouping)
    read_only(grouping.codes)
    return grouping


def _check_levels(path: Path, grouping: Grouping) -> None:
    levels = grouping.levels
    if not levels:
        raise DataError(
            f"{path}: no image that occurs in a pair has a known {grouping.id}. "
            "Fill the column in, or leave it out of dataset.grouping.",
            code="no-groups",
        )
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"{path}: {grouping.id} has {len(levels):,} different values; at most {MAX_LEVELS:,} groups are possible. "
            "Take an attribute that names groups in dataset.grouping.",
            code="too-many-groups",
        )
    reserved = names.GROUPS & set(levels)
    if reserved:
        raise DataError(
            f"{path}: a group of {grouping.id} is called '{min(reserved)}', which is kept for comparisons of groups. "
            "Give it another name.",
            code="reserved-name",
        )
    repeated = [level for level, count in Counter(levels).items() if count > 1]
    if repeated:
        raise DataError(
            f"{path}: two different groups of {grouping.id} would both be called '{min(repeated)}'. "
            "Rename a value, e.g. without its underscore.",
            code="same-group-name",
        )


def _repeated(table: TextTable, image: CodedColumn) -> DataError:
    first_rows = np.unique(image.codes, return_index=True)[1]
    row = int(np.setdiff1d(np.arange(table.n_rows), first_rows)[0])
    earlier = int(np.argmax(image.codes == image.codes[row]))
    return DataError(
        f"{table.path}, {table.location(row)}: image '{image.values[image.codes[row]]}' was already in "
        f"{table.location(earlier)}. Keep one row for each image.",
        code="repeated-image",
    )
