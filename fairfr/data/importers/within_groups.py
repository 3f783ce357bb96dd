"""New pairs for a data set that is here: inside groups, with as many impostors as genuine pairs, in folds without
common people.

Lists such as LFW's have hardly any impostor pair inside a small group, so nothing can be said about that group alone.
Here every group gets pairs of its own. Images, people and vectors stay those of the set.

``--impostors per-group`` draws two people of the group for each genuine pair of the group. ``--impostors per-image``
gives the left image of each genuine pair one impostor of its group, so that every kind of image has as many impostor
pairs as genuine ones, also where kinds are not named by a group.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.types import I64, UNKNOWN, Bool
from fairfr.data.files import DataFile, find_table, table_path_text
from fairfr.data.images_file import ImageTable, read_images
from fairfr.data.importers.imported_set import (
    ImportedSet,
    add_output_arguments,
    check_import,
    to_column,
    write_and_summarise,
)
from fairfr.data.pairs_file import LabelledPairs
from fairfr.data.text_table import TextTable

Impostors: TypeAlias = Literal["per-group", "per-image"]


@dataclass(frozen=True, slots=True)
class PairSampling:
    """How pairs are drawn: of each person at most ``per_person`` genuine ones, in ``folds`` folds.

    ``impostors_each``: how many impostor pairs of a group there are for each genuine one.
    """

    per_person: int = 6
    folds: int = 10
    seed: int = 0
    impostors: Impostors = "per-group"
    impostors_each: int = 1

    def __post_init__(self) -> None:
        if self.per_person < 1 or self.folds < 2:
            raise DataError("--per-person must be at least 1, and --folds at least 2.", code="wrong-option")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import within-groups``."""
    parser.add_argument("--root", type=Path, required=True, help="folder of a set in the neutral layout: data/lfw")
    parser.add_argument("--by", nargs="+", required=True, metavar="ATTRIBUTE", help="columns of images.csv")
    parser.add_argument("--per-person", type=int, default=6, help="genuine pairs of a person, at most (default: 6)")
    parser.add_argument("--impostors", choices=get_args(Impostors), default="per-group", help=_IMPOSTORS)
    parser.add_argument("--folds", type=int, default=10, help="folds without common people (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="another draw (default: 0)")
    add_output_arguments(parser, "within_groups")


_IMPOSTORS = (
    "as many as genuine pairs: of any two people of the group (default), or one for the left image of each genuine pair"
)


def run(arguments: argparse.Namespace) -> str:
    """Draw and write; returns what was made, for people."""
    path = find_table(arguments.root / "images")
    if path is None:
        raise DataError(
            f"{table_path_text(arguments.root / 'images')}: not found. --root names the folder of a data set.",
            code="missing-file",
        )
    wanted = PairSampling(arguments.per_person, arguments.folds, arguments.seed, arguments.impostors)
    data = pairs_within_groups(read_images(DataFile.at(path), tuple(arguments.by)), wanted)
    said = write_and_summarise(data, arguments)
    n_files = _copy_vectors(arguments.root / "embeddings", arguments.out / arguments.name / "embeddings")
    return f"{said}\nvectors of {n_files} backbone(s), as in {arguments.root}"


def pairs_within_groups(images: ImageTable, wanted: PairSampling) -> ImportedSet:
    """Pairs of ``images`` inside groups of all their attributes; people of unknown identity or group are left out."""
    order = np.argsort(np.array(images.ids))  # draws go over sorted ids and names: the order of a file means nothing
    usable = (images.identity != UNKNOWN) & np.all([c.codes != UNKNOWN for c in images.attributes.values()], axis=0)
    rows = order[usable[order]]
    names = zip(*(np.array(c.values)[c.codes[rows]] for c in images.attributes.values()), strict=True)
    group: I64 = np.unique(["\x1f".join(parts) for parts in names], return_inverse=True)[1]
    person: I64 = np.unique(np.array(images.people)[images.identity[rows]], return_inverse=True)[1]
    rng = np.random.default_rng(wanted.seed)
    fold_of = _folds_of_people(person, group, wanted.folds, rng)
    drawn = []
    for one in range(int(group.max(initial=-1)) + 1):
        for fold in range(wanted.folds):
            people = _by_person(person, (group == one) & (fold_of[person] == fold))
            for left, right, same in _draw(people, wanted, rng):
                drawn.append((rows[left], rows[right], same, fold))
    if not drawn:
        raise DataError(
            f"{images.path}: no group has a person with two images and a second person, so there is nothing to pair.",
            code="too-few-people",
        )
    return _assembled(images, drawn)


def _folds_of_people(person: I64, group: I64, n_folds: int, rng: np.random.Generator) -> I64:
    """The fold of each person: dealt in turn, group by group, so that every fold has people of every group."""
    first = np.unique(person, return_index=True)[1]
    shuffled = rng.permutation(len(first))
    dealt = shuffled[np.argsort(group[first][shuffled], kind="stable")]
    fold = np.empty(len(first), dtype=np.int64)
    fold[dealt] = np.arange(len(first)) % n_folds
    return fold


def _by_person(person: I64, chosen: Bool) -> list[I64]:
    """The images of each person among those that are ``chosen``."""
    return [np.flatnonzero(chosen & (person == who)) for who in np.unique(person[chosen])]


def _draw(people: Sequence[I64], wanted: PairSampling, rng: np.random.Generator) -> list[tuple[int, int, bool]]:
    """Genuine pairs of these people and as many impostors among them: left, right, same."""
    genuine: list[tuple[int, int]] = []
    for images in people:
        genuine.extend(_genuine(images, wanted.per_person, rng))
    if wanted.impostors == "per-image":
        impostors = _impostors_per_image(people, genuine, rng)
    else:
        impostors = _impostors_per_group(people, wanted.impostors_each * len(genuine), rng)
    return [(*pair, True) for pair in genuine] + [(*pair, False) for pair in sorted(impostors)]


def _impostors_per_group(people: Sequence[I64], count: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    """``count`` pairs of two of these people, or all that there are."""
    impostors: set[tuple[int, int]] = set()
    possible = sum(len(a) * len(b) for a, b in combinations(people, 2))
    while len(impostors) < min(count, possible):
        a, b = sorted(rng.choice(len(people), 2, replace=False))
        impostors.add((int(rng.choice(people[a])), int(rng.choice(people[b]))))
    return impostors


def _impostors_per_image(
    people: Sequence[I64], genuine: Sequence[tuple[int, int]], rng: np.random.Generator
) -> set[tuple[int, int]]:
    """The left image of each genuine pair with an image of somebody else, as long as there is one that it has not met.

    Everybody else is equally likely, and then each of their images, as where pairs are drawn for a group.
    """
    impostors: set[tuple[int, int]] = set()
    owner: dict[int, int] = {}
    for who, images in enumerate(people):
        owner |= dict.fromkeys(images.tolist(), who)
    for image, _ in genuine:
        strangers = []
        for who, theirs in enumerate(people):
            unmet = [int(other) for other in theirs if tuple(sorted((image, int(other)))) not in impostors]
            if who != owner[image] and unmet:
                strangers.append(unmet)
        if strangers:
            other = int(rng.choice(strangers[rng.integers(len(strangers))]))
            impostors.add((min(image, other), max(image, other)))
    return impostors


def _genuine(images: I64, most: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    pairs = [(int(a), int(b)) for a, b in combinations(images, 2)]
    if len(pairs) <= most:
        return pairs
    chosen = np.sort(rng.choice(len(pairs), most, replace=False))
    return [pairs[i] for i in chosen]


def _assembled(images: ImageTable, drawn: Sequence[tuple[np.int64, np.int64, bool, int]]) -> ImportedSet:
    left, right, same, fold = (np.array(column) for column in zip(*drawn, strict=True))
    used = np.zeros(len(images.ids), dtype=bool)
    used[left] = used[right] = True
    place = (np.cumsum(used) - 1).astype(np.int32)
    pairs = LabelledPairs(
        TextTable(DataFile(images.path, ""), (), {}, len(drawn), one_line_each=False),
        np.arange(len(drawn)),
        place[left],
        place[right],
        same.astype(bool),
        to_column([str(code) for code in fold]),
    )
    kept = images.keep(used)
    names = [images.people[code] for code in kept.identity]
    return check_import(images.path, tuple(kept.ids), names, kept.attributes, pairs)


def _copy_vectors(source: Path, target: Path) -> int:
    """The same vectors for the new set."""
    files = sorted(source.glob("*.npz"))
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, target / file.name)
    return len(files)
