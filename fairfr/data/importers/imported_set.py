"""A data set from foreign files: checked as strictly as the loader will, and written to the neutral layout.

It is written whole or not at all, and with the same bytes every time.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.names import SIDES
from fairfr.core.run_key import check_path_name
from fairfr.core.text import escape_control_chars, plural, shorten_list
from fairfr.core.types import F64, I32, UNKNOWN, PlaceholderIds
from fairfr.data.files import TABLE_ENDINGS
from fairfr.data.images_file import MAX_GROUPS_OF_COLUMN, ImageTable
from fairfr.data.pairs_file import LabelledPairs, fold_codes, index_of
from fairfr.data.text_table import CodedColumn
from fairfr.data.validation import (
    check_folds,
    check_pairs,
    genuine_shares,
    identity_findings,
    levels_for_unknown,
    share_findings,
    similar_value_findings,
)
from fairfr.pairs.overlap import folds_per_value, pair_keys

if TYPE_CHECKING:
    import pandas as pd

MIN_PAIRS = 20  # inside a group: with fewer its share of genuine pairs says little
MAX_NAMED_LEVELS = 12  # folds, or levels of an attribute, named in the summary


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """What will be written: ``people`` are the names that ``images.identity`` indexes, ``scores`` (p,) by column."""

    images: ImageTable
    people: tuple[str, ...]
    pairs: LabelledPairs
    scores: Mapping[str, F64]
    notes: tuple[Finding, ...]

    @property
    def has_ids(self) -> bool:
        """Whether images are named; where only scores are known, each pair has two images of its own."""
        return not isinstance(self.images.ids, PlaceholderIds)


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How much there is of everything; ``mixed`` pairs have images of two known, different groups.

    ``genuine_shares``: of the pairs inside each group.
    """

    images: int
    identities: int
    pairs: int
    folds: tuple[str, ...]
    genuine: int
    mixed: Mapping[str, int]
    unknown: Mapping[str, int]
    duplicates: int
    shared_identities: int
    genuine_shares: Mapping[str, Mapping[str, float]]


def map_values(column: CodedColumn, meaning: Callable[[str], str]) -> CodedColumn:
    """The column with each distinct value replaced by its meaning; blank meanings are unknown."""
    meanings = [meaning(value) for value in column.values]
    values = tuple(dict.fromkeys(value for value in meanings if value))
    # one more entry at the end, so that code -1 (blank) stays -1
    number = np.append(index_of(meanings, values), np.int32(UNKNOWN))
    return CodedColumn(number[column.codes], values)


def to_column(values: Sequence[str]) -> CodedColumn:
    """One value for each image as a column; blank is unknown."""
    distinct = tuple(dict.fromkeys(value for value in values if value))
    return CodedColumn(index_of(values, distinct), distinct)


def image_codes(left: CodedColumn, right: CodedColumn) -> tuple[tuple[str, ...], I32, I32]:
    """The sorted ids of all images that two columns name, and which of them each row's two images are (p,)."""
    ids = tuple(sorted({*left.values, *right.values}))
    return ids, index_of(left.values, ids)[left.codes], index_of(right.values, ids)[right.codes]


def check_import(
    path: Path,
    ids: tuple[str, ...] | PlaceholderIds,
    identity: Sequence[str],
    attributes: Mapping[str, CodedColumn],
    pairs: LabelledPairs,
) -> ImportedSet:
    """The set, or DataError for what the loader would refuse; oddities become notes."""
    who = to_column(identity)
    images = ImageTable(path, ids, who.codes, attributes, who.values)
    fold, labels = fold_codes(pairs)
    # more levels are names or numbers rather than groups
    levels = {name: column.values for name, column in attributes.items() if len(column.values) <= MAX_GROUPS_OF_COLUMN}
    notes = [
        *check_pairs(pairs, ids),
        *check_folds(pairs, fold, labels),
        *identity_findings(pairs, images.identity, fold),
        *similar_value_findings(pairs.table.path, "folds", labels),
    ]
    for name, values in levels.items():
        notes += similar_value_findings(path, f"values of {name}", values)
        notes += levels_for_unknown(path, name, values)
    notes += share_findings(_shares(images, pairs))
    return ImportedSet(images, who.values, pairs, {}, tuple(notes))


