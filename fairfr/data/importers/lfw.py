"""LFW: ``pairs.txt`` (View 2, ten folds) with or without its header; groups come from side tables.

Images are called ``<Name>_0001.jpg`` and identities ``<Name>``. Only images that occur in a pair are listed.

The benchmark itself has no groups: three kinds of side table have them. What a table does not say, or says with too
little confidence, is unknown (blank).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.types import F64, UNKNOWN
from fairfr.data.files import DataFile
from fairfr.data.images_file import read_attribute
from fairfr.data.importers.imported_set import (
    ImportedSet,
    add_output_arguments,
    check_import,
    to_column,
    write_and_summarise,
)
from fairfr.data.importers.own_columns import open_own
from fairfr.data.importers.pair_lists import label_lists, missing_image_findings, read_pair_list
from fairfr.data.pairs_file import LabelledPairs, index_of
from fairfr.data.text_table import TextTable, read_text

PICTURES = ("lfw", "lfw-deepfunneled", "lfw_funneled", "lfwa")  # folders of images beside the list


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import lfw``."""
    group = parser.add_argument_group("input")
    add = partial(group.add_argument, type=Path)
    add("--archive", "--root", metavar="DIR", help="folder with pairs.txt (and perhaps the images in lfw/)")
    add("--pairs", metavar="FILE", help="the list itself, if it is called otherwise")
    add("--group-table", "--groups", metavar="FILE", help="csv: image or person, and a column for each attribute")
    add("--fairface", metavar="FILE", help="FairFace's csv: face_name_align, race4, gender")
    add("--lfw-attributes", "--attributes", metavar="FILE", help=_ATTRIBUTES)
    add_output_arguments(parser, "lfw")


USAGE = "(--archive DIR | --pairs FILE) [options]"
HELP = """
Import LFW: pairs.txt, and the groups of its people from other files.

  fairfr import lfw --archive lfw --lfw-attributes lfw_attributes.txt
  fairfr import lfw --pairs pairs.txt --group-table groups.csv --dataset my_lfw

LFW itself has no groups. If several files name them, a table of your own goes
before FairFace's, and that before lfw_attributes.txt.

next: fairfr import embeddings --dataset lfw --backbone mynet --from FILE
"""
_ATTRIBUTES = "lfw_attributes.txt: person, Male, Asian, White, Black, Eyeglasses"


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    if arguments.archive is None and arguments.pairs is None:
        raise DataError(
            "nothing to import: name the folder of pairs.txt with --archive, or the list itself with --pairs.",
            code="missing-file",
        )
    path = arguments.pairs or arguments.archive / "pairs.txt"
    labels = []
    # in this order: what a person wrote by hand goes before what was predicted
    for option, read in (
        (arguments.group_table, read_side_table),
        (arguments.fairface, read_fairface),
        (arguments.lfw_attributes, read_attribute_scores),
    ):
        if option is not None:
            labels.append(read(option))
    return write_and_summarise(read_lfw(path, labels, arguments.archive or path.parent), arguments)


def read_lfw(
    path: Path, labels: Sequence[GroupLabels] = (), root: Path | None = None, there: Sequence[str] | None = None
) -> ImportedSet:
    """The list at ``path``; of each attribute the first of ``labels`` that has it counts.

    ``there``: the images are exactly these, whether in a pair or not, and pairs of others are left out.
    """
    listed = read_pair_list(path)
    if listed.n_folds == 1:
        raise DataError(
            f"{path} is one single block of {len(listed.pairs):,} pairs, without folds (a View 1 list?). "
            "Import View 2's pairs.txt, which has ten.",
            code="one-fold",
        )
    images = [
        (f"{pair.left}_{pair.left_number:04d}.jpg", f"{pair.right}_{pair.right_number:04d}.jpg")
        for pair in listed.pairs
    ]
    ids, pairs = label_lists(path, [listed], images)
    notes: list[Finding] = []
    if there is not None:
        ids, pairs, notes = _only_of(tuple(there), ids, pairs)
    identity = [image.rpartition("_")[0] for image in ids]
    attributes = {}
    for source in labels:
        new = [name for name in source.attributes if name not in attributes]
        for name in new:
            attributes[name] = to_column([source.of(name, *both) for both in zip(ids, identity, strict=True)])
        notes += source.report(new, ids, identity)
    if not labels:
        text = (
            "LFW itself has no groups: name a table of them with --group-table FILE, or run with 'dataset.grouping=[]'."
        )
        notes.append(Finding("no-groups", "note", text))
    data = check_import(path, ids, identity, attributes, pairs)
    return replace(data, notes=(*data.notes, *listed.notes(), *notes, *_picture_notes(root, ids, identity)))


