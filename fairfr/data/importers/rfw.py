"""RFW: the tree ``txts/<Ethnicity>/<Ethnicity>_pairs.txt`` of its test archive, or a table made from it.

Images are called ``<Ethnicity>/<person>/<person>_0001.jpg`` and identities ``<Ethnicity>/<person>``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.data.importers.imported_set import (
    ImportedSet,
    add_output_arguments,
    check_import,
    to_column,
    write_and_summarise,
)
from fairfr.data.importers.pair_lists import PairList, label_lists, missing_image_findings, read_pair_list
from fairfr.data.importers.published_tables import ETHNICITIES, image_id, read_rfw_table

PLACES = ("txts", "test/txts", "RFW/test/txts", ".")  # where the lists may be, seen from the folder that was named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import rfw``."""
    source = parser.add_argument_group("input").add_mutually_exclusive_group(required=True)
    source.add_argument("--archive", "--root", type=Path, metavar="DIR", help="unpacked test archive, with txts/ in it")
    source.add_argument("--table", type=Path, metavar="FILE", help="a table of the pairs, such as FairCal's rfw.csv")
    add_output_arguments(parser, "rfw")


USAGE = "(--archive DIR | --table FILE) [options]"
HELP = """
Import RFW: its four pair lists, or a table that was made from them.

  fairfr import rfw --archive RFW/test
  fairfr import rfw --table rfw.csv --data-root data

The lists are txts/<Ethnicity>/<Ethnicity>_pairs.txt. Folds are blocks of 600.

next: fairfr import embeddings --dataset rfw --backbone mynet --from FILE
"""


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    if arguments.table is not None:
        return write_and_summarise(read_rfw_table(arguments.table), arguments)
    return write_and_summarise(read_rfw(arguments.archive), arguments)


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
    identity = [image.rpartition("/")[0] for image in ids]
    ethnicity = [image.partition("/")[0].lower() for image in ids]
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
        "which has txts/<Ethnicity>/<Ethnicity>_pairs.txt.",
        code="missing-file",
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
                f"{first.n_folds} of {first.block}. One of the two is cut short; restore it.",
                code="incomplete-list",
            )
