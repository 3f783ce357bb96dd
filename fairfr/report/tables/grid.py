"""A table before it is LaTeX, Markdown, HTML or CSV: what each entry says and how it is marked.

Builders decide numbers, order and marks; writers only draw. What all writers ask of a Grid is here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from fairfr.core.findings import Severity
from fairfr.core.types import Source
from fairfr.stored.run import SOURCE_LABEL as SOURCE_LABEL

Tone: TypeAlias = Literal["plain", "improved", "degraded", "beyond"]
Missing: TypeAlias = Literal["no run", "too few pairs", "no groups", "no false match"]

FITTED = "Some figures are fitted to the paper, all else is not (docs/lab/standin.md)."
"""What every figure of stand-in runs says."""
FITTED_WHERE = (
    "Fitted to the paper: Baseline and AC-Linear in the headline settings, Platt and AC-Linear in the appendix's sets, "
    "nothing in the plausible settings; all else: not fitted (docs/lab/standin.md)."
)
"""What every table of stand-in runs says."""
UNDEFINED = "\u2013"
"""Stands where there is a run but no number."""
TIED = "\u2021"
"""Follows a number at a false positive rate that no threshold meets."""
TIED_WORDS = (
    f"{TIED} No threshold meets the rate, because in some fold more impostors share the highest value than it allows: "
    "numbers are interpolated and not compared."
)
UNSTEADY = "\u00b0"
"""Follows a number that rests on fewer than ten false matches."""

DECISION = "decision"
"""The code of notes that say in words what the intervals of a table decide."""
SENTENCE = 40
"""Characters from which an entry is a sentence, to be set in several lines."""


def source_title(source: Source) -> str:
    """The data source as it is written above a figure."""
    if source == "synthetic":
        return f"{SOURCE_LABEL[source]}\n{FITTED}"
    return SOURCE_LABEL[source]


@dataclass(frozen=True, slots=True)
class Entry:
    """One printed value of a table.

    ``text`` is what is printed ("" = nothing), ``spread`` what follows it in small type; ``value`` is the unrounded
    number behind it and ``printed`` the number that a reader sees. ``tone``: better or worse than the Baseline (green,
    red), or ``beyond`` the tolerance of a comparison. ``missing``: why there is no text. ``tied``: it is at a rate that
    no threshold meets, and is not compared with others.
    """

    text: str = ""
    value: float | None = None
    bold: bool = False
    tone: Tone = "plain"
    spread: str = ""
    printed: float | None = None
    missing: Missing = "no run"
    tied: bool = False

    @property
    def shown(self) -> str:
        """Text with its spread, or a dash where a run has no such number."""
        if self.text:
            return self.text + self.spread
        if self.missing == "no run":
            return ""
        return UNDEFINED


def number_entry(
    value: float | None, digits: int, *, scale: float = 1, sign: str = "", spread: str = "", tone: Tone = "plain"
) -> Entry:
    """A number with so many digits; undefined (None or NaN): too few pairs."""
    if value is None or value != value:
        return Entry(missing="too few pairs")
    rounded = 0.0 + round(scale * value, digits)  # 0.0 + turns a negative zero into zero
    return Entry(f"{rounded:{sign}.{digits}f}", value, tone=tone, spread=spread, printed=rounded)


def tied_entry(entry: Entry) -> Entry:
    """The same number, marked as one at a rate that no threshold meets; what is no number stays as it is."""
    if entry.value is None:
        return entry
    return replace(entry, spread=TIED + entry.spread, tied=True)


def fraction_entry(part: int, whole: int) -> Entry:
    """K/N; nothing where N is zero."""
    if not whole:
        return Entry()
    return Entry(f"{part}/{whole}", part / whole, printed=part / whole)


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its label and an entry for each column. ``dagger``: the method sees group labels."""

    label: str
    entries: tuple[Entry, ...]
    dagger: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Rows between two rules, under a heading ("" = none). ``panel``: the heading opens a new part of the table."""

    heading: str
    lines: tuple[Line, ...]
    panel: bool = False


@dataclass(frozen=True, slots=True)
class Spanner:
    """Neighbouring columns under one heading ("" = none)."""

    heading: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A line below a table. ``code`` says what kind it is, ``lead`` what it is about, ``commands`` what to type.

    ``for_print``: it belongs in a paper too; others are for those who work with the runs.
    """

    code: str
    text: str = ""
    lead: str = ""
    commands: tuple[str, ...] = ()
    severity: Severity = "note"
    for_print: bool = True

    def __str__(self) -> str:
        said = [self.text, " ; ".join(self.commands)]
        if self.lead:
            said.insert(0, f"{self.lead}:")
        return " ".join(part for part in said if part)


class Opening(NamedTuple):
    """What a page says below its title: ``answers`` in sentences, each with a heading, then ``notes`` on the page."""

    answers: Sequence[tuple[str, Sequence[str]]] = ()
    notes: Sequence[Note] = ()


NOTHING_TO_SAY = Opening()


@dataclass(frozen=True, slots=True)
class Grid:
    """A whole table. ``id`` is its file name and LaTeX label; ``about`` are the caption's sentences after its title.

    ``chapter`` is the part of the report that it is in. A table without sections has nothing to show yet: its one
    note says what would fill it.
    """

    id: str
    title: str
    corner: tuple[str, ...]
    spanners: tuple[Spanner, ...]
    sections: tuple[Section, ...]
    notes: tuple[Note, ...] = ()
    about: tuple[str, ...] = ()
    source: Source | None = None
    chapter: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable(spanner.columns for spanner in self.spanners))

    @property
    def heading(self) -> str:
        """The title with the data source."""
        if self.source is None:
            return f"{self.title}."
        return f"{self.title} [{SOURCE_LABEL[self.source]}]."

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the caption says after the heading; of stand-in runs also what was fitted."""
        if self.source == "synthetic" and self.sections:
            return (*self.about, FITTED_WHERE)
        return self.about

    @property
    def caption(self) -> str:
        return " ".join((self.heading, *self.sentences))

    def lines(self) -> Iterator[Line]:
        for section in self.sections:
            yield from section.lines


def mark_best(lines: list[Line], higher_is_better: Sequence[bool | None]) -> list[Line]:
    """Bold the best label-free value of each column, ties included, decided on the printed number (spread apart).

    ``higher_is_better`` has an entry for each column; None: no bold there. Lines with a dagger never win. There is no
    winner where fewer than two label-free methods have a value, where all of them print the same, or where the best
    is zero of N. Numbers at a rate that no threshold meets do not take part.
    """
    winners = [_winning_number(lines, column, better) for column, better in enumerate(higher_is_better)]
    marked = []
    for line in lines:
        if not line.dagger:
            entries = [_with_bold(entry, winner) for entry, winner in zip(line.entries, winners, strict=True)]
            line = replace(line, entries=tuple(entries))
        marked.append(line)
    return marked


def _with_bold(entry: Entry, winner: float | None) -> Entry:
    return replace(entry, bold=winner is not None and entry.printed == winner and not entry.tied)


def _winning_number(lines: list[Line], column: int, higher_is_better: bool | None) -> float | None:
    free = [line.entries[column] for line in lines if not line.dagger]
    numbers = [entry.printed for entry in free if entry.printed is not None and not entry.tied]
    if higher_is_better is None or len(set(numbers)) < 2:
        return None
    if not higher_is_better:
        return min(numbers)
    best = max(numbers)
    if best == 0:
        return None
    return best


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
