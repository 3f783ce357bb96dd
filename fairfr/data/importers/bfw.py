"""BFW: its datatable as csv (p1, p2, label), or as FairCal renamed it (path1, path2, same).

Images are called as in the table (``asian_females/n000009/0010_01.jpg``), identities by their folder. The table's own
cosines stay in pairs.csv, for ``backbone=scores backbone.column=senet50``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.text import plural
from fairfr.core.types import I32, UNKNOWN
from fairfr.data.images_file import resolve_mentions
from fairfr.data.importers.foreign_pairs import (
    pick_column,
    read_folds,
    read_foreign_labels,
    read_foreign_table,
    read_scores,
    size_findings,
)
from fairfr.data.importers.imported_set import (
    ImportedSet,
    add_output_arguments,
    check_import,
    image_codes,
    write_and_summarise,
)
from fairfr.data.pairs_file import LabelledPairs
from fairfr.data.text_table import CodedColumn, TextTable

LEVELS = {"ethnicity": ("asian", "black", "indian", "white"), "gender": ("female", "male")}
# Columns that name an attribute, most trusted first, each with the part of its value that does.
ATTRIBUTE_COLUMNS: dict[str, dict[str, Callable[[str], str]]] = {
    "ethnicity": {"att": lambda v: v.partition("_")[0], "a": lambda v: v[:1], "e": str},
    "gender": {"att": lambda v: v.rpartition("_")[2], "a": lambda v: v[1:], "g": str},
}
SIDED = ("p", "path", "id", "ids", "att", "a", "g", "e", "MATRIX_ID_")  # each with 1 and 2 after it
STRUCTURE = {"fold", "same", "label", "pair", "ethnicity", "gender"}
STRUCTURE |= {f"{name}1" for name in SIDED} | {f"{name}2" for name in SIDED}
RELEASED = 923_898  # rows of version 0.1.5
TABLES = ("meta/bfw-*datatable.csv", "meta/bfw-*datatable.pkl", "bfw-*datatable.csv", "bfw-*datatable.pkl", "bfw.csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import bfw``."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--table", type=Path, help="the datatable (csv), or FairCal's bfw.csv")
    source.add_argument("--root", type=Path, help="folder of the datatable, which is in meta/ or directly in it")
    add_output_arguments(parser, "bfw")


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    path = arguments.table or find_table(arguments.root)
    return write_and_summarise(read_bfw(path), arguments)


def find_table(root: Path) -> Path:
    """The datatable below ``root``: the csv if there are both kinds."""
    for pattern in TABLES:
        found = sorted(root.glob(pattern))
        if len(found) > 1:
            raise DataError(f"{root} has several tables: {', '.join(map(str, found))}. Name one with --table.")
        if found:
            return found[0]
    raise DataError(f"{root} has no meta/bfw-...-datatable.csv or .pkl. Name the table with --table.")


def read_bfw(path: Path) -> ImportedSet:
    """The table as a set."""
    table = read_foreign_table(path)
    first = pick_column(table, "path1", "p1")
    second = pick_column(table, "path2", "p2")
    ids, left, right = image_codes(table.required_text(first), table.required_text(second))
    same = read_foreign_labels(table)
    fold = read_folds(table)
    attributes, notes = _attributes(table, ids, np.concatenate([left, right]))
    scores, left_out = read_scores(table, STRUCTURE)
    pairs = LabelledPairs(table, np.arange(table.n_rows, dtype=np.int64), left, right, same, fold)
    data = check_import(path, ids, _identities(table, ids, left, right), attributes, pairs)
    numbers = _number_notes(table, data.images.identity[np.concatenate([left, right])])
    notes += [*numbers, *left_out, *size_findings(table, RELEASED)]
    return replace(data, scores=scores, notes=(*data.notes, *notes))


def _identities(table: TextTable, ids: tuple[str, ...], left: I32, right: I32) -> list[str]:
    """The folder of each image, or the table's own numbers if images are not in folders."""
    folders = [image.replace("\\", "/").rpartition("/")[0] for image in ids]
    if all(folders):
        return folders
    if "id1" not in table.arrays or "id2" not in table.arrays:
        return [""] * len(ids)
    identity = [""] * len(ids)
    for name, ends in (("id1", left), ("id2", right)):
        column = table.text(name)
        _, rows = np.unique(ends, return_index=True)
        for image, code in zip(ends[rows].tolist(), column.codes[rows].tolist(), strict=True):
            if code != UNKNOWN:
                identity[image] = column.values[code]
    return identity


