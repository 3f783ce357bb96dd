"""The paper's tables over all settings: Tables 1 to 4, and those of its appendix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fairfr.paper.order import (
    ADAPTIVE,
    BACKBONES,
    DATASETS,
    DENSITY,
    DENSITY_LOO,
    HEADLINE,
    HEADLINE_BACKBONES,
    LABEL_FREE,
    SETTINGS,
)
from fairfr.report.quantity import LIFTED
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.tables.notes import BEST, RunsOfTable
from fairfr.report.tables.places import Place, at_setting, line, number, row_places, sections
from fairfr.report.tables.setting_tables import backbone_tables, per_group
from fairfr.stored.order import BASELINE, MethodRow, Setting, rows_of
from fairfr.stored.results import Results

WITHOUT_PROBABILITY = ("baseline", "falcon", "fsn", "demonorm")
BACKBONE_PARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "rfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "facenet")),
    "bfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "facenet")),
    "lfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "arcface_fairface"), ("facenet",)),
}

METRICS = {"auroc": "Per-group AUROC", "pauc": "Per-group partial AUC"}
N_VARIANTS = 2
COMPETE = (
    "Each group of one data set with one backbone counts once. Three AC variants compete, as in the paper: AC-MLP, "
    "AC-Linear and one form of AC-Density, that of the text above, the other below."
)
SPANNERS = tuple(Spanner(label, tuple(HEADLINE_BACKBONES.values())) for label in DATASETS.values())
COLUMNS = tuple(at_setting(HEADLINE_BACKBONES[backbone], (dataset, backbone)) for dataset, backbone in HEADLINE)
CHAPTER = "The paper's tables"
APPENDIX = "The paper's appendix"
WORST_GROUP = (
    number("Worst-group AUROC, higher is better", "auroc", "worst"),
    number("Worst-group Brier score, lower is better", "brier", "worst"),
)


def setting_columns(settings: Sequence[Setting], labels: Mapping[str, str]) -> tuple[Spanner, ...]:
    """A column for each setting below its data set; ``labels`` of backbones."""
    by_dataset: dict[str, list[str]] = {}
    for dataset, backbone in settings:
        by_dataset.setdefault(dataset, []).append(labels[backbone])
    return tuple(Spanner(DATASETS[dataset], tuple(columns)) for dataset, columns in by_dataset.items())


def overview(results: Results) -> Grid:
    """Every setting of the paper that has runs, by method: how well the worst group is served."""
    settings = tuple(setting for setting in SETTINGS if setting in results.settings)
    columns = [at_setting(BACKBONES[backbone], (dataset, backbone)) for dataset, backbone in settings]
    blocks = results.blocks(settings, only_run=True)
    found: list[Section] = []
    for panel in WORST_GROUP:
        found += sections(results, row_places(blocks), columns, panel)
    title = "Overview: how well the worst group is served, in every setting that has runs"
    spanners = setting_columns(settings, BACKBONES)
    bare = Grid("overview", title, ("Method",), spanners, tuple(found), about=(BEST,), chapter=CHAPTER)
    return RunsOfTable(results, rows_of(blocks), settings, WORST_GROUP).annotate(bare)


def main_tables(results: Results) -> Iterator[Grid]:
    """Tables 1 to 4."""
    tpr = number("TPR@1e-3", "tpr_at_fpr_1e-3")
    yield headline_table(results, "table1_tpr", "Global TPR at FPR=1e-3 (the paper's Table 1)", [tpr])
    yield headline_table(
        results,
        "table2_worst_group",
        "Worst-group AUROC and worst-group Brier score (the paper's Table 2)",
        [
            number("Panel A: worst-group AUROC, higher is better", "auroc", "worst"),
            number("Panel B: worst-group Brier score, lower is better", "brier", "worst"),
        ],
    )
    yield headline_table(
        results,
        "table3_lu_auroc",
        "LU-AUROC, K/N groups lifted (the paper's Table 3)",
        [number("LU-AUROC", "auroc", LIFTED)],
        "K counts the groups, worst Baseline AUROC first, whose AUROC strictly improves on the Baseline before the "
        "first that does not; N the groups with a value.",
        without=("baseline",),
    )
    yield win_table(results)


def appendix_tables(results: Results) -> Iterator[Grid]:
    """In the paper's order, in a chapter of their own."""
    grids = [*_aggregates(results)]
    for dataset in dict.fromkeys(dataset for dataset, _ in results.settings):
        grids += _by_dataset(results, dataset)
    for grid in grids:
        yield replace(grid, chapter=APPENDIX)


