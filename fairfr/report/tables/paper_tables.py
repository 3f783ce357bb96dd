"""The paper's tables from whatever runs exist: its main tables here, those of its appendix in appendix.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairfr.report.readings import Reading
from fairfr.report.runs import Runs
from fairfr.report.tables.appendix import appendix_tables, per_group
from fairfr.report.tables.book import Book, Place
from fairfr.report.tables.captions import Story
from fairfr.report.tables.columns import lifted, number
from fairfr.report.tables.grid import Cell, ColumnGroup, Grid, Line, Section
from fairfr.report.tables.headline import headline_table
from fairfr.report.tables.levels import levels_of
from fairfr.report.tables.order import ADAPTIVE, DENSITY, DENSITY_LOO, LABEL_FREE, SETTINGS, Row

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
    counts = [_count_wins(book, metric, DENSITY) for metric in WINS]
    left_out = [_count_wins(book, metric, DENSITY_LOO) for metric in WINS]
    sections = (
        Section("", _win_lines(counts)),
        Section("AC-Density (LOO) in the place of AC-Density", _win_lines(left_out)),
    )
    story = Story(book, (*LABEL_FREE, *ADAPTIVE), SETTINGS)
    return Grid(
        id="table4_wins",
        caption=story.caption(
            "How often an AC variant is the best label-free method for a group (the paper's Table 4)",
            "Each cell counted is one group of one data set with one backbone. Three AC variants compete, as in the "
            "paper: AC-MLP, AC-Linear and one form of AC-Density, that of the text above, the other below.",
        ),
        corner=("Metric",),
        groups=(ColumnGroup("", ("AC at best", "Most common winning variants")),),
        sections=sections,
        notes=story.notes(
            sections,
            f"Counted: {counts[0].cells} cells (108 in the paper) in which an AC variant and another label-free method "
            "have a value; below, those in which AC-Density (LOO) has one. Best as printed, in percent with two "
            "decimals; variants that tie both count.",
        ),
    )


class _Wins(NamedTuple):
    """Cells in which an AC variant is at best, cells counted, and wins of each variant (ties count for each)."""

    at_best: int
    cells: int
    variants: Counter[str]


def _win_lines(counts: Sequence[_Wins]) -> tuple[Line, ...]:
    lines = []
    for label, (at_best, cells, variants) in zip(WINS.values(), counts, strict=True):
        share = f"{at_best}/{cells} ({at_best / cells:.1%})" if cells else ""
        most = ", ".join(f"{name} ({n})" for name, n in variants.most_common(N_VARIANTS) if n)
        lines.append(Line(label, (Cell(share, at_best / cells if cells else None), Cell(most))))
    return tuple(lines)


def _count_wins(book: Book, metric: str, form: Row) -> _Wins:
    """Wins of the AC variants, of which ``form`` is the one AC-Density that competes.

    Cells without the LOO form do not count for it: it would be counted where it has not run.
    """
    at_best = cells = 0
    other = DENSITY if form is DENSITY_LOO else DENSITY_LOO
    adaptive = {row.label for row in ADAPTIVE if row is not other}
    variants = Counter({row.label: 0 for row in ADAPTIVE if row is not other})  # equal counts keep the paper's order
    for lines, n_groups in _group_lines(Book(book.runs, book.reading), metric, other):
        for column in range(n_groups):
            present = {line.label for line in lines if line.cells[column].text}
            if form is DENSITY_LOO and form.label not in present:
                continue
            if not present & adaptive or not present - adaptive:
                continue
            winners = {line.label for line in lines if line.cells[column].bold} & adaptive
            cells += 1
            at_best += bool(winners)
            variants.update(winners)
    return _Wins(at_best, cells, variants)


def _group_lines(book: Book, metric: str, without: Row) -> Iterator[tuple[list[Line], int]]:
    """For each setting with runs and groups: its label-free rows but one, with one cell for each group."""
    for setting in SETTINGS:
        result = book.some_result(setting)
        if result is None or not levels_of(result):
            continue
        places = [Place(setting, per_group(metric, group)) for group in levels_of(result)]
        lines = [
            line
            for section in book.sections(places, without=(without.id,))
            for line in section.lines
            if not line.dagger
        ]
        yield lines, len(places)
