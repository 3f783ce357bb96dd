"""Two tables that have everything a table can have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner

NASTY = r"50 % of a_b & c#d {x} ~^ \ $5 <i> | *"


@pytest.fixture
def grid() -> Grid:
    """Two column groups, a panel, a section with a dagger, every mark, an empty cell, words and odd characters."""
    first = Line("Baseline", (Entry("0.900", 0.9), Entry("0.100", 0.1, spread="±0.020"), Entry("3/8", 0.375)))
    second = Line("FRAPPÉ", (Entry("0.950", 0.95, True, "improved"), Entry("0.2", 0.2, tone="degraded"), Entry()))
    third = Line(NASTY, (Entry("1.0", 1.0, tone="beyond"), Entry(), Entry()), dagger=True)
    return Grid(
        "odd_table",
        "A title",
        ("Method",),
        (Spanner("RFW", ("R100", "AdaFace")), Spanner("", ("K/N",))),
        (Section("Panel A", (first, second), panel=True), Section("Needs labels", (third,))),
        (
            Note("plain", "A note."),
            Note("missing", lead="To fill them", commands=("fairfr run -m method=a_b",), for_print=False),
        ),
        about=("Then more, 5 % of it.",),
        source="synthetic",
    )


@pytest.fixture
def wordy() -> Grid:
    sentence = "a sentence that is far too long for a narrow column of a table"
    line = Line("Table 1", (Entry("holds", tone="improved"), Entry(sentence), Entry("0.1", 0.1)))
    return Grid("words", "Words", ("Where",), (Spanner("", ("verdict", "why", "n")),), (Section("", (line,)),))


@pytest.fixture
def chapters(grid: Grid, wordy: Grid) -> list[Grid]:
    """Three tables in two chapters, one of which is interrupted by the other."""
    mine, paper = replace(grid, chapter="Mine"), replace(wordy, chapter="The paper")
    return [mine, paper, replace(mine, id="x")]
