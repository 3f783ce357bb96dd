"""BFW's and RFW's published tables: presets that turn their columns into those of ``fairfr import table``.

BFW: its datatable (p1, p2, label), or as FairCal renamed it (path1, path2, same). Images are called as in the table
(``asian_females/n000009/0010_01.jpg``), identities by their folder. RFW: rfw.csv as FairCal and its reproductions make
it, with ids and numbers or with paths; images and identities are called as those of RFW's own lists, so that vectors
fit either. The tables' cosines stay in pairs.csv, for ``backbone=scores backbone.column=senet50``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.text import plural
from fairfr.core.types import F64, UNKNOWN, Bool
from fairfr.data.importers import own_table
from fairfr.data.importers.imported_set import (
    ImportedSet,
    add_output_arguments,
    image_codes,
    map_values,
    to_column,
    write_and_summarise,
)
from fairfr.data.importers.own_columns import OwnColumns, open_own, refuse_problems
from fairfr.data.importers.pair_lists import truncated_finding
from fairfr.data.text_table import CodedColumn, TextTable
from fairfr.pairs.vectors import invalid_cosines

SIDES = (("1", "left"), ("2", "right"))  # endings of published columns and of own ones
PEOPLE = "identity_left,identity_right"


def read_preset(own: OwnColumns, attributes: Sequence[str], structure: Collection[str], released: int) -> ImportedSet:
    """The set of a table that has got own columns; columns of numbers that ``structure`` does not name are cosines."""
    refuse_problems(own)
    words = [f"--pairs={own.table.path}", "--dataset=preset", "--attribute", *attributes]
    if own.has("identity_left"):
        words.append(f"--identity={PEOPLE}")
    parser = argparse.ArgumentParser()
    own_table.add_arguments(parser)
    data = own_table.read_columns(own, None, parser.parse_args(words))
    scores, left_out = _read_scores(own.table, structure)
    return replace(data, scores=scores, notes=(*data.notes, *left_out, *_size_findings(own.table, released)))


def _take_labels_and_folds(own: OwnColumns) -> None:
    """Folds are whole numbers: ``1``, ``"1"`` and ``1.0`` are the same fold."""
    own.take("same", _pick(own.table, "same", "label"))
    fold = _pick(own.table, "fold")
    own.put("fold", own.meanings(fold, _whole_number, "but folds are whole numbers. Correct it."), fold)


def _pick(table: TextTable, *names: str, remedy: str = "Add it or correct its name.") -> str:
    """The one of these names that the table uses for a column."""
    there = [name for name in names if name in table.arrays]
    if len(there) > 1:
        raise DataError(
            f"{table.path} has both '{there[0]}' and '{there[1]}'. Remove one: they mean the same.", code="column-twice"
        )
    if not there:
        if len(names) > 1:
            remedy = f"It may also be called {' or '.join(names[1:])}."
        table.require(names[0], remedy=remedy)
    return there[0]


def _whole_number(text: str) -> str:
    """``1.0`` as ``1``; blank if it is no whole number."""
    if not re.fullmatch(r"\d{1,9}(\.0*)?", text, re.ASCII):
        return ""
    return str(int(text.partition(".")[0]))


def _folder(image: str) -> str:
    return image.replace("\\", "/").rpartition("/")[0]


def _cells(column: CodedColumn) -> list[str]:
    values = [*column.values, ""]  # code -1 is the last
    return [values[code] for code in column.codes.tolist()]


def _read_scores(table: TextTable, structure: Collection[str]) -> tuple[dict[str, F64], list[Finding]]:
    """Cosines (p,) by column, and notes on other columns that ``structure`` does not name."""
    scores = {}
    notes = []
    for name in table.arrays:
        if name in structure or name.strip() in ("", "ID", "index", "level_0") or name.startswith("Unnamed:"):
            continue  # pandas' row numbers are no data
        values, odd = _cosines(table, name)
        if odd:
            text = f"{table.path}: column '{name}' is left out: {odd}."
            notes.append(Finding("column-left-out", "note", text))
        else:
            scores[name] = values
    return scores, notes


def _cosines(table: TextTable, name: str) -> tuple[F64, str]:
    """The numbers of a column, and why they are not cosines (blank if they are)."""
    nothing = np.empty(0)
    try:
        float(table.arrays[name][0].as_py())
    except (TypeError, ValueError):
        return nothing, "it does not contain numbers"
    values = table.numbers(name)  # a column that starts with a number must go on with numbers
    wrong = invalid_cosines(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        return nothing, f"{values[row]:g} in {table.location(row)} is not a cosine (-1..1)"
    if np.isin(values, (0, 1)).all():
        return nothing, "it contains only 0 and 1, as labels do"
    return values, ""


def _size_findings(table: TextTable, released: int) -> list[Finding]:
    """Hints that the file was cut short where it cannot be seen: after a whole line, or inside the last cell."""
    notes = []
    if table.n_rows != released:
        text = f"{table.path} has {table.n_rows:,} rows; the released lists have {released:,} pairs."
        notes.append(Finding("unusual-size", "note", text, {"rows": table.n_rows, "released": released}))
    if table.delimiter is not None and not table.file.read().endswith((b"\n", b"\r")):
        notes.append(truncated_finding(table.path))
    return notes


BFW_LEVELS = {"ethnicity": ("asian", "black", "indian", "white"), "gender": ("female", "male")}
# Columns that name an attribute, most trusted first, each with the part of its value that does.
BFW_ATTRIBUTES: dict[str, dict[str, Callable[[str], str]]] = {
    "ethnicity": {"att": lambda v: v.partition("_")[0], "a": lambda v: v[:1], "e": str},
    "gender": {"att": lambda v: v.rpartition("_")[2], "a": lambda v: v[1:], "g": str},
}
BFW_SIDED = ("p", "path", "id", "ids", "att", "a", "g", "e", "MATRIX_ID_")  # each with 1 and 2 after it
BFW_STRUCTURE = {"fold", "same", "label", "pair", "ethnicity", "gender"}
BFW_STRUCTURE |= {f"{name}1" for name in BFW_SIDED} | {f"{name}2" for name in BFW_SIDED}
BFW_RELEASED = 923_898  # rows of version 0.1.5
BFW_FILES = (
    "meta/bfw-*datatable.csv",
    "meta/bfw-*datatable.pkl",  # found so that the message can say how to convert it
    "bfw-*datatable.csv",
    "bfw-*datatable.pkl",
    "bfw.csv",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import bfw``."""
    source = parser.add_argument_group("input").add_mutually_exclusive_group(required=True)
    source.add_argument("--table", type=Path, metavar="FILE", help="the datatable (csv), or FairCal's bfw.csv")
    source.add_argument(
        "--archive", "--root", type=Path, metavar="DIR", help="the folder that has it, or has it in meta/"
    )
    add_output_arguments(parser, "bfw")