def _aggregates(results: Results) -> Iterator[Grid]:
    yield headline_table(
        results,
        "appendix_brier",
        "Brier score of methods with a probability of their own",
        [number("Brier", "brier")],
        without=(*WITHOUT_PROBABILITY, *(row.id for row in results.others if not _native(results, row))),
    )
    worst = number("Worst-group TPR@1e-3", "tpr_at_fpr_1e-3", "worst")
    yield headline_table(results, "appendix_worst_tpr", "Worst-group TPR at FPR=1e-3", [worst])
    yield headline_table(results, "appendix_auroc", "Global AUROC", [number("AUROC", "auroc")])
    yield transposed_table(
        results,
        "appendix_ld_tpr",
        "LD-TPR@0.1, K/N groups lifted",
        number("LD-TPR@0.1", "tpr_at_fpr_1e-3", LIFTED),
        "As LU-AUROC, with groups ordered and compared by TPR at the global threshold of FPR=1e-3.",
    )


def _native(results: Results, row: MethodRow) -> bool:
    return any(run.gives_probability for run in results.every({"row": row.label}))


def _by_dataset(results: Results, dataset: str) -> Iterator[Grid]:
    """Accuracy and calibration, then gaps, a panel for each backbone; split into parts as in the paper."""
    for position, part in enumerate(BACKBONE_PARTS.get(dataset, ()), start=1):
        settings = tuple((dataset, backbone) for backbone in part if (dataset, backbone) in results.settings)
        if settings:
            yield from backbone_tables(results, settings, str(position), CHAPTER)


def headline_table(
    results: Results,
    id: str,
    title: str,
    panels: Sequence[Place],
    about: str = "",
    *,
    without: Sequence[str] = (),
) -> Grid:
    """One panel for each quantity; several are headed by their names."""
    blocks = results.blocks(HEADLINE, without=without)
    found: list[Section] = []
    direction = ""
    for panel in panels:
        if len(panels) == 1:
            direction = direction_note(panel)
            panel = replace(panel, heading="")
        found += sections(results, row_places(blocks), COLUMNS, panel)
    rows = rows_of(blocks)
    if any(panel.quantity is not None and panel.quantity.group == LIFTED for panel in panels):
        rows = (BASELINE, *rows)
    grid = Grid(id, title, ("Method",), SPANNERS, tuple(found), about=(about, direction, BEST), chapter=CHAPTER)
    return RunsOfTable(results, rows, HEADLINE, panels).annotate(grid)


def transposed_table(results: Results, id: str, title: str, panel: Place, about: str) -> Grid:
    """A row for each setting and a column for each label-free method but the Baseline, as the paper prints LD-TPR."""
    others = tuple(row for row in rows_of(results.blocks(HEADLINE)) if row in results.others)
    rows = tuple(row for row in (*LABEL_FREE, *ADAPTIVE, *others) if row is not BASELINE)
    (section,) = sections(results, row_places([("", rows)]), COLUMNS, replace(panel, heading=""))
    by_setting = {}
    for position, setting in enumerate(HEADLINE):
        by_setting[setting] = tuple(one.entries[position] for one in section.lines)
    turned = tuple(_data_set_section(by_setting, dataset) for dataset in DATASETS)
    names = []
    for one in section.lines:
        mark = "†" if one.dagger else ""
        names.append(f"{one.label}{mark}")
    sentences = (about, direction_note(panel), BEST.replace("column", "row"))
    spanners = (Spanner("", tuple(names)),)
    grid = Grid(id, title, ("Backbone",), spanners, turned, about=sentences, chapter=CHAPTER)
    return RunsOfTable(results, (BASELINE, *rows), HEADLINE, [panel]).annotate(grid)


