"""RFW: the tree ``txts/<Ethnicity>/<Ethnicity>_pairs.txt`` of its test archive, or a table made from it.

13 person ids occur under two ethnicities, so images are called ``<Ethnicity>/<person>/<person>_0001.jpg`` and
identities ``<Ethnicity>/<person>``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from fairfr.core.errors import DataError
from fairfr.data.importers.imported import ImportedSet, assemble_import, column_of
from fairfr.data.importers.pair_lists import PairList, image_notes, label_lists, read_pair_list
from fairfr.data.importers.write_neutral import add_output_arguments, finish

ETHNICITIES = ("African", "Asian", "Caucasian", "Indian")
PLACES = ("txts", "test/txts", "RFW/test/txts", ".")  # where the lists may be, seen from the folder that was named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``import_data.py rfw``."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--root", type=Path, help="unpacked test archive: the folder that holds txts/ (and data/)")
    source.add_argument("--table", type=Path, help="a table of the pairs instead, such as FairCal's rfw.csv")
    add_output_arguments(parser, "rfw")


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    if arguments.table is not None:
        from fairfr.data.importers.faircal_csv import read_rfw_table

        return finish(read_rfw_table(arguments.table), arguments)
    return finish(read_rfw(arguments.root), arguments)


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
    images = [
        (image_id(name, pair.left, pair.left_number), image_id(name, pair.right, pair.right_number))
        for name, part in zip(ETHNICITIES, lists, strict=True)
        for pair in part.pairs
    ]
    ids, pairs = label_lists(folder, lists, images)
    identity, ethnicity = describe_images(ids)
    data = assemble_import(folder, ids, identity, {"ethnicity": column_of(ethnicity)}, pairs)
    pictures = folder.parent / "data"
    return replace(
        data,
        notes=(
            *data.notes,
            *(note for part in lists for note in part.notes()),
            *image_notes(pictures, ids, str(pictures)),
        ),
    )


def _find_lists(root: Path) -> Path:
    for place in PLACES:
        if any((root / place / name).is_dir() for name in ETHNICITIES) and _has_list(root / place):
            return root / place if place != "." else root
    raise DataError(
        f"{root} holds no txts/African/African_pairs.txt. Name the folder of the unpacked RFW test archive, "
        "which holds txts/<Ethnicity>/<Ethnicity>_pairs.txt."
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
                f"{part.path} has {part.n_folds} folds of {part.block} pairs, but {first.path.name} has "
                f"{first.n_folds} of {first.block}. One of the two is cut short; restore it."
            )
