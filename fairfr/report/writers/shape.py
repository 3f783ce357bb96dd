"""What every form must know about a table before drawing it: its title, its commands, its columns of words."""

from __future__ import annotations

from fairfr.report.tables.grid import Grid

SENTENCE = 40
"""Characters from which a cell is a sentence, to be set in several lines."""


def title_of(grid: Grid) -> str:
    """The caption's first sentence."""
    return grid.caption.partition(". ")[0].removesuffix(".") + "."


def rest_of(grid: Grid) -> str:
    """The caption after its first sentence."""
    return grid.caption.partition(". ")[2]


def command_in(note: str) -> str:
    """The command line with which a note ends after its first colon, if it does."""
    rest = note.partition(": ")[2]
    return rest if rest.startswith("python ") else ""


def headings(grid: Grid) -> list[str]:
    """Each column's name in one line, with its group's."""
    return [f"{group.heading} {column}".strip() for group in grid.groups for column in group.columns]


def word_columns(grid: Grid) -> dict[int, int]:
    """Columns that hold words instead of numbers, each with its longest text's length."""
    longest: dict[int, int] = {}
    for section in grid.sections:
        for line in section.lines:
            for i, cell in enumerate(line.cells):
                if cell.text and cell.value is None:
                    longest[i] = max(longest.get(i, 0), len(cell.text))
    return longest
