"""Write a data set in the neutral layout: whole or not at all, and the same bytes every time."""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairfr.core.errors import DataError
from fairfr.core.keys import check_id
from fairfr.core.visible import visible
from fairfr.data.files import TABLE_ENDINGS
from fairfr.data.importers.imported import ImportedSet, summary
from fairfr.data.tables import CodedColumn

CHUNK = 100_000  # rows turned into text at a time
TABLES = ("images", "pairs")


def add_output_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Where the set goes: the same options for every importer."""
    parser.add_argument("--out", type=Path, default=Path("data"), help="data root to write to (default: data)")
    parser.add_argument("--name", default=name, help=f"folder inside it, the data set's id (default: {name})")
    parser.add_argument("--force", action="store_true", help="replace a different set that is already there")


def finish(data: ImportedSet, arguments: argparse.Namespace) -> str:
    """Write the set where the options say, and say what was written."""
    name: str = arguments.name
    check_id("--name", name)
    folder: Path = arguments.out / name
    outcome = write_neutral(data, folder, arguments.force)
    return visible(f"{folder}: {outcome}\n{summary(data)}")


def write_neutral(data: ImportedSet, folder: Path, force: bool = False) -> str:
    """Write images.csv and pairs.csv into ``folder``; returns what that meant for the folder.

    A new folder appears whole, by a rename. In a folder that is there already (with vectors, or an older import) the
    tables are put in one by one, pairs.csv last: without it nothing can be loaded.
    """
    _check_place(folder)
    # in or beside the target, because a rename cannot cross file systems; hidden, because it is no data set
    partial = (folder if folder.is_dir() else folder.parent) / f".{folder.name}.partial-{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)  # a killed process may have had this number
    try:
        partial.mkdir(parents=True)
        _write_table(partial / "images.csv", ["image", "identity", *data.images.attributes], _image_columns(data))
        _write_table(partial / "pairs.csv", ["fold", "left", "right", "same", *data.scores], _pair_columns(data))
        if not folder.exists():
            partial.rename(folder)
            return "written"
        return _put_in(partial, folder, force)
    except OSError as error:
        raise DataError(f"{folder} cannot be written ({error.strerror}). Choose another place with --out.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_place(folder: Path) -> None:
    if os.path.lexists(folder) and not folder.is_dir():
        raise DataError(f"{folder} is in the way: it is no folder. Remove it, or choose another --out or --name.")


def _put_in(partial: Path, folder: Path, force: bool) -> str:
    there = [path for path in folder.iterdir() if path.stem in TABLES and path.suffix in TABLE_ENDINGS]
    unchanged = {path.name for path in there} == {"images.csv", "pairs.csv"} and all(
        path.is_file() and filecmp.cmp(path, partial / path.name, shallow=False) for path in there
    )
    if unchanged:
        return "already there, unchanged"
    if there and not force:
        names = ", ".join(sorted(path.name for path in there))
        raise DataError(
            f"{folder} holds another data set already ({names}). "
            "Replace it with --force, or give this one another folder with --name."
        )
    for path in sorted(there, reverse=True):  # pairs first: an interrupted replacement must not load
        if path.is_dir():
            raise DataError(f"{path} is a folder where a table belongs. Remove it.")
        path.unlink()
    for table in TABLES:
        (partial / f"{table}.csv").rename(folder / f"{table}.csv")
    return "replaced" if there else "written"


def _write_table(path: Path, header: list[str], chunks: Iterator[Sequence[Sequence[str]]]) -> None:
    """Write ``chunks``, each a list of columns of cells that are spelled as in the file."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        handle.write(",".join(map(_cell, header)) + "\n")
        for columns in chunks:
            handle.writelines(",".join(cells) + "\n" for cells in zip(*columns, strict=True))
        handle.flush()
        os.fsync(handle.fileno())


def _cell(value: str) -> str:
    """A text as csv spells it. Done once for each distinct id: csv.writer looks at every cell of a million rows."""
    if any(mark in value for mark in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


def _spelled(column: CodedColumn) -> list[str]:
    values = [*map(_cell, column.values), ""]  # code -1 (unknown) is the last
    return [values[code] for code in column.codes.tolist()]


def _image_columns(data: ImportedSet) -> Iterator[list[list[str]]]:
    identity = CodedColumn(data.images.identity, data.people)
    attributes = data.images.attributes.values()
    yield [list(map(_cell, data.images.ids)), *(_spelled(column) for column in (identity, *attributes))]


def _pair_columns(data: ImportedSet) -> Iterator[list[list[str]]]:
    pairs, ids = data.pairs, tuple(map(_cell, data.images.ids))
    for start in range(0, len(pairs), CHUNK):
        part = slice(start, start + CHUNK)
        yield [
            _spelled(CodedColumn(pairs.fold.codes[part], pairs.fold.values)),
            [ids[image] for image in pairs.left[part].tolist()],
            [ids[image] for image in pairs.right[part].tolist()],
            ["1" if same else "0" for same in pairs.same[part].tolist()],
            *(list(map(repr, values[part].tolist())) for values in data.scores.values()),
        ]
