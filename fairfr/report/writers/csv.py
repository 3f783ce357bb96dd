"""Tables as CSV: as printed, one file for each; and all of them in one tidy file with unrounded numbers and marks.

A spreadsheet would run a cell that begins with ``=``, ``+``, ``-``, ``@`` or a tab as a formula: names come from users,
so such a text gets an apostrophe in front. Numbers, also with an interval behind them, are left as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fairfr.core.text import escape_control_chars, inert_cell
from fairfr.report.tables.grid import Grid, Line, headings

TIDY = ("table", "panel", "section", "row", "needs_groups", "group", "column", "printed", "value", "bold", "mark")


def render(grid: Grid) -> str:
    """The table as printed. Caption and notes stand above it, in lines that begin with ``#``."""
    head = [_comment(str(text)) for text in (grid.caption, *grid.notes)]
    comments = "\n".join(head) + "\n"
    if not grid.sections:
        return comments
    rows = [["panel", "section", " / ".join(grid.corner), *headings(grid)]]
    for panel, section, line in _lines(grid):
        label = line.label
        if line.dagger:
            label += "†"
        rows.append([panel, section, label, *(entry.shown for entry in line.entries)])
    return comments + _written(rows)


def tidy(grids: Sequence[Grid]) -> str:
    """One line for each entry that has something in it."""
    rows: list[Sequence[Any]] = [TIDY]
    for grid in grids:
        rows.extend(_tidy_rows(grid))
    return _written(rows)


def _tidy_rows(grid: Grid) -> Iterator[list[Any]]:
    columns = []
    for spanner in grid.spanners:
        columns += [(spanner.heading, column) for column in spanner.columns]
    for panel, section, line in _lines(grid):
        for (group, column), entry in zip(columns, line.entries, strict=True):
            if entry.text:
                where = [grid.id, panel, section, line.label, int(line.dagger), group, column]
                value = ""
                if entry.value is not None:
                    value = repr(entry.value)
                yield [*where, entry.shown, value, int(entry.bold), entry.tone]


def _lines(grid: Grid) -> Iterator[tuple[str, str, Line]]:
    """Each line with the headings of its panel and section."""
    panel = ""
    for section in grid.sections:
        heading = section.heading
        if section.panel:
            panel = heading
            heading = ""
        for line in section.lines:
            yield panel, heading, line


def _comment(text: str) -> str:
    """One line; a spreadsheet divides it at commas too, so none has a formula right behind it."""
    line = " ".join(escape_control_chars(text).split("\n"))
    return "# " + re.sub(r"(?<=[,;\t])(?=[=+@\t-])", " ", line)


def _written(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([inert_cell(cell) for cell in row])
    return escape_control_chars(text.getvalue())
