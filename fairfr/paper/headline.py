"""Tables over the nine headline settings: a row for each method, a column for each data set and backbone."""

from __future__ import annotations

from collections.abc import Sequence

from fairfr.paper.order import ADAPTIVE, DATASETS, HEADLINE, HEADLINE_BACKBONES, LABEL_FREE
from fairfr.report.quantity import LIFTED
from fairfr.report.tables.columns import Column, alphas_of, has_group_brier
from fairfr.report.tables.grid import Entry, Grid, Line, Section, Spanner, mark_best
from fairfr.report.tables.layout import Layout, SettingColumn
from fairfr.report.tables.order import BASELINE, rows_of
from fairfr.report.tables.table_notes import BEST, TableNotes

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
    sections: list[Section] = []
    direction = ""
    for column in panels:
        places = [SettingColumn(setting, column) for setting in HEADLINE]
        if len(panels) > 1:
            sections.extend(layout.sections(places, blocks, column.heading))
        else:
            sections.extend(layout.sections(places, blocks))
            direction = direction_note(column)
    rows = rows_of(blocks)
    if any(column.group == LIFTED for column in panels):
        rows = (BASELINE, *rows)
    by_group = any(column.group != "all" for column in panels)
    provenance = TableNotes(layout, rows, HEADLINE, alphas_of(panels), by_group, group_brier=has_group_brier(panels))
    grid = Grid(id, title, ("Method",), SPANNERS, tuple(sections), about=(about, direction, BEST), chapter=CHAPTER)
    return provenance.annotate(grid)


def transposed_table(layout: Layout, id: str, title: str, column: Column, about: str) -> Grid:
    """A row for each setting and a column for each label-free method but the Baseline, as the paper prints LD-TPR."""
    others = tuple(row for row in rows_of(layout.blocks(HEADLINE)) if row in layout.others)
    rows = tuple(row for row in (*LABEL_FREE, *ADAPTIVE, *others) if row is not BASELINE)
    places = [SettingColumn(setting, column) for setting in HEADLINE]
    lines = [layout.line(row, places) for row in rows]
    marked = mark_best(lines, [column.higher_is_better] * len(HEADLINE))
    by_setting = {}
    for position, setting in enumerate(HEADLINE):
        by_setting[setting] = tuple(line.entries[position] for line in marked)
    sections = tuple(_data_set_section(by_setting, dataset) for dataset in DATASETS)
    names = []
    for line in marked:
        mark = "†" if line.dagger else ""
        names.append(f"{line.label}{mark}")
    provenance = TableNotes(layout, (BASELINE, *rows), HEADLINE, alphas_of([column]))
    sentences = (about, direction_note(column), BEST.replace("column", "row"))
    spanners = (Spanner("", tuple(names)),)
    return provenance.annotate(Grid(id, title, ("Backbone",), spanners, sections, about=sentences, chapter=CHAPTER))


def _data_set_section(by_setting: dict[tuple[str, str], tuple[Entry, ...]], dataset: str) -> Section:
    lines = (Line(label, by_setting[dataset, backbone]) for backbone, label in HEADLINE_BACKBONES.items())
    return Section(DATASETS[dataset], tuple(lines))


def direction_note(column: Column) -> str:
    """Which direction is good."""
    if column.higher_is_better is None:
        return ""
    if column.higher_is_better:
        return "Higher is better."
    return "Lower is better."