USAGE = "(--table FILE | --archive DIR) [options]"
HELP = """
Import BFW: its datatable, or FairCal's table of it.

  fairfr import bfw --table bfw-v0.1.5-datatable.csv
  fairfr import bfw --archive BFW --data-root data

Columns of scores stay in pairs.csv, and run with backbone=scores.

next: fairfr import embeddings --dataset bfw --backbone mynet --from FILE
"""


def run(arguments: argparse.Namespace) -> str:
    """Import BFW; returns what was found, for people."""
    path = arguments.table or find_bfw(arguments.archive)
    return write_and_summarise(read_bfw(path), arguments)


def find_bfw(root: Path) -> Path:
    """The datatable below ``root``: the csv if there are both kinds."""
    for pattern in BFW_FILES:
        found = sorted(root.glob(pattern))
        if len(found) > 1:
            raise DataError(
                f"{root} has several tables: {', '.join(map(str, found))}. Name one with --table.", code="two-files"
            )
        if found:
            return found[0]
    raise DataError(
        f"{root} has no meta/bfw-...-datatable.csv or .pkl. Name the table with --table.", code="missing-file"
    )


def read_bfw(path: Path) -> ImportedSet:
    """BFW's datatable as a set."""
    own = OwnColumns(open_own(path))
    for end, side in SIDES:
        own.take(side, _pick(own.table, f"path{end}", f"p{end}"))
    _take_labels_and_folds(own)
    notes = _bfw_people(own)
    for attribute in BFW_LEVELS:
        notes += _bfw_groups(own, attribute)
    data = read_preset(own, tuple(BFW_LEVELS), BFW_STRUCTURE, BFW_RELEASED)
    return replace(data, notes=(*data.notes, *notes))