def _data_set_section(by_setting: dict[tuple[str, str], tuple[Entry, ...]], dataset: str) -> Section:
    lines = (Line(label, by_setting[dataset, backbone]) for backbone, label in HEADLINE_BACKBONES.items())
    return Section(DATASETS[dataset], tuple(lines))


def direction_note(column: Place) -> str:
    """Which direction is good."""
    if column.higher_is_better is None:
        return ""
    if column.higher_is_better:
        return "Higher is better."
    return "Lower is better."


class Wins(NamedTuple):
    """Groups for which an AC variant is at best, groups counted, and wins of each variant (ties count for each)."""

    at_best: int
    groups: int
    variants: Counter[str]


def win_table(results: Results) -> Grid:
    """Three AC variants compete at a time, as in the paper: with each form of AC-Density once."""
    counts = [count_wins(results, metric, DENSITY) for metric in METRICS]
    left_out = [count_wins(results, metric, DENSITY_LOO) for metric in METRICS]
    sections = (
        Section("", _lines(counts)),
        Section("AC-Density (LOO) in the place of AC-Density", _lines(left_out)),
    )
    counted = Note(
        "counted",
        f"Counted: {counts[0].groups} groups (108 in the paper) in which an AC variant and another label-free method "
        "have a value; below, those in which AC-Density (LOO) has one. Best as printed, in percent with two decimals; "
        "variants that tie both count.",
    )
    bare = Grid(
        id="table4_wins",
        title="How often an AC variant is the best label-free method for a group (the paper's Table 4)",
        corner=("Metric",),
        spanners=(Spanner("", ("AC at best", "Most common winning variants")),),
        sections=sections,
        notes=(counted,),
        about=(COMPETE,),
        chapter=CHAPTER,
    )
    return RunsOfTable(results, (*LABEL_FREE, *ADAPTIVE), SETTINGS).annotate(bare)


def _lines(counts: Sequence[Wins]) -> tuple[Line, ...]:
    lines = []
    for label, (at_best, groups, variants) in zip(METRICS.values(), counts, strict=True):
        share = Entry()
        if groups:
            share = Entry(f"{at_best}/{groups} ({at_best / groups:.1%})", at_best / groups)
        most = ", ".join(f"{name} ({n})" for name, n in variants.most_common(N_VARIANTS) if n)
        lines.append(Line(label, (share, Entry(most))))
    return tuple(lines)


def count_wins(results: Results, metric: str, form: MethodRow) -> Wins:
    """Wins of the AC variants; ``form`` is the AC-Density that competes.

    Groups without the LOO form do not count for it: it would be counted where it has not run.
    """
    other = DENSITY if form is DENSITY_LOO else DENSITY_LOO
    adaptive = [row.label for row in ADAPTIVE if row is not other]
    at_best = groups = 0
    variants = Counter(dict.fromkeys(adaptive, 0))  # equal counts keep the paper's order
    for printed in _printed(results, metric, [row for row in (*LABEL_FREE, *ADAPTIVE) if row is not other]):
        if form is DENSITY_LOO and form.label not in printed:
            continue
        if not printed.keys() & set(adaptive) or not printed.keys() - set(adaptive):
            continue
        best = max(printed.values())
        winners = [label for label in adaptive if printed.get(label) == best]
        groups += 1
        at_best += bool(winners)
        variants.update(winners)
    return Wins(at_best, groups, variants)


def _printed(results: Results, metric: str, rows: Sequence[MethodRow]) -> Iterator[dict[str, float]]:
    """For each group of each setting: the printed value of each label-free row that has one."""
    ((_, methods),) = row_places([("", rows)])
    for setting in SETTINGS:
        some = results.find({"setting": setting})
        if some is None:
            continue
        columns = [per_group(metric, group) for group in some.groups]
        every = [line(results, row, columns, at_setting("", setting)) for row in methods]
        lines = [one for one in every if not one.dagger]
        for position in range(len(columns)):
            numbers = {one.label: one.entries[position].printed for one in lines}
            yield {label: printed for label, printed in numbers.items() if printed is not None}
