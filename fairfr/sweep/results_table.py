"""Results as a table in the terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfr.core.run_key import Parameters, variant_text
from fairfr.core.run_result import RunResult
from fairfr.core.text import escape_control_chars
from fairfr.paper.reading import reading_shared_by
from fairfr.report.run import Reading, Run
from fairfr.report.selection import Selection
from fairfr.report.tables.columns import RESULT_COLUMNS
from fairfr.report.tables.grid import FITTED, Line, mark_best

DAGGER = "†"
SECONDS = "s"
LEFT_OUT_FIRST = (SECONDS, "worst\nTPR@1e-3")
WIDE = 10_000


def results_table(stored: Sequence[RunResult], reading: Reading | None = None, width: int | None = None) -> Table:
    """One row for each run of one data set and backbone; the best label-free value of each column in bold.

    ``reading``: None is the one that the setting is read in. ``width``: of the screen; where not all fits, the columns
    of ``LEFT_OUT_FIRST`` go, one after another, so that names of methods stay whole.

    Rows of variants name the parameters in which they differ; what all of them share stands in the title.
    """
    results = [Run(s) for s in stored]
    reading = reading or reading_shared_by(stored)
    _, shared = Selection(everything=True).select(results)
    lines = _lines(results, reading)
    left_out: list[str] = []
    table = _table(results, lines, left_out)
    for heading in LEFT_OUT_FIRST:
        if width is None or _natural_width(table) <= width:
            break
        left_out.append(heading)
        table = _table(results, lines, left_out)
    table.title = _title(results, reading, shared)
    table.caption = _caption(results, lines, reading, left_out)
    return table


def _table(results: Sequence[Run], lines: Sequence[Line], left_out: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    labels = [escape_control_chars(line.label) + (DAGGER if line.dagger else "") for line in lines]
    words = [word for label in labels for word in label.split()]
    # a label of several words is wrapped before a number is cut short
    table.add_column("method", min_width=max(len(word) for word in words))
    shown = [place for place, column in enumerate(RESULT_COLUMNS) if column.heading not in left_out]
    for place in shown:
        table.add_column(RESULT_COLUMNS[place].heading, justify="right", no_wrap=True)
    if SECONDS not in left_out:
        table.add_column(SECONDS, justify="right", style="dim", no_wrap=True)
    for result, line, label in zip(results, lines, labels, strict=True):
        cells = _cells(result, line)
        row = [cells[place] for place in shown]
        if SECONDS not in left_out:
            row.append(_seconds(result))
        table.add_row(Text(label), *row)  # as Text: brackets in a label are part of it, not rich's markup
    return table


def _cells(result: Run, line: Line) -> list[Text]:
    if result.result.status == "failed":
        return [Text("failed", style="red"), *(Text("") for _ in RESULT_COLUMNS[1:])]
    return [Text(entry.shown, style="bold" if entry.bold else "") for entry in line.entries]


def _seconds(result: Run) -> Text:
    seconds = result.result.usage.seconds
    return Text("" if seconds is None else f"{seconds:,.1f}")


def _natural_width(table: Table) -> int:
    """How many characters wide a table is where nothing is wrapped."""
    return Console(width=WIDE, file=io.StringIO()).measure(table).maximum


def _lines(results: Sequence[Run], reading: Reading) -> list[Line]:
    """The rows as the report would print them: what is best and what has too few pairs is decided in one place."""
    lines = [
        Line(result.label, tuple(column.entry(result, None, reading) for column in RESULT_COLUMNS), result.needs_groups)
        for result in results
    ]
    return mark_best(lines, [column.higher_is_better for column in RESULT_COLUMNS])


def _title(results: Sequence[Run], reading: Reading, shared: Parameters) -> Text:
    first = results[0].result
    where = escape_control_chars(f"{first.dataset.label} x {first.backbone.label}")
    synthetic = ("   SYNTHETIC stand-in, not faces", "bold yellow") if first.is_synthetic else ("", "")
    variant = f", {escape_control_chars(variant_text(shared))}" if shared else ""
    folds = " or ".join(str(n) for n in sorted({result.n_folds for result in results if result.n_folds}))
    about = f"\nmean over {folds or 'the'} held-out folds, {reading} reading{variant}"
    return Text.assemble((where, "bold"), synthetic, (about, "dim"))


def _caption(results: Sequence[Run], lines: Sequence[Line], reading: Reading, left_out: Sequence[str]) -> str | None:
    """What the marks of this table mean, and what is left out; nothing where there is none of it."""
    is_bold = any(entry.bold for line in lines for entry in line.entries)
    marks = ["bold: best method that sees no group labels"] if is_bold else []
    marks += [f"{DAGGER} needs group labels"] if any(line.dagger for line in lines) else []
    raw = any(result.has_groups and result.has_raw_brier(reading) for result in results)
    said = "worst Brier: of the raw score where a method has no probability, as in the paper" if raw else ""
    fitted = FITTED if results[0].result.is_synthetic else ""
    names = ["seconds" if heading == SECONDS else heading.replace("\n", " ") for heading in left_out]
    wider = f"in a wider window also: {', '.join(names)}" if names else ""
    return "\n".join(filter(None, ("   ".join(marks), said, fitted, wider))) or None