def _bfw_people(own: OwnColumns) -> list[Finding]:
    """People are the folders of images, or the table's own numbers; a note if there are both and they differ."""
    left = own.text("left", "")
    right = own.text("right", "")
    assert left is not None and right is not None
    numbered = own.has("id1") and own.has("id2")
    if not all(map(_folder, {*left.values, *right.values})):
        if numbered:
            own.take("identity_left", "id1")
            own.take("identity_right", "id2")
        return []
    people = map_values(left, _folder), map_values(right, _folder)
    own.put("identity_left", people[0], own.called("left"))
    own.put("identity_right", people[1], own.called("right"))
    if not numbered:
        return []
    both = {*zip(_cells(people[0]), _cells(own.table.text("id1")), strict=True)}
    both.update(zip(_cells(people[1]), _cells(own.table.text("id2")), strict=True))
    if len(both) == len({folder for folder, _ in both}) == len({number for _, number in both}):
        return []
    text = f"{own.table.path}: id1, id2 do not number the people one by one as their folders do; the folders count."
    return [Finding("numbers-against-folders", "note", text)]


def _bfw_groups(own: OwnColumns, attribute: str) -> list[Finding]:
    """Put the groups of both images; notes on where they come from and what contradicts them."""
    table = own.table
    there = [name for name in BFW_ATTRIBUTES[attribute] if own.has(f"{name}1") and own.has(f"{name}2")]
    if not there:
        why = "which lies in no folder such as asian_females, so its group is not known. Use the full datatable."
        for _, side in SIDES:
            groups = own.meanings(side, partial(_level_of_folder, attribute), why)
            own.put(f"{attribute}_{side}", groups, own.called(side))
        text = f"{table.path} has no column of {attribute}; it is taken from the images' folders."
        return [Finding("attribute-from-folders", "note", text)]
    said = {name: _bfw_said(own, name, attribute) for name in there}
    for (end, side), groups in zip(SIDES, said[there[0]], strict=True):
        own.put(f"{attribute}_{side}", groups, f"{there[0]}{end}")
    notes = []
    for name in there[1:]:
        sides = zip(said[name], said[there[0]], strict=True)
        differ = np.concatenate([_contradicts(one, other) for one, other in sides])
        times = int(np.count_nonzero(differ))
        if times:
            text = (
                f"{table.path}: '{name}1/2' and '{there[0]}1/2' disagree on {attribute} {plural(times, 'time')} "
                f"(first: {table.location(int(np.argmax(differ)) % table.n_rows)}); '{there[0]}1/2' is taken."
            )
            notes.append(Finding("columns-disagree", "note", text, {"times": times}))
    return notes


def _bfw_said(own: OwnColumns, name: str, attribute: str) -> list[CodedColumn]:
    """The levels that columns ``name``1 and ``name``2 name."""
    part = BFW_ATTRIBUTES[attribute][name]
    known = ", ".join(BFW_LEVELS[attribute])
    why = f"which names no {attribute} ({known}). Correct it, or leave it blank if it is unknown."
    return [own.meanings(f"{name}{end}", lambda value: _level(attribute, part(value)), why) for end, _ in SIDES]


def _contradicts(one: CodedColumn, other: CodedColumn) -> Bool:
    """The rows (p,) in which two columns of levels say different things."""
    _, left, right = image_codes(one, other)
    different: Bool = (left != right) & (one.codes != UNKNOWN) & (other.codes != UNKNOWN)
    return different


def _level(attribute: str, word: str) -> str:
    """``asian``, ``A``, ``females`` or ``F`` as one of BFW_LEVELS; blank for anything else."""
    word = word.lower()
    return next((level for level in BFW_LEVELS[attribute] if word in (level, level[0], f"{level}s")), "")


def _level_of_folder(attribute: str, image: str) -> str:
    found = re.search(r"(?:^|[/\\])(?P<ethnicity>[a-z]+)_(?P<gender>(?:fe)?males?)[/\\]", image)
    return "" if found is None else _level(attribute, found[attribute])


