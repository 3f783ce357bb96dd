"""The text of a csv file: whether it is one, where its records stand, and whether they have the cells they should."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from fairfr.core.errors import DataError
from fairfr.data.files import looks_like


def check_text(path: Path, data: bytes) -> None:
    """DataError unless the bytes are UTF-8 text (with or without a byte order mark)."""
    found = looks_like(data)
    if found is not None:
        raise DataError(f"{path} is not a csv: it is {found}. Export it as csv, or give it the ending of what it is.")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text. Save the file as UTF-8."
        ) from None


def records(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """(line on which it starts, cells) of each record, empty lines skipped."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline=""), strict=True)
    line = 1
    for cells in reader:
        if cells:
            yield line, cells
        line = reader.line_num + 1


def header_of(path: Path, data: bytes) -> tuple[str, ...]:
    """The names in the first line that is not empty."""
    try:
        names = next((cells for _, cells in records(data)), None)
    except csv.Error as error:
        raise _unreadable(path, 0, error) from None
    if names is None:
        raise DataError(f"{path} holds only empty lines. Import or export it again.")
    return tuple(names)


def check_cells(path: Path, data: bytes, n_columns: int) -> None:
    """DataError at the first record without exactly ``n_columns`` cells, or with a quote that never closes."""
    line = 0
    try:
        for line, cells in records(data):
            if len(cells) != n_columns:
                raise DataError(
                    f"{path}, line {line}: {len(cells)} cells where the header has {n_columns}. "
                    "Correct the row; put values that contain a comma in double quotes."
                )
    except csv.Error as error:
        raise _unreadable(path, line, error) from None


def _unreadable(path: Path, line: int, error: csv.Error) -> DataError:
    return DataError(
        f"{path}: the record that starts after line {line} cannot be read ({error}). "
        "Look for a quote that is not closed."
    )