def _only_of(
    there: tuple[str, ...], ids: tuple[str, ...], pairs: LabelledPairs
) -> tuple[tuple[str, ...], LabelledPairs, list[Finding]]:
    """The images ``there``, the pairs of them alone, and how many others were left out."""
    number = index_of(ids, there)
    known = (number[pairs.left] != UNKNOWN) & (number[pairs.right] != UNKNOWN)
    if not known.any():
        raise DataError(
            f"{pairs.table.path}: of none of its {len(pairs):,} pairs both images are there. Its first image is "
            f"'{ids[0]}', the first that is there '{there[0]}'."
        )
    kept = pairs.keep(known)
    notes = []
    if not known.all():
        n_lost = len(pairs) - len(kept)
        text = f"{pairs.table.path}: {n_lost:,} of {len(pairs):,} pairs are left out, because an image is not there."
        notes.append(Finding("missing-images", "warning", text, {"pairs": n_lost, "of": len(pairs)}))
    return there, replace(kept, left=number[kept.left], right=number[kept.right]), notes


def _picture_notes(root: Path | None, ids: Sequence[str], identity: Sequence[str]) -> list[Finding]:
    if root is None:
        return []
    for name in PICTURES:
        folder = root / name
        if folder.is_dir():
            files = [f"{person}/{image}" for person, image in zip(identity, ids, strict=True)]
            return missing_image_findings(folder, files, str(folder))
    return []


PERSON_COLUMNS = ("person", "identity", "name")
LONGEST_HEADER = 10_000  # bytes
# least scores, from the paper's appendix on attribute groupings
GENDER_LEAST = 0.5
EYEGLASSES_LEAST = 0.3
ETHNICITY_LEAST = 0.0
ETHNICITY_SCORES = ("Asian", "White", "Black")
SCORES = ("Male", *ETHNICITY_SCORES, "Eyeglasses")
# FairFace's script writes the short names, some of its versions the long ones
FAIRFACE = {"race4": "ethnicity", "race_preds_fair_4": "ethnicity", "gender": "gender", "gender_preds_fair": "gender"}
FAIRFACE_WORDS = {"ethnicity": ("asian", "black", "indian", "white"), "gender": ("female", "male")}


@dataclass(frozen=True, slots=True)
class GroupLabels:
    """Attributes as name -> key -> value, where a key is an image (without folder and ending) or a person."""

    path: Path
    by: str
    attributes: Mapping[str, Mapping[str, str]]
    notes: tuple[Finding, ...] = ()

    def of(self, attribute: str, image: str, person: str) -> str:
        """The value of one image; blank if unknown."""
        return self.attributes[attribute].get(self._key(image, person), "")

    def _key(self, image: str, person: str) -> str:
        if self.by == "image":
            return image_key(image)
        return person_key(person)

    def report(self, names: Sequence[str], ids: Sequence[str], people: Sequence[str]) -> list[Finding]:
        """How many images the table has an entry for; DataError if for none."""
        keys: set[str] = set()
        for values in self.attributes.values():
            keys.update(values)
        own = [self._key(image, person) for image, person in zip(ids, people, strict=True)]
        found = sum(key in keys for key in own)
        if not found:
            raise DataError(
                f"{self.path}: none of its {len(keys):,} {self.by} names occurs in the pairs (its first: "
                f"'{min(keys, default='')}', the pairs' first: '{own[0]}'). Is it a table of another data set?",
                code="unknown-image",
            )
        new = ", ".join(names) if names else "nothing that an earlier table does not have"
        text = f"{self.path}: {new}, by {self.by}, for {found:,} of {len(own):,} images."
        return [Finding("groups-from-table", "note", text, {"images": found, "of": len(own)}), *self.notes]