def _shares(images: ImageTable, pairs: LabelledPairs) -> dict[str, dict[str, float]]:
    """The share of genuine pairs inside each group of each attribute that has few enough values."""
    shares = {}
    for name, column in images.attributes.items():
        if len(column.values) <= MAX_GROUPS_OF_COLUMN:
            left = column.codes[pairs.left]
            group = np.where(left == column.codes[pairs.right], left, np.int32(UNKNOWN))
            shares[name] = genuine_shares(column.values, group, pairs.same, MIN_PAIRS)
    return shares


def count_import(data: ImportedSet) -> ImportCounts:
    """Count what there is."""
    pairs = data.pairs
    images = data.images
    fold, labels = fold_codes(pairs)
    n = len(images.ids)
    key = pair_keys(pairs.left, pairs.right, n)
    mixed = {}
    unknown = {}
    for name, column in images.attributes.items():
        left = column.codes[pairs.left]
        right = column.codes[pairs.right]
        mixed[name] = int(np.count_nonzero((left != right) & (left != UNKNOWN) & (right != UNKNOWN)))
        unknown[name] = int(np.count_nonzero(column.codes == UNKNOWN))
    folds_of = folds_per_value(images.identity[pairs.left], images.identity[pairs.right], fold)
    return ImportCounts(
        images=n,
        identities=len(data.people),
        pairs=len(pairs),
        folds=labels,
        genuine=int(np.count_nonzero(pairs.same)),
        mixed=mixed,
        unknown=unknown,
        duplicates=len(key) - len(np.unique(key)),
        shared_identities=int(np.count_nonzero(folds_of > 1)),
        genuine_shares=_shares(images, pairs),
    )


def summarise_import(data: ImportedSet) -> str:
    """What was found, for people: the counts, then whatever is odd."""
    found = count_import(data)
    lines = []
    if data.has_ids:
        lines.append(f"images                {found.images:,}")
        lines.append(f"identities            {found.identities:,}")
    lines += [
        f"pairs                 {found.pairs:,} ({found.genuine:,} genuine, {found.pairs - found.genuine:,} impostor)",
        f"folds                 {len(found.folds)} ({shorten_list(found.folds, MAX_NAMED_LEVELS)})",
    ]
    if data.has_ids:
        lines.append(f"duplicate pairs       {found.duplicates:,}")
        lines.append(f"identities in several folds  {found.shared_identities:,}")
    for name, column in data.images.attributes.items():
        levels = ", ".join(sorted(column.values))
        if len(column.values) > MAX_NAMED_LEVELS:
            levels = f"{len(column.values):,} values"
        lines.append(
            f"{name}: {levels}; {plural(found.mixed[name], 'mixed pair')}, "
            f"{plural(found.unknown[name], 'image')} unknown"
        )
        shares = found.genuine_shares.get(name, {})
        if shares:
            listed = [f"{group} {shares[group]:.0%}" for group in sorted(shares)]
            lines.append(f"  genuine pairs: {shorten_list(listed, MAX_NAMED_LEVELS)}")
    if data.scores:
        lines.append(f"score columns: {', '.join(data.scores)} (backbone=scores backbone.column=...)")
    return "\n".join([*lines, *(f"note: {note}" for note in data.notes)])


TABLES = ("images", "pairs")


def add_output_arguments(parser: argparse.ArgumentParser, name: str | None) -> None:
    """Where the set goes: the same options for every importer; without a ``name`` of its own it must be given one."""
    group = parser.add_argument_group("output")
    default = f" (default: {name})" if name else ""
    called = f"what the new set is called: a folder in the data root{default}"
    group.add_argument("--dataset", "--name", default=name, required=name is None, metavar="NAME", help=called)
    add_data_root(group)
    group.add_argument("--force", action="store_true", help="replace a different set that is already there")


def add_data_root(parser: argparse._ActionsContainer) -> None:
    """The folder of data sets."""
    root = "folder of all data sets (default: data)"
    parser.add_argument("--data-root", "--out", type=Path, default=Path("data"), metavar="DIR", help=root)