ETHNICITIES = ("African", "Asian", "Caucasian", "Indian")
RFW_SIDED = ("id", "num", "path", "p", "ethnicity")  # each with 1 and 2 after it
RFW_STRUCTURE = {"fold", "same", "label", "pair", "ethnicity", "category"}
RFW_STRUCTURE |= {f"{name}1" for name in RFW_SIDED} | {f"{name}2" for name in RFW_SIDED}
RFW_RELEASED = 24_000  # pairs of the four lists
RFW_FILE = re.compile(r"(?P<person>.+)_(?P<number>\d{1,9})(?:\.(?:jpe?g|png|npy))?", re.ASCII | re.IGNORECASE)


def image_id(ethnicity: str, person: str, number: int) -> str:
    """``African/m.0a/m.0a_0012.jpg``: 13 person ids occur under two ethnicities."""
    return f"{ethnicity}/{person}/{person}_{number:04d}.jpg"


def read_rfw_table(path: Path) -> ImportedSet:
    """RFW's pairs in a table as a set."""
    own = OwnColumns(open_own(path))
    _take_labels_and_folds(own)
    ethnicity = _rfw_ethnicities(own)
    for end, side in SIDES:
        if own.has(f"path{end}"):
            source = f"path{end}"
            images = _rfw_from_paths(own, source, ethnicity)
        else:
            source = f"id{end}, num{end}"
            images = _rfw_from_ids(own, end, ethnicity)
        own.put(side, images, source)
        own.put(f"identity_{side}", map_values(images, _folder), source)
        own.put(f"ethnicity_{side}", map_values(images, lambda image: image.partition("/")[0].lower()), source)
    return read_preset(own, ("ethnicity",), RFW_STRUCTURE, RFW_RELEASED)


def _rfw_ethnicities(own: OwnColumns) -> list[str]:
    """Ethnicity (p,) as RFW's folders are called; all blank if the table has none."""
    if not own.has("ethnicity"):
        return [""] * own.table.n_rows
    own.required_text("ethnicity", "")
    known = {name.lower(): name for name in ETHNICITIES}
    why = f"but RFW has {', '.join(ETHNICITIES)}. Is it a table of another data set?"
    return _cells(own.meanings("ethnicity", lambda value: known.get(value.lower(), ""), why))


def _rfw_from_ids(own: OwnColumns, end: str, ethnicity: list[str]) -> CodedColumn:
    """Images (p,) from the columns of persons and numbers."""
    person = _pick(own.table, f"id{end}", f"path{end}")
    number = _pick(own.table, f"num{end}")
    _pick(own.table, "ethnicity", remedy="It does not follow from the persons: some ids occur in two ethnicities.")
    own.required_text(person, "")
    own.required_text(number, "")
    people = _cells(own.meanings(person, lambda value: "" if "/" in value else value, "not a person. Correct it."))
    numbers = _cells(own.meanings(number, _whole_number, "not a number. Correct it."))
    images = []
    for parts in zip(ethnicity, people, numbers, strict=True):
        image = ""
        if all(parts):
            image = image_id(parts[0], parts[1], int(parts[2]))
        images.append(image)
    return to_column(images)


def _rfw_from_paths(own: OwnColumns, source: str, ethnicity: list[str]) -> CodedColumn:
    """Images (p,) from a column of paths, whatever folders these start with."""
    column = own.required_text(source, "")
    assert column is not None
    images = []
    odd = []
    for row, (path, group) in enumerate(zip(_cells(column), ethnicity, strict=True)):
        image = _rfw_image(path, group)
        if path and not image:
            odd.append(row)
        images.append(image)
    if odd:
        found = column.values[column.codes[odd[0]]]
        expected = ethnicity[odd[0]] or "<Ethnicity>"
        own.problem(
            "unknown-value", f"'{source}' is {found!r}, not '{expected}/<person>/<person>_0001.jpg'. Correct it.", odd
        )
    return to_column(images)


def _rfw_image(path: str, group: str) -> str:
    """The image that a path means, in the ethnicity ``group`` (blank: that of its folder); blank if none."""
    *folders, name = path.replace("\\", "/").split("/")
    file = RFW_FILE.fullmatch(name)
    found = group
    if len(folders) > 1 and folders[-2].removesuffix("_cropped") in ETHNICITIES:
        found = folders[-2].removesuffix("_cropped")
    if file is None or not found or group not in ("", found):
        return ""
    if folders and folders[-1] != file["person"]:
        return ""
    return image_id(found, file["person"], int(file["number"]))
