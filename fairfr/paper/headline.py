"""Tables over the nine headline settings: a row for each method, a column for each data set and backbone."""

from __future__ import annotations

from collections.abc import Sequence

from fairfr.paper.order import ADAPTIVE, DATASETS, HEADLINE, HEADLINE_BACKBONES, LABEL_FREE
from fairfr.report.quantity import LIFTED
from fairfr.report.tables.columns import Column, alphas_of, has_group_brier
from fairfr.report.tables.grid import Entry, Grid, Line, Section, Spanner, mark_best
from fairfr.report.tables.layout import Layout, SettingColumn
from fairfr.report.tables.order import BASELINE, rows_of
from fairfr.report.tables.provenance import BEST, TableNotes

SPANNERS = tuple(Spanner(label, tuple(HEADLINE_BACKBONES.values())) for label in DATASETS.values())
CHAPTER = "The paper's tables"


def headline_table(
    layout: Layout,
    id: str,
    title: str,
    panels: Sequence[Column],
    about: str = "",
    *,
    without: Sequence[str] = (),
) -> Grid:
    """One panel for each quantity; several are headed by their names."""
    blocks = layout.blocks(HEADLINE, without=without)
    sections = tuple(
        section
        for column in panels
        for section in layout.sections(
            [SettingColumn(setting, column) for setting in HEADLINE], blocks, column.heading if len(panels) > 1 else ""
        )
    )
    rows = rows_of(blocks)
    if any(column.group == LIFTED for column in panels):
        rows = (BASELINE, *rows)
    by_group = any(column.group != "all" for column in panels)
    provenance = TableNotes(layout, rows, HEADLINE, alphas_of(panels), by_group, group_brier=has_group_brier(panels))
    sentences = (about, direction_note(panels[0]) if len(panels) == 1 else "", BEST)
    return provenance.annotate(Grid(id, title, ("Method",), SPANNERS, sections, about=sentences, chapter=CHAPTER))


def transposed_table(layout: Layout, id: str, title: str, column: Column, about: str) -> Grid:
    """A row for each setting and a column for each label-free method but the Baseline, as the paper prints LD-TPR."""
    others = tuple(row for row in rows_of(layout.blocks(HEADLINE)) if row in layout.others)
    rows = tuple(row for row in (*LABEL_FREE, *ADAPTIVE, *others) if row is not BASELINE)
    marked = mark_best(
        [layout.line(row, [SettingColumn(setting, column) for setting in HEADLINE]) for row in rows],
        [column.higher_is_better] * len(HEADLINE),
    )
    by_setting = {setting: tuple(line.entries[i] for line in marked) for i, setting in enumerate(HEADLINE)}
    sections = tuple(_data_set_section(by_setting, dataset) for dataset in DATASETS)
    names = tuple(f"{line.label}†" if line.dagger else line.label for line in marked)
    provenance = TableNotes(layout, (BASELINE, *rows), HEADLINE, alphas_of([column]))
    sentences = (about, direction_note(column), BEST.replace("column", "row"))
    spanners = (Spanner("", names),)
    return provenance.annotate(Grid(id, title, ("Backbone",), spanners, sections, about=sentences, chapter=CHAPTER))


def _data_set_section(by_setting: dict[tuple[str, str], tuple[Entry, ...]], dataset: str) -> Section:
    lines = (Line(label, by_setting[dataset, backbone]) for backbone, label in HEADLINE_BACKBONES.items())
    return Section(DATASETS[dataset], tuple(lines))


def direction_note(column: Column) -> str:
    """Which direction is good."""
    if column.higher_is_better is None:
        return ""
    return "Higher is better." if column.higher_is_better else "Lower is better."