def write_and_summarise(data: ImportedSet, arguments: argparse.Namespace) -> str:
    """Write the set where the options say, and say what was written."""
    name: str = arguments.dataset
    check_path_name("--dataset", name)
    folder: Path = arguments.data_root / name
    outcome = write_neutral(data, folder, arguments.force)
    return escape_control_chars(f"{folder}: {outcome}\n{summarise_import(data)}")


def write_neutral(data: ImportedSet, folder: Path, force: bool = False) -> str:
    """Write pairs.csv, and images.csv if images have ids, into ``folder``; returns what that meant for the folder.

    A new folder appears whole, by a rename. In a folder that is there already (with vectors, or an older import) the
    tables are put in one by one, pairs.csv last: without it nothing can be loaded.
    """
    _check_place(folder)
    # in or beside the target, because a rename cannot cross file systems; hidden, because it is not a data set
    beside = folder if folder.is_dir() else folder.parent
    partial = beside / f".{folder.name}.partial-{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)  # a killed process may have had this number
    try:
        partial.mkdir(parents=True)
        if data.has_ids:
            _write_table(partial / "images.csv", _images_table(data))
        _write_table(partial / "pairs.csv", _pairs_table(data))
        if not folder.exists():
            partial.rename(folder)
            return "written"
        return _put_in(partial, folder, force)
    except OSError as error:
        raise DataError(
            f"{folder} cannot be written ({error.strerror}). Choose another place with --data-root.",
            code="cannot-write",
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_place(folder: Path) -> None:
    if os.path.lexists(folder) and not folder.is_dir():
        raise DataError(
            f"{folder} is in the way: it is not a folder. Remove it, or choose another --data-root or --dataset.",
            code="in-the-way",
        )


def _put_in(partial: Path, folder: Path, force: bool) -> str:
    there = [path for path in folder.iterdir() if path.stem in TABLES and path.suffix in TABLE_ENDINGS]
    unchanged = {path.name for path in there} == {path.name for path in partial.iterdir()} and all(
        path.is_file() and filecmp.cmp(path, partial / path.name, shallow=False) for path in there
    )
    if unchanged:
        return "already there, unchanged"
    if there and not force:
        names = ", ".join(sorted(path.name for path in there))
        raise DataError(
            f"{folder} already has another data set ({names}). "
            "Replace it with --force, or give this one another name with --dataset.",
            code="in-the-way",
        )
    for path in sorted(there, reverse=True):  # pairs first: an interrupted replacement must not load
        if path.is_dir():
            raise DataError(f"{path} is a folder where a table belongs. Remove it.", code="in-the-way")
        path.unlink()
    for table in sorted(partial.iterdir()):  # images first
        table.rename(folder / table.name)
    return "replaced" if there else "written"


def _write_table(path: Path, table: pd.DataFrame) -> None:
    with path.open("w", encoding="utf-8", newline="") as handle:
        table.to_csv(handle, index=False, lineterminator="\n")
        handle.flush()
        os.fsync(handle.fileno())


def _categorical(column: CodedColumn) -> pd.Categorical:
    """The column for pandas: texts are spelled once for each distinct value, and unknown is blank."""
    import pandas as pd

    return pd.Categorical.from_codes(column.codes, pd.Index(column.values, dtype=object))


def _images_table(data: ImportedSet) -> pd.DataFrame:
    import pandas as pd

    columns = {"identity": CodedColumn(data.images.identity, data.people), **data.images.attributes}
    spelled = {name: _categorical(column) for name, column in columns.items()}
    return pd.DataFrame({"image": list(data.images.ids), **spelled})


def _pairs_table(data: ImportedSet) -> pd.DataFrame:
    """The pairs; where images have no ids, their attributes are in columns of the pairs."""
    import pandas as pd

    pairs = data.pairs
    columns: dict[str, Any] = {"fold": _categorical(pairs.fold)}
    if data.has_ids:
        ids = tuple(data.images.ids)
        columns["left"] = _categorical(CodedColumn(pairs.left, ids))
        columns["right"] = _categorical(CodedColumn(pairs.right, ids))
    columns["same"] = pairs.same.astype(np.int8)
    columns.update(data.scores)
    if not data.has_ids:
        for name, column in data.images.attributes.items():
            for side, ends in zip(SIDES, (pairs.left, pairs.right), strict=True):
                columns[name + side] = _categorical(CodedColumn(column.codes[ends], column.values))
    return pd.DataFrame(columns)
