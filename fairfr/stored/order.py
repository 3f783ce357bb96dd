"""In which order tables show methods, data sets and backbones, and what they are called there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from fairfr.stored.reading import STRICT, Reading

Setting: TypeAlias = tuple[str, str]
"""A data set and a backbone."""


class MethodRow(NamedTuple):
    """A method of our tables. ``paper`` is the variant that a paper's own reading takes for it if it has run.

    ``printed`` is the id of the paper's row that it is compared with: its own, that of the method it is a form of, or
    None where the paper's tables have no such row.
    """

    id: str
    label: str
    strict: str
    paper: str
    printed: str | None = None

    def method(self, reading: Reading) -> str:
        """The method that the row asks for."""
        if reading == STRICT:
            return self.strict
        return self.paper

    def methods(self, reading: Reading) -> tuple[str, ...]:
        """The methods that can fill the row, best first: the plain one where the paper's variant has not run."""
        return tuple(dict.fromkeys((self.method(reading), self.strict)))


Block: TypeAlias = tuple[str, tuple[MethodRow, ...]]
"""Rows under a heading ("" = none)."""
BASELINE = MethodRow("baseline", "Baseline", "baseline", "baseline", printed="baseline")


@dataclass(frozen=True, eq=False)
class TableOrder:
    """What comes first in tables, and in which order; all else that has run follows by name.

    Parameters
    ----------
    blocks : tuple of (str, tuple of MethodRow)
        The methods, in blocks under headings.
    datasets, backbones : mapping of str to str
        Labels in print, by id.
    settings : tuple of (str, str)
        Data sets with their backbones.
    group_aware : tuple of MethodRow
        Methods that need group labels; a run's own declaration comes before it.
    beyond : collection of str
        Methods that are none of the rows and have a block of their own before others, called ``beyond_heading``.
    highlighted : tuple of MethodRow
        Methods that figures colour, called ``highlighted_label`` in their legend.
    duels : mapping of str to tuple of str
        Methods that are compared with another one than the Baseline where intervals are asked for, by that one's id.
    row_notes : mapping of str to str
        What to say below a table that has a row of this id.
    experiments : mapping of tuple of (str, str) to str
        The named sweep that fills a table over exactly these settings.
    """

    blocks: tuple[Block, ...] = ()
    datasets: Mapping[str, str] = field(default_factory=dict)
    backbones: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()
    group_aware: tuple[MethodRow, ...] = ()
    beyond: Collection[str] = ()
    beyond_heading: str = ""
    highlighted: tuple[MethodRow, ...] = ()
    highlighted_label: str = "highlighted"
    duels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    row_notes: Mapping[str, str] = field(default_factory=dict)
    experiments: Mapping[tuple[Setting, ...], str] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[MethodRow, ...]:
        """All rows of the blocks."""
        return rows_of(self.blocks)

    def method(self, id: str, reading: Reading) -> str:
        """The method that the row of this id asks for; any other id is a method's own."""
        return next((row.method(reading) for row in self.rows if row.id == id), id)

    def sorted(self, settings: Collection[Setting]) -> tuple[Setting, ...]:
        """These settings: those of the order first, then others by name."""
        known = tuple(setting for setting in self.settings if setting in settings)
        return (*known, *sorted(set(settings) - set(known)))


def rows_of(blocks: Collection[Block]) -> tuple[MethodRow, ...]:
    """All rows of some blocks, in order."""
    found: list[MethodRow] = []
    for _, rows in blocks:
        found += rows
    return tuple(found)


def is_called(wanted: str, *names: str) -> bool:
    """Whether a method or variant that a person typed is one of these names, apart from capitals and blanks."""
    return _bare(wanted) in map(_bare, names)


def _bare(name: str) -> str:
    return "".join(name.casefold().split())
