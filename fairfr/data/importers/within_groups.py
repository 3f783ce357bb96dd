"""New pairs for a data set that is here: inside groups, with as many impostors as genuine pairs, in folds without
common people.

Lists such as LFW's have hardly any impostor pair inside a small group, so nothing can be said about that group alone.
Here every group gets pairs of its own. Images, people and vectors stay those of the set.

``--impostors per-group`` draws two people of the group for each genuine pair of the group. ``--impostors per-image``
gives the left image of each genuine pair one impostor of its group, so that every kind of image has as many impostor
pairs as genuine ones, also where kinds are not named by a group. ``--impostors all`` takes every pair of two people
that a group has inside a fold, and ``--impostors N`` draws N of them for each group: a false match rate of 1e-4 needs
tens of thousands.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.text import shorten_list
from fairfr.core.types import I64, UNKNOWN, Bool
from fairfr.data.files import DataFile, find_table, table_path_text
from fairfr.data.images_file import ImageTable, read_images
from fairfr.data.importers.imported_set import (
    MAX_NAMED_LEVELS,
    ImportedSet,
    add_output_arguments,
    check_import,
    write_and_summarise,
)
from fairfr.data.importers.impostor_pairs import ImpostorPairs, share_out
from fairfr.data.pairs_file import LabelledPairs
from fairfr.data.text_table import CodedColumn, TextTable

ImpostorRule: TypeAlias = Literal["per-group", "per-image", "all"]
Impostors: TypeAlias = ImpostorRule | int

MAX_PAIRS = 1_000_000
SEPARATOR = "\x1f"  # between the parts of a group's name: no value has it


@dataclass(frozen=True, slots=True)
class PairSampling:
    """How pairs are drawn: of each person at most ``per_person`` genuine ones, in ``folds`` folds.

    ``impostors``: a rule, or how many impostor pairs each group gets. ``impostors_each``: with ``per-group``, how many
    there are for each genuine pair. ``max_pairs``: with ``all`` or a number, how many pairs there may be in all.
    """

    per_person: int = 6
    folds: int = 10
    seed: int = 0
    impostors: Impostors = "per-group"
    impostors_each: int = 1
    max_pairs: int = MAX_PAIRS

    @property
    def is_numbered(self) -> bool:
        """Whether impostor pairs are drawn by number from all that there are, and not for genuine pairs."""
        return self.impostors == "all" or isinstance(self.impostors, int)

    def __post_init__(self) -> None:
        if self.per_person < 1 or self.folds < 2:
            raise DataError("--per-person must be at least 1, and --folds at least 2.", code="wrong-option")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``fairfr import within-groups``."""
    group = parser.add_argument_group("input")
    source = group.add_mutually_exclusive_group(required=True)
    source.add_argument("--from-dataset", metavar="NAME", help="the set whose images are paired, in the data root")
    source.add_argument("--root", type=Path, help=argparse.SUPPRESS)  # older: the folder of that set
    by = "columns of images.csv that make the groups"
    group.add_argument("--grouping", "--by", nargs="+", required=True, metavar="A,B", help=by)
    group = parser.add_argument_group("pairs")
    add = group.add_argument
    add("--per-person", type=int, default=6, metavar="N", help="genuine pairs of a person, at most (default: 6)")
    add("--impostors", type=_impostors, default="per-group", metavar="RULE", help=_IMPOSTORS)
    add("--max-pairs", type=int, metavar="N", help=_MAX_PAIRS)
    add("--folds", type=int, default=10, metavar="N", help="folds without common people (default: 10)")
    add("--seed", type=int, default=0, metavar="N", help="another draw (default: 0)")
    add_output_arguments(parser, "within_groups")


USAGE = "--from-dataset NAME --grouping A,B [options]"
HELP = """
Draw new pairs inside the groups of a data set, in folds without common people.

  fairfr import within-groups --from-dataset lfw --grouping ethnicity,gender \\
      --dataset lfw_within
  fairfr import within-groups --from-dataset lfw --grouping gender \\
      --impostors all --folds 2 --dataset lfw_all

Images, people and vectors are those of the first set.

next: fairfr check --dataset lfw_within --backbone mynet
"""
_IMPOSTORS = (
    "per-group: as many as genuine pairs (default); per-image: one for each genuine pair's left image; all: every pair "
    "of two people of a group and fold; a number: so many of these in each group"
)
_MAX_PAIRS = f"with all or a number: pairs of the new set, at most (default: {MAX_PAIRS:,})"


def _impostors(text: str) -> Impostors:
    """``per-image`` or ``50000``."""
    rules = get_args(ImpostorRule)
    if text in rules:
        return cast(ImpostorRule, text)
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor one of {', '.join(rules)}")


def run(arguments: argparse.Namespace) -> str:
    """Draw and write; returns what was made, for people."""
    source = arguments.root or arguments.data_root / arguments.from_dataset
    path = find_table(source / "images")
    if path is None:
        raise DataError(
            f"{table_path_text(source / 'images')}: not found. --from-dataset names a data set in --data-root.",
            code="missing-file",
        )
    wanted = PairSampling(arguments.per_person, arguments.folds, arguments.seed, arguments.impostors)
    if arguments.max_pairs is not None:
        if not wanted.is_numbered:
            raise ConfigError(
                "--max-pairs goes with --impostors all or a number: other rules follow the genuine pairs."
            )
        wanted = replace(wanted, max_pairs=arguments.max_pairs)
    grouping = ",".join(arguments.grouping).split(",")
    data = pairs_within_groups(read_images(DataFile.at(path), tuple(grouping)), wanted)
    said = write_and_summarise(data, arguments)
    n_files = _copy_vectors(source / "embeddings", arguments.data_root / arguments.dataset / "embeddings")
    return f"{said}\nvectors of {n_files} backbone(s), as in {source}"


