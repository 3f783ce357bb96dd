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
from fairfr.report.tables.columns import RESULTS, Column

DIGITS = 3
DAGGER = "†"


def results_table(stored: Sequence[dict[str, Any]], reading: Reading = "paper") -> Table:
    """One row for each run of one data set and backbone; the best label-free value of each column in bold.

    Rows of variants name the parameters in which they differ; what all of them share stands in the title.
    """
    results = [Run(s) for s in stored]
    _, shared = Selection(everything=True).of(results)
    table = Table(
        title=_title(stored[0], reading, shared), caption=_caption(stored), box=box.SIMPLE_HEAD, title_justify="left"
    )
    table.caption_justify = "left"
    table.add_column("method")  # a long label is wrapped before a number is cut short
    for column in RESULTS:
        table.add_column(column.heading, justify="right", no_wrap=True)
    table.add_column("s", justify="right", style="dim")
    best = [_best(results, column, reading) for column in RESULTS]
    for result in results:
        # as Text: brackets in a label are part of it, not rich's markup
        label = Text(visible(result.label) + (DAGGER if result.needs_groups else ""))
        cells = [_cell(result, column, reading, top) for column, top in zip(RESULTS, best, strict=True)]
        seconds = result.stored.get("seconds")
        table.add_row(label, *cells, "" if seconds is None else f"{seconds:.1f}")
    return table


def _title(stored: dict[str, Any], reading: Reading, shared: Parameters) -> Text:
    where = visible(f"{stored['dataset']['label']} x {stored['backbone']['label']}")
    synthetic = ("   SYNTHETIC stand-in, not faces", "bold yellow") if stored["source"] == "synthetic" else ("", "")
    folds = len(stored.get("data", {}).get("folds", []))
    variant = f", {visible(variant_text(shared))}" if shared else ""
    about = f"\nmean over {folds} held-out folds, {reading} reading{variant}"
    return Text.assemble((where, "bold"), synthetic, (about, "dim"))


def _caption(stored: Sequence[dict[str, Any]]) -> str:
    caption = "bold: best method that sees no group labels"
    if any("groups" in s["method"]["needs"] for s in stored):
        caption += f"   {DAGGER} needs group labels"
    return caption


def _best(results: Sequence[Run], column: Column, reading: Reading) -> float | None:
    """Decided on the rounded values that are printed, so that ties are bold together."""
    values = [
        round(value, DIGITS)
        for result in results
        if not result.needs_groups and (value := result.mean(column.metric, column.group, reading)) is not None
    ]
    if len(values) < 2:
        return None
    return max(values) if column.higher_is_better else min(values)


def _cell(result: Run, column: Column, reading: Reading, best: float | None) -> Text:
    value = result.mean(column.metric, column.group, reading)
    if value is None:
        return Text("failed" if result.stored["status"] == "failed" and column is RESULTS[0] else "", style="red")
    is_best = not result.needs_groups and best is not None and round(value, DIGITS) == best
    return Text(f"{value:.{DIGITS}f}", style="bold" if is_best else "")
