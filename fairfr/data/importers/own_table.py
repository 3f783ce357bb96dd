"""Your own tables, in your own columns: csv with commas, semicolons or tabs, or parquet.

The pairs need two columns of image ids, or a column of scores, and a column that says which pairs are of one person. A
table of images may bring identities; its other columns become attributes. Folds are made where there are none, without
common people as far as it is known who is on the images.
"""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.text import plural
from fairfr.core.types import F64, I32, I64, UNKNOWN, Bool, PlaceholderIds
from fairfr.data.images_file import MAX_GROUPS_OF_COLUMN
from fairfr.data.importers.bins import BINS_HELP
from fairfr.data.importers.imported_set import ImportedSet, add_output_arguments, check_import, write_and_summarise
from fairfr.data.importers.own_columns import OwnColumns, open_own, refuse_problems
from fairfr.data.importers.own_images import (
    STRUCTURE,
    Ends,
    cut_attributes,
    name_and_value,
    read_attributes,
    read_identity,
)
from fairfr.data.pairs_file import LabelledPairs, index_of
from fairfr.data.text_table import CodedColumn
from fairfr.data.validation import reversed_scores
from fairfr.pairs.deal import deal, linked_units
from fairfr.pairs.overlap import infer_identities
from fairfr.pairs.vectors import COSINE_RANGE

FOLDS = 10  # made where the pairs have none
DISTANCES = (0.0, 2.0)
UNKNOWN_PEOPLE = " Some images have no identity: those that genuine pairs connect count as one person."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``import table``."""
    group = parser.add_argument_group("pairs")
    group.add_argument("--pairs", type=Path, required=True, metavar="FILE", help="table: csv, tsv or parquet")
    add = group.add_argument
    add("--left", default="left", metavar="COL", help="column of the first image (default: left)")
    add("--right", default="right", metavar="COL", help="column of the second image (default: right)")
    add("--same", default="same", metavar="COL[=VALUE]", help=_SAME)
    folds = group.add_mutually_exclusive_group()
    folds.add_argument("--fold", metavar="COL", help="column of the fold (default: fold, if there is one)")
    folds.add_argument("--folds", type=int, metavar="N", help="make N folds without common people (default: 10)")
    scores = group.add_mutually_exclusive_group()
    scores.add_argument("--score", nargs="+", default=[], metavar="COL", help="columns; higher: more similar")
    scores.add_argument("--distance", nargs="+", default=[], metavar="COL", help=_DISTANCE)
    add("--score-range", "--range", nargs=2, type=float, metavar=("LOW", "HIGH"), help=_RANGE)
    group = parser.add_argument_group("images")
    add = group.add_argument
    add("--image-table", "--images", type=Path, metavar="FILE", help="table; its other columns become attributes")
    add("--image", default="image", metavar="COL", help="its column of image ids (default: image)")
    add("--identity", metavar="COL", help=_IDENTITY)
    add("--attribute", nargs="+", default=[], metavar="NAME", help=_ATTRIBUTE)
    add("--bins", action="append", default=[], metavar="NAME=A,B", help=BINS_HELP)
    add_output_arguments(parser, None)


USAGE = "--pairs FILE --dataset NAME [options]"
HELP = """
Import your own tables: pairs, and perhaps images, in your own columns.

  fairfr import table --dataset mine --pairs pairs.tsv --left img_a \\
      --right img_b --same label=genuine --image-table images.parquet
  fairfr import table --dataset mine --pairs scores.csv --score similarity

next: fairfr check --dataset mine
"""
_SAME = "1, yes or genuine for pairs of one person; or this VALUE (default: same)"
_IDENTITY = "column of people (default: identity); or of --pairs: COL,COL"
_ATTRIBUTE = "of --pairs: NAME, NAME_left and _right, or NAME=COL,COL"
_DISTANCE = "lower: more similar; cosine distances"
_RANGE = "of the scores (default: -1 1) or distances (default: 0 2)"


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found, for people."""
    _check_options(arguments)
    data = read_own_table(arguments)
    return f"{write_and_summarise(data, arguments)}\n{_what_next(data, arguments)}"