def image_key(name: str) -> str:
    """``lfw/AJ_Cook/AJ_Cook_0001.jpg`` -> ``AJ_Cook_0001``; the number may come without its zeros."""
    key = re.sub(r"\.(jpe?g|png|bmp)$", "", PurePosixPath(name.strip().replace("\\", "/")).name, flags=re.IGNORECASE)
    person, _, number = key.rpartition("_")
    if person and re.fullmatch(r"\d{1,9}", number, re.ASCII):
        return f"{person_key(person)}_{int(number):04d}"
    return key


def person_key(name: str) -> str:
    """``AJ Cook`` -> ``AJ_Cook``."""
    return "_".join(name.split())


def read_group_table(path: Path) -> GroupLabels:
    """A side table of any of the three kinds, told apart by the names of its columns."""
    start = DataFile.at(path).read()[:LONGEST_HEADER]
    if b"face_name_align" in start:
        return read_fairface(path)
    if b"imagenum" in start and b"\t" in start:
        return read_attribute_scores(path)
    return read_side_table(path)


def read_side_table(path: Path) -> GroupLabels:
    """A csv of ``image`` (or ``person``, ``identity``, ``name``) and attributes; blank or "unknown" is unknown."""
    table = open_own(path)
    by = next((name for name in ("image", *PERSON_COLUMNS) if name in table.names), None)
    if by is None:
        table.require("image", remedy="Add a column 'image' or 'person' that says whom a row is about.")
    assert by is not None
    names = [name for name in table.arrays if name not in ("image", *PERSON_COLUMNS)]
    if not names:
        raise DataError(
            f"{path} has no attribute besides '{by}'. Add a column such as ethnicity or gender.", code="missing-column"
        )
    key = image_key if by == "image" else person_key
    attributes = {}
    for name in names:
        values = read_attribute(table, name)
        known = ["" if value.strip().lower() == "unknown" else value.strip() for value in values.values]
        attributes[name] = _by_key(table, by, key, [[*known, ""][code] for code in values.codes.tolist()], name)
    kind = "image" if by == "image" else "person"
    return GroupLabels(path, kind, attributes)


def read_fairface(path: Path) -> GroupLabels:
    """FairFace's predictions: race4 as ethnicity, and gender. Images whose faces disagree are unknown."""
    table = open_own(path)
    table.require("face_name_align")
    attributes = {}
    notes: list[Finding] = []
    keys = [_face_key(name) for name in table.required_cells("face_name_align")]
    for attribute, words in FAIRFACE_WORDS.items():
        column = next((name for name in FAIRFACE if FAIRFACE[name] == attribute and name in table.arrays), None)
        if column is None:
            expected = "race4" if attribute == "ethnicity" else "gender"
            table.require(expected, remedy="Predict with the 4-race model.")
        assert column is not None
        values = [value.lower() for value in table.required_cells(column)]
        wrong = np.array([value not in words for value in values])
        if wrong.any():
            found = values[int(np.argmax(wrong))]
            raise DataError(
                f"{path}, {table.first_location(wrong)}: {column} is {found!r}; "
                f"FairFace says one of {', '.join(words)}. Predict again.",
                code="unknown-value",
            )
        attributes[attribute], several = _agreed(keys, values)
        if several:
            text = f"{path}: {several:,} images have faces of different {attribute}; there it is unknown."
            notes.append(Finding("faces-disagree", "note", text, {"images": several}))
    return GroupLabels(path, "image", attributes, tuple(notes))