def pairs_within_groups(images: ImageTable, wanted: PairSampling) -> ImportedSet:
    """Pairs of ``images`` inside groups of all their attributes; people of unknown identity or group are left out."""
    order = np.argsort(np.array(images.ids))  # draws go over sorted ids and names: the order of a file means nothing
    usable = (images.identity != UNKNOWN) & np.all([c.codes != UNKNOWN for c in images.attributes.values()], axis=0)
    rows = order[usable[order]]
    names = zip(*(np.array(c.values)[c.codes[rows]] for c in images.attributes.values()), strict=True)
    levels, group = np.unique([SEPARATOR.join(parts) for parts in names], return_inverse=True)
    person: I64 = np.unique(np.array(images.people)[images.identity[rows]], return_inverse=True)[1]
    rng = np.random.default_rng(wanted.seed)
    fold_of = _folds_of_people(person, group, wanted.folds, rng)
    drawn = []
    for one in range(len(levels)):
        for fold in range(wanted.folds):
            people = _by_person(person, (group == one) & (fold_of[person] == fold))
            drawn += _draw(people, wanted, rng)
    pairs = np.array(drawn, dtype=np.int64).reshape(-1, 3)
    notes = []
    if wanted.is_numbered:
        impostors = ImpostorPairs.of(group, fold_of[person], person)
        counts = _numbers_of_impostors(impostors.possible, len(pairs), wanted)
        left, right = impostors.draw(counts, rng)
        pairs = np.concatenate([pairs, np.column_stack([left, right, np.zeros_like(left)])])
        notes.append(_drawn_note(levels.tolist(), counts, impostors.possible))
    if not len(pairs):
        raise DataError(
            f"{images.path}: no group has a person with two images and a second person, so there is nothing to pair.",
            code="too-few-people",
        )
    made = _assembled(images, rows[pairs[:, 0]], rows[pairs[:, 1]], pairs[:, 2] == 1, fold_of[person[pairs[:, 0]]])
    return replace(made, notes=(*made.notes, *notes))


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
    """Genuine pairs of these people, and the impostors among them that follow from these: left, right, same."""
    genuine: list[tuple[int, int]] = []
    for images in people:
        genuine.extend(_genuine(images, wanted.per_person, rng))
    impostors: set[tuple[int, int]] = set()
    if wanted.impostors == "per-image":
        impostors = _impostors_per_image(people, genuine, rng)
    elif wanted.impostors == "per-group":
        impostors = _impostors_per_group(people, wanted.impostors_each * len(genuine), rng)
    return [(*pair, True) for pair in genuine] + [(*pair, False) for pair in sorted(impostors)]


def _numbers_of_impostors(possible: I64, n_genuine: int, wanted: PairSampling) -> I64:
    """How many impostor pairs each group gets (g,)."""
    room = wanted.max_pairs - n_genuine
    if room < 1:
        raise ConfigError(
            f"--max-pairs {wanted.max_pairs}: there are {n_genuine:,} genuine pairs already. "
            "Raise it, or lower --per-person."
        )
    if isinstance(wanted.impostors, int):
        possible = np.minimum(possible, wanted.impostors)
    return share_out(possible, room)


def _drawn_note(groups: Sequence[str], counts: I64, possible: I64) -> Finding:
    """How many impostor pairs each group got, and of how many; ``groups`` are named by the parts of their names."""
    listed = []
    for group, drawn, there in zip(groups, counts, possible, strict=True):
        name = group.replace(SEPARATOR, " ")
        listed.append(f"{name} {drawn:,} of {there:,}")
    return Finding(
        "impostors-drawn",
        "note",
        f"impostor pairs, of those that people and folds allow: {shorten_list(listed, MAX_NAMED_LEVELS)}.",
        {"drawn": int(counts.sum()), "possible": int(possible.sum())},
    )


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


def _assembled(images: ImageTable, left: I64, right: I64, same: Bool, fold: I64) -> ImportedSet:
    """The set of these pairs (p,): rows of ``images``, and the images that are in one."""
    folds, fold_code = np.unique(fold, return_inverse=True)
    pairs = LabelledPairs(
        TextTable(DataFile(images.path, ""), (), {}, len(left), one_line_each=False),
        np.arange(len(left)),
        left.astype(np.int32),
        right.astype(np.int32),
        same,
        CodedColumn(fold_code.astype(np.int32), tuple(map(str, folds))),
    )
    used = pairs.used(len(images.ids))
    kept = images.keep(used)
    names = [images.people[code] for code in kept.identity]
    return check_import(images.path, tuple(kept.ids), names, kept.attributes, pairs.renumbered(used))


def _copy_vectors(source: Path, target: Path) -> int:
    """The same vectors for the new set."""
    files = sorted(source.glob("*.npz"))
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, target / file.name)
    return len(files)
