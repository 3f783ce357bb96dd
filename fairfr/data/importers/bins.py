"""Groups made from numbers: an age of 41.0 is no group, but 30-45 is one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import F64, UNKNOWN
from fairfr.data.text_table import CodedColumn, TextTable

BINS_HELP = "cut numbers into groups: age=30,45 makes under 30, 30-45 and 45+"


def read_bins(options: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The edges of each column that ``age=30,45,60`` and the like name; ConfigError if they are not rising numbers."""
    bins: dict[str, tuple[float, ...]] = {}
    for option in options:
        name, _, listed = option.partition("=")
        edges = tuple(number_in(text) for text in listed.split(","))
        rising = all(low < high for low, high in pairwise(edges))
        if not name or not all(map(math.isfinite, edges)) or not rising or name in bins:
            raise ConfigError(f"--bins {option}: write each column once, with rising numbers, such as age=30,45,60.")
        bins[name] = edges
    return bins


def bin_names(edges: Sequence[float]) -> list[str]:
    """What the groups below, between and above these edges are called."""
    spelled = [f"{edge:.12g}" for edge in edges]
    between = [f"{low}-{high}" for low, high in pairwise(spelled)]
    return [f"under {spelled[0]}", *between, f"{spelled[-1]}+"]


def cut_column(table: TextTable, name: str, edges: Sequence[float]) -> CodedColumn:
    """A column of numbers as groups; a blank is unknown.

    Parameters
    ----------
    table : TextTable
        The table.
    name : str
        The column, as the file calls it.
    edges : sequence of float
        Rising. A number that equals an edge belongs to the group above it.

    Returns
    -------
    CodedColumn
        The groups that there are, from the lowest.

    Raises
    ------
    DataError
        If a cell is not a finite number.
    """
    numbers, blank = read_numbers(table, name)
    wrong = ~blank & ~np.isfinite(numbers)
    if wrong.any():
        raise DataError(
            f"{table.path}, {table.first_location(wrong)}: '{name}' must be a number, to be cut into bins. "
            "Correct it or leave it blank.",
            code="not-a-number",
        )
    place = np.searchsorted(edges, numbers, side="right")
    used = np.unique(place[~blank])
    names = bin_names(edges)
    codes = np.searchsorted(used, place).astype(np.int32)
    codes[blank] = UNKNOWN
    return CodedColumn(codes, tuple(names[number] for number in used))


def read_numbers(table: TextTable, name: str) -> tuple[F64, np.typing.NDArray[np.bool_]]:
    """The cells as numbers, nan where they are none; and which cells are blank. (rows,) each."""
    import pyarrow as pa

    array = table.arrays[name]
    if pa.types.is_floating(array.type) or pa.types.is_integer(array.type):
        numbers = np.array(array.cast(pa.float64()).fill_null(math.nan), dtype=np.float64)
        return numbers, np.isnan(numbers)
    column = table.text(name)
    values = np.array([*(number_in(value) for value in column.values), math.nan])
    return values[column.codes], column.codes == UNKNOWN


def number_in(text: str) -> float:
    """The number that a text spells, also with a decimal comma; nan if it spells none."""
    text = text.strip()
    if re.fullmatch(r"[+-]?\d*,\d+", text, re.ASCII):
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return math.nan