def _number_notes(table: TextTable, identity: I32) -> list[Finding]:
    """A note if the table's own numbers of people are not one for each identity; ``identity`` (2p,) as in the rows."""
    if "id1" not in table.arrays or "id2" not in table.arrays:
        return []
    numbers = table.text("id1"), table.text("id2")
    if any((column.codes == UNKNOWN).any() for column in numbers):
        return [_numbers_differ(f"{table.path}: some people have no number in id1, id2; their folders count.")]
    values, first, second = image_codes(*numbers)
    both = np.unique(identity.astype(np.int64) * len(values) + np.concatenate([first, second]))
    if len(both) == len(values) == len(np.unique(identity)):
        return []
    text = f"{table.path}: id1, id2 do not number the people one by one as their folders do; the folders count."
    return [_numbers_differ(text)]


def _numbers_differ(text: str) -> Finding:
    return Finding("numbers-against-folders", "note", text)


def _attributes(table: TextTable, ids: tuple[str, ...], ends: I32) -> tuple[dict[str, CodedColumn], list[Finding]]:
    """Ethnicity and gender of each image; ``ends`` (2p,) are the left, then the right images of the rows."""
    attributes = {}
    notes = []
    for attribute, columns in ATTRIBUTE_COLUMNS.items():
        there = [name for name in columns if f"{name}1" in table.arrays and f"{name}2" in table.arrays]
        if not there:
            attributes[attribute] = CodedColumn(_from_folders(table, ids, attribute), LEVELS[attribute])
            text = f"{table.path} has no column of {attribute}; it is taken from the images' folders."
            notes.append(Finding("attribute-from-folders", "note", text))
            continue
        said = {name: _said(table, name, attribute) for name in there}
        codes = _per_image(table, ids, ends, said[there[0]], attribute)
        attributes[attribute] = CodedColumn(codes, LEVELS[attribute])
        for name in there[1:]:
            differ = (said[name] != codes[ends]) & (said[name] != UNKNOWN) & (codes[ends] != UNKNOWN)
            if differ.any():
                first = table.location(int(np.argmax(differ)) % table.n_rows)
                times = int(np.count_nonzero(differ))
                text = (
                    f"{table.path}: '{name}1/2' and '{there[0]}1/2' disagree on {attribute} {plural(times, 'time')} "
                    f"(first: {first}); '{there[0]}1/2' is taken."
                )
                notes.append(Finding("columns-disagree", "note", text, {"times": times}))
    return attributes, notes


def _said(table: TextTable, name: str, attribute: str) -> I32:
    """What columns ``name``1 and ``name``2 say of the left, then the right images (2p,): codes of LEVELS."""
    sides = []
    for column_name in (f"{name}1", f"{name}2"):
        column = table.text(column_name)
        codes = [_level(ATTRIBUTE_COLUMNS[attribute][name](value.strip()), attribute) for value in column.values]
        for code, value in enumerate(column.values):
            if codes[code] == UNKNOWN:
                raise DataError(
                    f"{table.path}, {table.first_location(column.codes == code)}: {column_name} is {value!r}, "
                    f"which names no {attribute} ({', '.join(LEVELS[attribute])}). "
                    "Correct it, or leave it blank if it is unknown."
                )
        sides.append(np.array([*codes, UNKNOWN], dtype=np.int32)[column.codes])
    return np.concatenate(sides)


def _level(word: str, attribute: str) -> int:
    """``asian``, ``A``, ``females`` or ``F`` as a code of LEVELS; -1 for anything else."""
    word = word.lower()
    known = LEVELS[attribute]
    return next((k for k, level in enumerate(known) if word in (level, level[0], f"{level}s")), UNKNOWN)


def _per_image(table: TextTable, ids: tuple[str, ...], ends: I32, said: I32, attribute: str) -> I32:
    codes, contradicts = resolve_mentions(len(ids), ends, said)
    if contradicts.any():
        at = int(np.argmax(contradicts))
        levels = LEVELS[attribute]
        raise DataError(
            f"{table.path}, {table.location(at % table.n_rows)}: image '{ids[ends[at]]}' is {levels[said[at]]}, but "
            f"{levels[codes[ends[at]]]} in another row. Correct one of the two."
        )
    return codes


def _from_folders(table: TextTable, ids: tuple[str, ...], attribute: str) -> I32:
    codes = []
    part = 1 if attribute == "ethnicity" else 2
    for image in ids:
        found = re.search(r"(?:^|[/\\])([a-z]+)_((?:fe)?males?)[/\\]", image)
        code = UNKNOWN
        if found is not None:
            code = _level(found[part], attribute)
        if code == UNKNOWN:
            raise DataError(
                f"{table.path} has no columns att1, att2, and image '{image}' lies in no folder such as "
                "asian_females, so its group is not known. Use the full datatable."
            )
        codes.append(code)
    return np.array(codes, dtype=np.int32)
