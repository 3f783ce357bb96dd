"""The paper's tables from whatever runs exist: its main tables here, those of its appendix in appendix.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fairfr.report.appendix import appendix_tables, per_group
from fairfr.report.book import Book, Place
from fairfr.report.captions import Story
from fairfr.report.grid import Cell, ColumnGroup, Grid, Line, Section
from fairfr.report.headline_tables import headline_table
from fairfr.report.levels import levels_of
from fairfr.report.measures import lifted, number
from fairfr.report.order import ADAPTIVE, LABEL_FREE, SETTINGS
from fairfr.report.readings import Reading
from fairfr.report.runs import Runs

WINS = {"auroc": "Per-group AUROC", "pauc": "Per-group partial AUC"}
N_VARIANTS = 2


def paper_tables(runs: Runs, reading: Reading, all_methods: bool = False) -> list[Grid]:
    """Every table of the paper, in its order. Tables of one data set or backbone appear once it has a run."""
    book = Book(runs, reading, all_methods)
    return [*main_tables(book), *appendix_tables(book)]


def main_tables(book: Book) -> Iterator[Grid]:
    """Tables 1 to 4."""
    tpr = number("TPR@1e-3", "tpr_at_fpr_1e-3")
    yield headline_table(book, "table1_tpr", "Global TPR at FPR=1e-3 (the paper's Table 1)", [tpr], by_group=False)
    yield headline_table(
        book,
        "table2_worst_group",
        "Worst-group AUROC and worst-group Brier score (the paper's Table 2)",
        [
            number("Panel A: worst-group AUROC, higher is better", "auroc", "worst"),
            number("Panel B: worst-group Brier score, lower is better", "brier", "worst"),
        ],
    )
    yield headline_table(
        book,
        "table3_lu_auroc",
        "LU-AUROC, K/N groups lifted (the paper's Table 3)",
        [lifted("LU-AUROC", "auroc")],
        "K counts the groups, worst Baseline AUROC first, whose AUROC strictly improves on the Baseline before the "
        "first that does not; N the groups with a value.",
        without=("baseline",),
    )
    yield win_table(book)


def win_table(book: Book) -> Grid:
    """Table 4: for how many groups of all settings an AC variant is the best label-free method."""
    lines, cells = [], 0
    for metric, label in WINS.items():
        at_best, cells, variants = _count_wins(book, metric)
        share = f"{at_best}/{cells} ({at_best / cells:.1%})" if cells else ""
        most = ", ".join(f"{name} ({n})" for name, n in variants.most_common(N_VARIANTS) if n)
        lines.append(Line(label, (Cell(share, at_best / cells if cells else None), Cell(most))))
    sections = (Section("", tuple(lines)),)
    story = Story(book, (*LABEL_FREE, *ADAPTIVE), SETTINGS)
    return Grid(
        id="table4_wins",
        caption=story.caption(
            "How often an AC variant is the best label-free method for a group (the paper's Table 4)",
            "Each cell counted is one group of one data set with one backbone.",
        ),
        corner=("Metric",),
        groups=(ColumnGroup("", ("AC at best", "Most common winning variants")),),
        sections=sections,
        notes=story.notes(
            sections,
            f"Counted: {cells} cells (108 in the paper) in which an AC variant and another label-free method have a "
            "value. Best as printed, in percent with two decimals; variants that tie both count.",
        ),
    )


def _count_wins(book: Book, metric: str) -> tuple[int, int, Counter[str]]:
    """Cells in which an AC variant is at best, cells counted, and wins of each variant (ties count for each)."""
    at_best = cells = 0
    adaptive = {row.label for row in ADAPTIVE}
    variants = Counter({row.label: 0 for row in ADAPTIVE})  # equal counts keep the paper's order
    for lines, n_groups in _group_lines(Book(book.runs, book.reading), metric):
        for column in range(n_groups):
            present = {line.label for line in lines if line.cells[column].text}
            if not present & adaptive or not present - adaptive:
                continue
            winners = {line.label for line in lines if line.cells[column].bold} & adaptive
            cells += 1
            at_best += bool(winners)
            variants.update(winners)
    return at_best, cells, variants


def _group_lines(book: Book, metric: str) -> Iterator[tuple[list[Line], int]]:
    """For each setting with runs and groups: its label-free rows, with one cell for each group."""
    for setting in SETTINGS:
        result = book.some_result(setting)
        if result is None or not levels_of(result):
            continue
        places = [Place(setting, per_group(metric, group)) for group in levels_of(result)]
        lines = [line for section in book.sections(places) for line in section.lines if not line.dagger]
        yield lines, len(places)