def read_own_table(arguments: argparse.Namespace) -> ImportedSet:
    """The set that the two tables describe."""
    pairs = OwnColumns(open_own(arguments.pairs))
    images = None
    if arguments.image_table is not None:
        images = OwnColumns(open_own(arguments.image_table))
    return read_columns(pairs, images, arguments)


def read_columns(pairs: OwnColumns, images: OwnColumns | None, arguments: argparse.Namespace) -> ImportedSet:
    """The set that the ``arguments`` make of these columns; DataError with all problems of both files."""
    same = pairs.labels(*name_and_value(arguments.same))
    fold = _fold(pairs, arguments)
    scores = _scores(pairs, arguments)
    ends = Ends.of(pairs, arguments)
    described = None
    if images is not None:
        described = images.each_once(arguments.image, "--image")
        ends.check_known(described, arguments.image_table)
    ends.check_labels(same)
    identity = read_identity(images or pairs, ends, arguments)
    cut_attributes(images or pairs, arguments)
    attributes, notes = read_attributes(images or pairs, ends, arguments)
    refuse_problems(images, pairs)
    assert same is not None
    if described is not None:
        place = index_of(ends.ids, described.values)
        identity = _taken(identity, place)
        attributes = {name: _taken(column, place) for name, column in attributes.items()}
        notes += _unused(len(described.values) - len(ends.ids), arguments.image_table)
    if fold is None:
        fold, found = _made_folds(identity, ends, same, arguments.folds or FOLDS)
        notes.append(found)
    rows = np.arange(pairs.table.n_rows, dtype=np.int64)
    labelled = LabelledPairs(pairs.table, rows, ends.left, ends.right, same, fold)
    people = [*identity.values, ""]
    whom = [people[code] for code in identity.codes.tolist()]
    data = check_import(arguments.image_table or arguments.pairs, ends.ids, whom, attributes, labelled)
    for name, cosine in scores.items():
        notes += reversed_scores(pairs.table.path, name, cosine, same, len(ends.ids))
    return replace(data, scores=scores, notes=(*data.notes, *notes))


def _check_options(arguments: argparse.Namespace) -> None:
    if arguments.folds is not None and arguments.folds < 2:
        raise ConfigError(f"--folds {arguments.folds}: at least two are needed.")
    if arguments.attribute and arguments.image_table is not None:
        raise ConfigError("--attribute goes without --image-table: all other columns of the images become attributes.")
    if arguments.score_range is not None and not arguments.score_range[0] < arguments.score_range[1]:
        raise ConfigError("--score-range LOW HIGH: the first must be the lower one.")
    for name in _named(arguments.score + arguments.distance):
        if name in STRUCTURE:
            raise ConfigError(f"--score {name}: '{name}' means something else in pairs.csv. Rename the column.")


def _named(columns: list[str]) -> list[str]:
    """Names of score columns as they can be typed after backbone.column=."""
    return [re.sub(r"[^\w.-]+", "_", column.strip()) for column in columns]


def _fold(pairs: OwnColumns, arguments: argparse.Namespace) -> CodedColumn | None:
    """The folds of the file; None: they are to be made."""
    if arguments.folds is not None or (arguments.fold is None and not pairs.has("fold")):
        return None
    column = pairs.required_text(arguments.fold or "fold", "--fold")
    if column is not None and len(column.values) == 1:
        pairs.problem("one-fold", f"there is one fold only, '{column.values[0]}'. Make some with --folds 10.")
    return column


def _scores(pairs: OwnColumns, arguments: argparse.Namespace) -> dict[str, F64]:
    """Cosines (p,) by the name that they get."""
    columns: list[str] = arguments.score + arguments.distance
    option = "--score"
    bounds = COSINE_RANGE
    if arguments.distance:
        option = "--distance"
        bounds = DISTANCES
    if arguments.score_range is not None:
        bounds = tuple(arguments.score_range)
    low, high = bounds
    found = {}
    for column, name in zip(columns, _named(columns), strict=True):
        values = pairs.scores(column, option, bounds)
        if values is None:
            continue
        if arguments.distance:
            values = 1 - 2 * (values - low) / (high - low)
        elif bounds != COSINE_RANGE:
            values = 2 * (values - low) / (high - low) - 1
        found[name] = values
    return found


