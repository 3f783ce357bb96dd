"""Results as a table in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from fairfr.core.variants import Parameters, variant_text
from fairfr.core.visible import visible
from fairfr.report.readings import Reading, Run
from fairfr.report.selection import Selection
from fairfr.report.tables.columns import RESULTS
from fairfr.report.tables.grid import Line, mark_best

DAGGER = "†"


def results_table(stored: Sequence[dict[str, Any]], reading: Reading = "paper") -> Table:
    """One row for each run of one data set and backbone; the best label-free value of each column in bold.

    Rows of variants name the parameters in which they differ; what all of them share stands in the title.
    """
    results = [Run(s) for s in stored]
    _, shared = Selection(everything=True).of(results)
    lines = _lines(results, reading)
    table = Table(
        title=_title(results, reading, shared),
        caption=_caption(results, lines, reading),
        box=box.SIMPLE_HEAD,
        title_justify="left",
    )
    table.caption_justify = "left"
    table.add_column("method")  # a long label is wrapped before a number is cut short
    for column in RESULTS:
        table.add_column(column.heading, justify="right", no_wrap=True)
    table.add_column("s", justify="right", style="dim")
    for result, line in zip(results, lines, strict=True):
        # as Text: brackets in a label are part of it, not rich's markup
        label = Text(visible(line.label) + (DAGGER if line.dagger else ""))
        cells = [Text(entry.shown, style="bold" if entry.bold else "") for entry in line.entries]
        if result.stored["status"] == "failed":
            cells = [Text("failed", style="red"), *(Text("") for _ in RESULTS[1:])]
        seconds = result.stored.get("seconds")
        table.add_row(label, *cells, "" if seconds is None else f"{seconds:.1f}")
    return table


def _lines(results: Sequence[Run], reading: Reading) -> list[Line]:
    """The rows as the report would print them: what is best and what has too few pairs is decided in one place."""
    lines = [
        Line(result.label, tuple(column.entry(result, None, reading) for column in RESULTS), result.needs_groups)
        for result in results
    ]
    return mark_best(lines, [column.higher_is_better for column in RESULTS])


def _title(results: Sequence[Run], reading: Reading, shared: Parameters) -> Text:
    stored = results[0].stored
    where = visible(f"{stored['dataset']['label']} x {stored['backbone']['label']}")
    synthetic = ("   SYNTHETIC stand-in, not faces", "bold yellow") if stored["source"] == "synthetic" else ("", "")
    variant = f", {visible(variant_text(shared))}" if shared else ""
    folds = " or ".join(str(n) for n in sorted({result.n_folds for result in results if result.n_folds}))
    about = f"\nmean over {folds or 'the'} held-out folds, {reading} reading{variant}"
    return Text.assemble((where, "bold"), synthetic, (about, "dim"))


def _caption(results: Sequence[Run], lines: Sequence[Line], reading: Reading) -> str | None:
    """What the marks of this table mean; nothing where it has none."""
    is_bold = any(entry.bold for line in lines for entry in line.entries)
    marks = ["bold: best method that sees no group labels"] if is_bold else []
    marks += [f"{DAGGER} needs group labels"] if any(line.dagger for line in lines) else []
    raw = reading == "paper" and any(r.has_groups and not r.stored["method"]["native_probability"] for r in results)
    said = "worst Brier: of the raw score where a method has no probability, as in the paper" if raw else ""
    return "\n".join(filter(None, ("   ".join(marks), said))) or None
