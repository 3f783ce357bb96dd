"""RFW: the tree ``txts/<Ethnicity>/<Ethnicity>_pairs.txt`` of its test archive, or a table made from it.

13 person ids occur under two ethnicities, so images are called ``<Ethnicity>/<person>/<person>_0001.jpg`` and
identities ``<Ethnicity>/<person>``. The table is rfw.csv as FairCal and its reproductions make it, with ids and numbers
or with paths; images and identities have the same names, so that vectors fit either.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.data.importers.foreign_pairs import (
    PairList,
    label_lists,
    missing_image_findings,
    pick_column,
    read_folds,
    read_foreign_labels,
    read_foreign_table,
    read_pair_list,
    read_scores,
    size_findings,
)
from fairfr.data.importers.imported_set import (
    ImportedSet,
    add_output_arguments,
    check_import,
    image_codes,
    to_column,
    write_and_summarise,
)
from fairfr.data.pairs_file import LabelledPairs
from fairfr.data.text_table import TextTable

ETHNICITIES = ("African", "Asian", "Caucasian", "Indian")
PLACES = ("txts", "test/txts", "RFW/test/txts", ".")  # where the lists may be, seen from the folder that was named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import rfw``."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--root", type=Path, help="unpacked test archive: the folder with txts/ (and data/)")
    source.add_argument("--table", type=Path, help="a table of the pairs instead, such as FairCal's rfw.csv")
    add_output_arguments(parser, "rfw")


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    if arguments.table is not None:
        return write_and_summarise(read_rfw_table(arguments.table), arguments)
    return write_and_summarise(read_rfw(arguments.root), arguments)


def image_id(ethnicity: str, person: str, number: int) -> str:
    """``African/m.0a/m.0a_0012.jpg``."""
    return f"{ethnicity}/{person}/{person}_{number:04d}.jpg"


def describe_images(ids: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Identity and ethnicity of each image, from its id."""
    return [image.rpartition("/")[0] for image in ids], [image.partition("/")[0].lower() for image in ids]


def read_rfw(root: Path) -> ImportedSet:
    """The four lists under ``root`` as one set."""
    folder = _find_lists(root)
    lists = [read_pair_list(folder / name / f"{name}_pairs.txt") for name in ETHNICITIES]
    _check_alike(lists)
    images = []
    notes: list[Finding] = []
    for name, part in zip(ETHNICITIES, lists, strict=True):
        for pair in part.pairs:
            left = image_id(name, pair.left, pair.left_number)
            right = image_id(name, pair.right, pair.right_number)
            images.append((left, right))
        notes.extend(part.notes())
    ids, pairs = label_lists(folder, lists, images)
    identity, ethnicity = describe_images(ids)
    data = check_import(folder, ids, identity, {"ethnicity": to_column(ethnicity)}, pairs)
    pictures = folder.parent / "data"
    notes.extend(missing_image_findings(pictures, ids, str(pictures)))
    return replace(data, notes=(*data.notes, *notes))


def _find_lists(root: Path) -> Path:
    for place in PLACES:
        if any((root / place / name).is_dir() for name in ETHNICITIES) and _has_list(root / place):
            return root / place
    raise DataError(
        f"{root} has no txts/African/African_pairs.txt. Name the folder of the unpacked RFW test archive, "
        "which has txts/<Ethnicity>/<Ethnicity>_pairs.txt."
    )


def _has_list(folder: Path) -> bool:
    # a list that is a broken or circular link is there, too: reading it says what is wrong
    return any(
        (folder / name / f"{name}_pairs.txt").is_symlink() or (folder / name / f"{name}_pairs.txt").exists()
        for name in ETHNICITIES
    )


def _check_alike(lists: list[PairList]) -> None:
    first = lists[0]
    for part in lists[1:]:
        if (part.n_folds, part.block) != (first.n_folds, first.block):
            raise DataError(
                f"{part.path} has {part.n_folds} folds of {part.block:,} pairs, but {first.path.name} has "
                f"{first.n_folds} of {first.block}. One of the two is cut short; restore it."
            )


