"""The few numbers by which methods of one data set and backbone are listed: in the terminal and in notebooks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fairfr.core.run_key import Parameters, variant_text
from fairfr.core.run_result import RunResult
from fairfr.core.text import escape_control_chars
from fairfr.report.tables.grid import FITTED, TIED, Entry, Line, mark_best
from fairfr.report.tables.places import RESULT_COLUMNS, entry
from fairfr.stored.reading import Reading, reading_shared_by
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection

DAGGER = "†"
SECONDS = "s"
BEST = "*"
"""Follows the best number where nothing can be bold."""
BETWEEN = "  "
SHARED_SECONDS = "s: what methods share (data, clusters) counts for the first one that needs it"


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """One line for each run. ``where`` is the data set and backbone, ``about`` what the numbers are."""

    runs: tuple[Run, ...]
    lines: tuple[Line, ...]
    where: str
    about: str

    @property
    def is_synthetic(self) -> bool:
        return self.runs[0].result.is_synthetic

    @property
    def labels(self) -> list[str]:
        """The methods; those that need group labels with a dagger."""
        return [escape_control_chars(line.label) + (DAGGER if line.dagger else "") for line in self.lines]

    def headings(self, left_out: Collection[str] = ()) -> list[str]:
        """Of the columns beside the methods."""
        return [heading for heading in (*_HEADINGS, SECONDS) if heading not in left_out]

    def rows(self, left_out: Collection[str] = ()) -> list[list[Entry]]:
        """The entries below ``headings``; of a failed run the first says so."""
        rows = []
        for run, line in zip(self.runs, self.lines, strict=True):
            entries = [*line.entries, Entry(_seconds(run))]
            if run.result.status == "failed":
                entries = [Entry("failed"), *(Entry() for _ in _HEADINGS[1:]), entries[-1]]
            named = zip((*_HEADINGS, SECONDS), entries, strict=True)
            rows.append([entry for heading, entry in named if heading not in left_out])
        return rows

    def caption(self, left_out: Sequence[str] = (), best: str = "bold", notes: Sequence[str] = ()) -> str:
        """What the marks mean, and what is left out; ``best`` marks the best number, ``notes`` are others' lines."""
        entries: list[Entry] = []
        for line in self.lines:
            entries += line.entries
        marks = []
        if any(entry.bold for entry in entries):
            marks.append(f"{best}: best method that sees no group labels")
        if any(line.dagger for line in self.lines):
            marks.append(f"{DAGGER} needs group labels")
        if any(entry.tied for entry in entries):
            marks.append(f"{TIED} no threshold meets the rate")
        said = ["   ".join(marks)]
        if any(run.has_groups and run.has_raw_brier for run in self.runs):
            said.append("worst Brier: of the raw score where a method has no probability, as in the paper")
        said += notes
        if len(self.runs) > 1 and SECONDS not in left_out:
            said.append(SHARED_SECONDS)
        if self.is_synthetic:
            said.append(FITTED)
        names = ["seconds" if heading == SECONDS else heading.replace("\n", " ") for heading in left_out]
        if names:
            said.append(f"in a wider window also: {', '.join(names)}")
        return "\n".join(filter(None, said))

    def __str__(self) -> str:
        """As plain text."""
        headings = [heading.replace("\n", " ") for heading in self.headings()]
        rows = [["method", *headings]]
        for label, entries in zip(self.labels, self.rows(), strict=True):
            rows.append([label, *(entry.shown + (BEST if entry.bold else " ") for entry in entries)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self.where, self.about, ""]
        for row in rows:
            cells = [row[0].ljust(widths[0])]
            for cell, width in zip(row[1:], widths[1:], strict=True):
                cells.append(cell.rjust(width))
            lines.append(BETWEEN.join(cells).rstrip())
        return "\n".join([*lines, self.caption(best=BEST)]).rstrip()


_HEADINGS = tuple(column.heading for column in RESULT_COLUMNS)


def results_table(stored: Sequence[RunResult], reading: Reading | None = None) -> ResultsTable:
    """One row for each run of one data set and backbone, the best label-free value of each column marked.

    ``reading``: None is the one that the setting is read in. Rows of variants name the parameters in which they differ;
    what all of them share is in ``about``.
    """
    reading = reading or reading_shared_by(stored)
    runs = [Run(one, reading=reading) for one in stored]
    _, shared = Selection(everything=True).select(runs)
    first = runs[0].result
    return ResultsTable(
        runs=tuple(runs),
        lines=tuple(_lines(runs)),
        where=escape_control_chars(f"{first.dataset.label} x {first.backbone.label}"),
        about=_about(runs, reading, shared),
    )


def _lines(runs: Sequence[Run]) -> list[Line]:
    """The rows as the report would print them: what is best and what has too few pairs is decided in one place."""
    lines = []
    for run in runs:
        entries = [entry(run, column) for column in RESULT_COLUMNS]
        lines.append(Line(run.label, tuple(entries), run.needs_groups))
    return mark_best(lines, [column.higher_is_better for column in RESULT_COLUMNS])


def _about(runs: Sequence[Run], reading: Reading, shared: Parameters) -> str:
    counts = {run.n_folds for run in runs if run.n_folds}
    folds = " or ".join(map(str, sorted(counts)))
    about = f"mean over {folds or 'the'} held-out folds, {reading} convention"
    if shared:
        about += f", {escape_control_chars(variant_text(shared))}"
    return about


def _seconds(run: Run) -> str:
    seconds = run.result.seconds
    if seconds is None:
        return ""
    return f"{seconds:,.1f}"