def _taken(column: CodedColumn, place: I32) -> CodedColumn:
    return CodedColumn(column.codes[place], column.values)


def _unused(count: int, path: Path) -> list[Finding]:
    if not count:
        return []
    text = f"{path}: {plural(count, 'image')} in no pair; left out."
    return [Finding("unused-images", "note", text, {"images": count})]


def _made_folds(identity: CodedColumn, ends: Ends, same: Bool, count: int) -> tuple[CodedColumn, Finding]:
    if isinstance(ends.ids, PlaceholderIds):
        return _folds_of_rows(same, count)
    return _folds_of_people(identity.codes, ends.left, ends.right, same, count)


def _folds_of_rows(same: Bool, count: int) -> tuple[CodedColumn, Finding]:
    """Folds (p,) for pairs whose images have no ids: each gets its share of both classes."""
    order = np.random.default_rng(0).permutation(len(same))
    by_class = order[np.argsort(same[order], kind="stable")]
    fold = np.empty(len(same), dtype=np.int32)
    fold[by_class] = np.arange(len(same)) % count
    text = "It is not known who is on the images, so the same people may be in several of the new folds."
    return _column(fold, count), Finding("folds-of-rows", "warning", text)


def _folds_of_people(identity: I32, left: I32, right: I32, same: Bool, count: int) -> tuple[CodedColumn, Finding]:
    """Folds (p,) for pairs of images ``left``, ``right`` (p,) of people ``identity`` (n,), -1 = unknown."""
    people = infer_identities(identity, left[same], right[same])
    unit, n_cut = linked_units(people[left], people[right], count)
    n_units = int(unit.max()) + 1
    if n_units < count:
        raise DataError(
            f"{len(same):,} pairs of so few people cannot be dealt to {count} folds. Use --folds {n_units}.",
            code="too-few-people",
        )
    fold = deal(unit, same.astype(np.int64), count)[_first_of_its_kind(left, right)]
    known = "" if np.all(identity != UNKNOWN) else UNKNOWN_PEOPLE
    if n_cut:
        text = (
            "Pairs link so many people that the new folds cannot be without common people. "
            f"protocol=identity_disjoint leaves out the training pairs that share people with a tested fold.{known}"
        )
        return _column(fold, count), Finding("folds-share-people", "warning", text)
    return _column(fold, count), Finding(
        "folds-without-common-people", "note", f"No two new folds share people.{known}"
    )


def _first_of_its_kind(left: I32, right: I32) -> I64:
    """The first row with the same two images, (p,): a pair that comes twice is tested in one fold."""
    ends = np.sort(np.column_stack([left, right]), axis=1)
    _, first, kind = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    rows: I64 = first[kind.ravel()]
    return rows


def _column(fold: np.typing.NDArray[np.integer], count: int) -> CodedColumn:
    return CodedColumn(fold.astype(np.int32), tuple(map(str, range(count))))


def _what_next(data: ImportedSet, arguments: argparse.Namespace) -> str:
    """Commands that go on from here."""
    check = ["fairfr", "check", "--dataset", arguments.dataset]
    run = ["fairfr", "run", f"dataset={arguments.dataset}"]
    vectors = ["fairfr", "import", "embeddings", "--dataset", arguments.dataset]
    vectors += ["--backbone", "mynet", "--from", "FILE"]
    commands = [check, run]
    if data.scores:
        column = next(iter(data.scores))
        check += ["--score", column]
        run += ["backbone=scores", f"backbone.column={column}", "method=beta"]
    else:
        commands.insert(0, vectors)
        check += ["--backbone", "mynet"]
        run += ["backbone=mynet", "method=ac_hinge"]
    groups = [
        name for name, column in data.images.attributes.items() if 1 < len(set(column.codes)) <= MAX_GROUPS_OF_COLUMN
    ]
    if groups:
        check += ["--grouping", groups[0]]
        run.append(f"dataset.grouping=[{groups[0]}]")
    if arguments.data_root != Path("data"):
        vectors += ["--data-root", str(arguments.data_root)]
        check += ["--data-root", str(arguments.data_root)]
        run.append(f"data_root={arguments.data_root}")
    return "next: " + "\nthen: ".join(shlex.join(command) for command in commands)