def read_attribute_scores(path: Path) -> GroupLabels:
    """lfw_attributes.txt: scores of each image, averaged per person, and groups where the mean is confident."""
    people, scores = _attribute_rows(path)
    names, codes = np.unique(people, return_inverse=True)
    size = np.bincount(codes)
    mean = {name: np.bincount(codes, weights=scores[:, k]) / size for k, name in enumerate(SCORES)}
    best = np.argmax([mean[name] for name in ETHNICITY_SCORES], axis=0)
    highest = np.max([mean[name] for name in ETHNICITY_SCORES], axis=0)
    values = {
        "gender": _confident(mean["Male"], GENDER_LEAST, ("male", "female")),
        "ethnicity": np.where(highest >= ETHNICITY_LEAST, np.char.lower(np.array(ETHNICITY_SCORES))[best], ""),
        "eyeglasses": _confident(mean["Eyeglasses"], EYEGLASSES_LEAST, ("yes", "no")),
    }
    attributes = {name: dict(zip(names.tolist(), found.tolist(), strict=True)) for name, found in values.items()}
    return GroupLabels(path, "person", attributes)


def _confident(mean: F64, least: float, words: tuple[str, str]) -> np.typing.NDArray[np.str_]:
    return np.where(mean >= least, words[0], np.where(mean <= -least, words[1], ""))


def _attribute_rows(path: Path) -> tuple[list[str], F64]:
    """Person and the SCORES (rows, 5) of each line."""
    lines = [line.rstrip("\r") for line in read_text(path).split("\n")]
    at = next((k for k, line in enumerate(lines) if "person" in line and "\t" in line), None)
    if at is None:
        raise DataError(
            f"{path} has no line of column names ('# person <TAB> imagenum <TAB> ...'). Restore the file.",
            code="missing-column",
        )
    names = [name.strip() for name in lines[at].lstrip("#").strip().split("\t")]
    lacking = [name for name in ("person", *SCORES) if name not in names]
    if lacking:
        raise DataError(f"{path}, line {at + 1}: no column '{lacking[0]}'. Restore the file.", code="missing-column")
    wanted = [names.index(name) for name in SCORES]
    people = []
    scores = []
    for number, line in enumerate(lines[at + 1 :], at + 2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(names):
            raise DataError(
                f"{path}, line {number}: {len(cells)} cells where there are {len(names)} names. Restore it.",
                code="cells-in-row",
            )
        people.append(person_key(cells[names.index("person")]))
        scores.append([_score(path, number, cells[k]) for k in wanted])
    if not people:
        raise DataError(f"{path} has column names but no rows. Restore the file.", code="no-rows")
    return people, np.array(scores, dtype=np.float64)


def _score(path: Path, number: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise DataError(f"{path}, line {number}: {cell[:20]!r} is not a score. Restore the file.", code="not-a-number")
    return value


def _face_key(name: str) -> str:
    """FairFace's detector cuts ``AJ_Cook_0001.jpg`` into ``AJ_Cook_0001_face0.jpg`` and so on."""
    return image_key(re.sub(r"_face\d+(?=\.[A-Za-z]+$|$)", "", name.strip()))


def _agreed(keys: Sequence[str], values: Sequence[str]) -> tuple[dict[str, str], int]:
    """Value of each key, blank where rows disagree; and how many do."""
    found: dict[str, set[str]] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(key, set()).add(value)
    agreed = {}
    n_disagree = 0
    for key, labels in found.items():
        if len(labels) == 1:
            agreed[key] = min(labels)
        else:
            agreed[key] = ""
            n_disagree += 1
    return agreed, n_disagree


def _by_key(
    table: TextTable, by: str, key: Callable[[str], str], values: Sequence[str], attribute: str
) -> dict[str, str]:
    """Value of each key; DataError if two rows say different things of one."""
    found: dict[str, str] = {}
    for row, (name, value) in enumerate(zip(table.required_cells(by), values, strict=True)):
        if found.setdefault(key(name), value) != value:
            raise DataError(
                f"{table.path}, {table.location(row)}: {attribute} of '{name}' is '{value}', but an earlier row says "
                f"'{found[key(name)]}'. Keep one row for each {by}.",
                code="contradiction",
            )
    return found
