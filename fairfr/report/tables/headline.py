"""Tables over the nine headline settings: a row for each method, a column for each data set and backbone."""

from __future__ import annotations

from collections.abc import Sequence

from fairfr.report.tables.book import Book, Place
from fairfr.report.tables.captions import BEST, Story
from fairfr.report.tables.columns import Measure
from fairfr.report.tables.grid import Cell, ColumnGroup, Grid, Line, Section, mark_best
from fairfr.report.tables.order import ADAPTIVE, BASELINE, DATASETS, HEADLINE, HEADLINE_BACKBONES, LABEL_FREE

COLUMNS = tuple(ColumnGroup(label, tuple(HEADLINE_BACKBONES.values())) for label in DATASETS.values())


def headline_table(
    book: Book,
    id: str,
    title: str,
    panels: Sequence[Measure],
    about: str = "",
    *,
    without: Sequence[str] = (),
    by_group: bool = True,
) -> Grid:
    """One panel for each measure; several are headed by their names."""
    sections = tuple(
        section
        for measure in panels
        for section in book.sections(
            [Place(setting, measure) for setting in HEADLINE], measure.heading if len(panels) > 1 else "", without
        )
    )
    rows = tuple(row for _, rows in book.blocks(without) for row in rows)
    if any(measure.against_baseline for measure in panels):
        rows = (BASELINE, *rows)
    story = Story(book, rows, HEADLINE, alphas_of(panels), by_group)
    sentences = [about, better(panels[0]) if len(panels) == 1 else "", BEST]
    return Grid(
        id=id,
        caption=story.caption(title, *filter(None, sentences)),
        corner=("Method",),
        groups=COLUMNS,
        sections=sections,
        notes=story.notes(sections),
    )


def transposed_table(book: Book, id: str, title: str, measure: Measure, about: str) -> Grid:
    """A row for each setting and a column for each label-free method but the Baseline, as the paper prints LD-TPR."""
    rows = tuple(row for row in (*LABEL_FREE, *ADAPTIVE, *book.others) if row is not BASELINE)
    marked = mark_best(
        [book.line(row, [Place(setting, measure) for setting in HEADLINE]) for row in rows],
        [measure.higher_is_better] * len(HEADLINE),
    )
    by_setting = {setting: tuple(line.cells[i] for line in marked) for i, setting in enumerate(HEADLINE)}
    sections = tuple(_data_set_section(by_setting, dataset) for dataset in DATASETS)
    columns = tuple(f"{line.label}†" if line.dagger else line.label for line in marked)
    story = Story(book, (BASELINE, *rows), HEADLINE, alphas_of([measure]))
    return Grid(
        id=id,
        caption=story.caption(title, about, better(measure), BEST.replace("column", "row")),
        corner=("Backbone",),
        groups=(ColumnGroup("", columns),),
        sections=sections,
        notes=story.notes(sections),
    )


def _data_set_section(by_setting: dict[tuple[str, str], tuple[Cell, ...]], dataset: str) -> Section:
    lines = (Line(label, by_setting[dataset, backbone]) for backbone, label in HEADLINE_BACKBONES.items())
    return Section(DATASETS[dataset], tuple(lines))


def better(measure: Measure) -> str:
    """Which direction is good."""
    if measure.higher_is_better is None:
        return ""
    return "Higher is better." if measure.higher_is_better else "Lower is better."


def alphas_of(measures: Sequence[Measure]) -> frozenset[str]:
    """The false positive rates on which these numbers hang."""
    return frozenset(measure.alpha for measure in measures if measure.alpha is not None)
