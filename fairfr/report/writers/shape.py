"""What every form must know about a table before drawing it: its columns of words, and the order of chapters."""

from __future__ import annotations

from collections.abc import Iterable

from fairfr.report.tables.grid import Grid

SENTENCE = 40
"""Characters from which an entry is a sentence, to be set in several lines."""


def headings(grid: Grid) -> list[str]:
    """Each column's name in one line, with the heading above it."""
    found = []
    for spanner in grid.spanners:
        found += [f"{spanner.heading} {column}".strip() for column in spanner.columns]
    return found


def word_columns(grid: Grid) -> dict[int, int]:
    """Columns of words instead of numbers, each with its longest text's length."""
    longest: dict[int, int] = {}
    for line in grid.lines():
        for i, entry in enumerate(line.entries):
            if entry.text and entry.value is None:
                longest[i] = max(longest.get(i, 0), len(entry.text))
    return longest


def by_chapter(grids: Iterable[Grid]) -> list[tuple[str, list[Grid]]]:
    """Tables under the name of the chapter in which they stand, both in order of appearance."""
    chapters: dict[str, list[Grid]] = {}
    for grid in grids:
        chapters.setdefault(grid.chapter, []).append(grid)
    return list(chapters.items())
