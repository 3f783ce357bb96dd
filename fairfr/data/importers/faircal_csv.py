"""RFW as the table that FairCal and its reproductions make of it: rfw.csv with ids and numbers, or with paths.

Images and identities are called as by the importer of RFW's own lists, so that vectors fit either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.data.importers.foreign_table import one_of, open_table, read_folds, read_same, read_scores, size_notes
from fairfr.data.importers.imported import ImportedSet, assemble_import, column_of, image_codes
from fairfr.data.importers.rfw import ETHNICITIES, describe_images, image_id
from fairfr.data.pairs_file import LabelledPairs
from fairfr.data.tables import Table

OFFICIAL = 24_000  # pairs of the four lists
STRUCTURE = {"fold", "same", "label", "pair", "ethnicity", "category"} | {
    f"{name}{side}" for name in ("id", "num", "path", "p", "ethnicity") for side in "12"
}
FILE = re.compile(r"(?P<person>.+)_(?P<number>\d{1,9})(?:\.(?:jpe?g|png|npy))?", re.ASCII | re.IGNORECASE)


def read_rfw_table(path: Path) -> ImportedSet:
    """The table as a set."""
    table = open_table(path)
    ethnicity = _ethnicities(table)
    sides = [_from_paths(table, side, ethnicity) or _from_ids(table, side, ethnicity) for side in "12"]
    ids, left, right = image_codes(*(column_of(side) for side in sides))
    identity, group = describe_images(ids)
    pairs = LabelledPairs(
        table, np.arange(table.n_rows, dtype=np.int64), left, right, read_same(table), read_folds(table)
    )
    data = assemble_import(path, ids, identity, {"ethnicity": column_of(group)}, pairs)
    scores, notes = read_scores(table, STRUCTURE)
    return replace(data, scores=scores, notes=(*data.notes, *notes, *size_notes(table, OFFICIAL)))


def _ethnicities(table: Table) -> list[str] | None:
    """Ethnicity (p,) as RFW's folders are called; None if there is no such column."""
    if "ethnicity" not in table.arrays:
        return None
    column = table.filled("ethnicity")
    known = {name.lower(): name for name in ETHNICITIES}
    for code, value in enumerate(column.values):
        if value.strip().lower() not in known:
            raise DataError(
                f"{table.path}, {table.first(column.codes == code)}: ethnicity is {value!r}; RFW has "
                f"{', '.join(ETHNICITIES)}. Is it a table of another data set?"
            )
    names = [known[value.strip().lower()] for value in column.values]
    return [names[code] for code in column.codes.tolist()]


def _spelled(table: Table, name: str) -> list[str]:
    column = table.filled(name)
    return [column.values[code].strip() for code in column.codes.tolist()]


def _from_ids(table: Table, side: str, ethnicity: Sequence[str] | None) -> list[str]:
    """Ids (p,) from the columns of persons and numbers."""
    people, numbers = (
        _spelled(table, one_of(table, f"id{side}", f"path{side}")),
        _spelled(table, one_of(table, f"num{side}")),
    )
    if ethnicity is None:
        table.require("ethnicity", remedy="It does not follow from the persons: some ids occur in two ethnicities.")
    assert ethnicity is not None
    images = []
    for row, (group, person, number) in enumerate(zip(ethnicity, people, numbers, strict=True)):
        if not re.fullmatch(r"\d{1,9}(\.0*)?", number, re.ASCII):
            raise DataError(f"{table.path}, {table.where(row)}: num{side} is {number!r}, not a number. Correct it.")
        if "/" in person:
            raise DataError(f"{table.path}, {table.where(row)}: id{side} is {person!r}, not a person. Correct it.")
        images.append(image_id(group, person, int(number.partition(".")[0])))
    return images


def _from_paths(table: Table, side: str, ethnicity: Sequence[str] | None) -> list[str]:
    """Ids (p,) from the column of paths, whatever folders they start with; empty if there is no such column."""
    if f"path{side}" not in table.arrays:
        return []
    images = []
    for row, path in enumerate(_spelled(table, f"path{side}")):
        parts = path.replace("\\", "/").split("/")
        file = FILE.fullmatch(parts[-1])
        folder = parts[-3].removesuffix("_cropped") if len(parts) > 2 else ""
        group = folder if folder in ETHNICITIES else ethnicity[row] if ethnicity else ""
        expected = ethnicity[row] if ethnicity else group
        if file is None or not group or expected != group or (len(parts) > 1 and parts[-2] != file["person"]):
            raise DataError(
                f"{table.path}, {table.where(row)}: path{side} is {path!r}, not "
                f"'{expected or '<Ethnicity>'}/<person>/<person>_0001.jpg'. Correct it."
            )
        images.append(image_id(group, file["person"], int(file["number"])))
    return images