OFFICIAL = 24_000  # pairs of the four lists
SIDED = ("id", "num", "path", "p", "ethnicity")  # each with 1 and 2 after it
STRUCTURE = {"fold", "same", "label", "pair", "ethnicity", "category"}
STRUCTURE |= {f"{name}1" for name in SIDED} | {f"{name}2" for name in SIDED}
FILE = re.compile(r"(?P<person>.+)_(?P<number>\d{1,9})(?:\.(?:jpe?g|png|npy))?", re.ASCII | re.IGNORECASE)


def read_rfw_table(path: Path) -> ImportedSet:
    """The table as a set."""
    table = read_foreign_table(path)
    ethnicity = _ethnicities(table)
    sides = [_from_paths(table, side, ethnicity) or _from_ids(table, side, ethnicity) for side in "12"]
    ids, left, right = image_codes(*(to_column(side) for side in sides))
    identity, group = describe_images(ids)
    pairs = LabelledPairs(
        table, np.arange(table.n_rows, dtype=np.int64), left, right, read_foreign_labels(table), read_folds(table)
    )
    data = check_import(path, ids, identity, {"ethnicity": to_column(group)}, pairs)
    scores, notes = read_scores(table, STRUCTURE)
    return replace(data, scores=scores, notes=(*data.notes, *notes, *size_findings(table, OFFICIAL)))


def _ethnicities(table: TextTable) -> list[str] | None:
    """Ethnicity (p,) as RFW's folders are called; None if the table has none."""
    if "ethnicity" not in table.arrays:
        return None
    column = table.required_text("ethnicity")
    known = {name.lower(): name for name in ETHNICITIES}
    for code, value in enumerate(column.values):
        if value.strip().lower() not in known:
            raise DataError(
                f"{table.path}, {table.first_location(column.codes == code)}: ethnicity is {value!r}; RFW has "
                f"{', '.join(ETHNICITIES)}. Is it a table of another data set?"
            )
    names = [known[value.strip().lower()] for value in column.values]
    return [names[code] for code in column.codes.tolist()]


def _from_ids(table: TextTable, side: str, ethnicity: Sequence[str] | None) -> list[str]:
    """Ids (p,) from the columns of persons and numbers."""
    people = table.required_cells(pick_column(table, f"id{side}", f"path{side}"))
    numbers = table.required_cells(pick_column(table, f"num{side}"))
    if ethnicity is None:
        table.require("ethnicity", remedy="It does not follow from the persons: some ids occur in two ethnicities.")
    assert ethnicity is not None
    images = []
    for row, (group, person, number) in enumerate(zip(ethnicity, people, numbers, strict=True)):
        if not re.fullmatch(r"\d{1,9}(\.0*)?", number, re.ASCII):
            raise DataError(f"{table.path}, {table.location(row)}: num{side} is {number!r}, not a number. Correct it.")
        if "/" in person:
            raise DataError(f"{table.path}, {table.location(row)}: id{side} is {person!r}, not a person. Correct it.")
        images.append(image_id(group, person, int(number.partition(".")[0])))
    return images


def _from_paths(table: TextTable, side: str, ethnicity: Sequence[str] | None) -> list[str]:
    """Ids (p,) from the column of paths, whatever folders they start with; empty if the table has none."""
    if f"path{side}" not in table.arrays:
        return []
    images = []
    for row, path in enumerate(table.required_cells(f"path{side}")):
        parts = path.replace("\\", "/").split("/")
        file = FILE.fullmatch(parts[-1])
        group = ethnicity[row] if ethnicity else ""
        if len(parts) > 2 and parts[-3].removesuffix("_cropped") in ETHNICITIES:
            group = parts[-3].removesuffix("_cropped")
        expected = ethnicity[row] if ethnicity else group
        if file is None or not group or expected != group or (len(parts) > 1 and parts[-2] != file["person"]):
            raise DataError(
                f"{table.path}, {table.location(row)}: path{side} is {path!r}, not "
                f"'{expected or '<Ethnicity>'}/<person>/<person>_0001.jpg'. Correct it."
            )
        images.append(image_id(group, file["person"], int(file["number"])))
    return images
