"""A table before it is LaTeX, Markdown, HTML or CSV: what stands in each cell and how it is marked.

Builders decide numbers, order and marks; writers only draw. Nothing downstream of a Grid computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["plain", "improved", "degraded", "beyond"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed value. ``text`` is what is printed ("" = missing); ``value`` the unrounded number behind it.

    ``tone``: better or worse than the Baseline (green, red), or ``beyond`` the tolerance of a comparison.
    """

    text: str = ""
    value: float | None = None
    bold: bool = False
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its label and a cell for each column. ``dagger``: the method sees group labels."""

    label: str
    cells: tuple[Cell, ...]
    dagger: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Rows between two rules, under a heading ("" = none). ``panel``: the heading opens a new part of the table."""

    heading: str
    lines: tuple[Line, ...]
    panel: bool = False


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Neighbouring columns under one heading ("" = none)."""

    heading: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A whole table. ``id`` is its file name and LaTeX label; ``notes`` stand below it, one line each."""

    id: str
    caption: str
    corner: tuple[str, ...]
    groups: tuple[ColumnGroup, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column for group in self.groups for column in group.columns)


def mark_best(lines: list[Line], higher_is_better: list[bool | None]) -> list[Line]:
    """Bold the best label-free value of each column, ties included, decided on the printed number (spread apart).

    ``higher_is_better`` has an entry for each column; None: no bold there. Lines with a dagger never win. A column
    with fewer than two label-free values has no winner.
    """
    winners = [_winning_number(lines, column, better) for column, better in enumerate(higher_is_better)]
    return [
        line
        if line.dagger
        else Line(
            line.label,
            tuple(
                Cell(cell.text, cell.value, _wins(cell, winner), cell.tone)
                for cell, winner in zip(line.cells, winners, strict=True)
            ),
        )
        for line in lines
    ]


def _winning_number(lines: list[Line], column: int, higher_is_better: bool | None) -> float | None:
    cells = [line.cells[column] for line in lines if not line.dagger and line.cells[column].value is not None]
    if higher_is_better is None or len(cells) < 2:
        return None
    numbers = [printed_number(cell.text) for cell in cells]
    return max(numbers) if higher_is_better else min(numbers)


def _wins(cell: Cell, winner: float | None) -> bool:
    return winner is not None and cell.value is not None and printed_number(cell.text) == winner


def printed_number(text: str) -> float:
    """The number that a reader sees: ``.984``, ``0.98 ± 0.01`` and ``3/8`` all have one."""
    head = text.split("±")[0].strip()
    if "/" in head:
        part, whole = head.split("/")
        return float(part) / float(whole)
    return float(head)
