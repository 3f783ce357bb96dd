"""LFW: ``pairs.txt`` (View 2, ten folds) with or without its header; groups come from side tables.

Images are called ``<Name>_0001.jpg`` and identities ``<Name>``. Only images that occur in a pair are listed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.data.importers.imported import ImportedSet, assemble_import, column_of
from fairfr.data.importers.lfw_groups import GroupLabels, read_attribute_scores, read_fairface, read_side_table
from fairfr.data.importers.pair_lists import image_notes, label_lists, read_pair_list
from fairfr.data.importers.write_neutral import add_output_arguments, finish

PICTURES = ("lfw", "lfw-deepfunneled", "lfw_funneled", "lfwa")  # folders of images beside the list


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``import_data.py lfw``."""
    parser.add_argument("--root", type=Path, help="folder that holds pairs.txt (and perhaps the images in lfw/)")
    parser.add_argument("--pairs", type=Path, help="the list itself, if it is called otherwise")
    parser.add_argument("--groups", type=Path, help="csv: image or person, and one column for each attribute")
    parser.add_argument("--fairface", type=Path, help="FairFace's prediction csv: ethnicity (race4) and gender")
    parser.add_argument("--attributes", type=Path, help="lfw_attributes.txt: gender, ethnicity and eyeglasses")
    add_output_arguments(parser, "lfw")


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    if arguments.root is None and arguments.pairs is None:
        raise DataError("nothing to import: name the folder of pairs.txt with --root, or the list itself with --pairs.")
    path = arguments.pairs or arguments.root / "pairs.txt"
    labels = []
    # in this order: what a person wrote by hand goes before what was predicted
    for option, read in (
        (arguments.groups, read_side_table),
        (arguments.fairface, read_fairface),
        (arguments.attributes, read_attribute_scores),
    ):
        if option is not None:
            labels.append(read(option))
    return finish(read_lfw(path, labels, arguments.root or path.parent), arguments)


def read_lfw(path: Path, labels: Sequence[GroupLabels] = (), root: Path | None = None) -> ImportedSet:
    """The list at ``path``; of each attribute the first of ``labels`` that has it counts."""
    listed = read_pair_list(path)
    if listed.n_folds == 1:
        raise DataError(
            f"{path} is one single block of {len(listed.pairs)} pairs, without folds (a View 1 list?). "
            "Import View 2's pairs.txt, which has ten."
        )
    images = [
        (f"{pair.left}_{pair.left_number:04d}.jpg", f"{pair.right}_{pair.right_number:04d}.jpg")
        for pair in listed.pairs
    ]
    ids, pairs = label_lists(path, [listed], images)
    identity = [image.rpartition("_")[0] for image in ids]
    attributes, notes = {}, []
    for source in labels:
        new = [name for name in source.attributes if name not in attributes]
        for name in new:
            attributes[name] = column_of([source.of(name, *both) for both in zip(ids, identity, strict=True)])
        notes += source.report(new, ids, identity)
    if not labels:
        text = (
            "LFW itself has no groups: name them with --groups, --fairface or --attributes, "
            "or run with 'dataset.grouping=[]'."
        )
        notes.append(Finding("no-groups", "note", text))
    data = assemble_import(path, ids, identity, attributes, pairs)
    return replace(data, notes=(*data.notes, *listed.notes(), *notes, *_picture_notes(root, ids, identity)))


def _picture_notes(root: Path | None, ids: Sequence[str], identity: Sequence[str]) -> list[Finding]:
    folder = next((root / name for name in PICTURES if (root / name).is_dir()), None) if root is not None else None
    if folder is None:
        return []
    files = [f"{person}/{image}" for person, image in zip(identity, ids, strict=True)]
    return image_notes(folder, files, str(folder))
