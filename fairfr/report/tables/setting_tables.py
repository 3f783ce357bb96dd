"""One data set: a summary of every method that has run, then each group; its backbones are panels of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from fairfr.core.names import FPR_LEVELS
from fairfr.report.quantity import group_heading
from fairfr.report.tables.at_one_threshold import one_threshold_tables
from fairfr.report.tables.columns import Column, alphas_of, column, has_group_brier, lifted
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.tables.layout import Layout, SettingColumn
from fairfr.report.tables.order import BASELINE, Setting, rows_of
from fairfr.report.tables.table_notes import BEST, TableNotes
from fairfr.stored.run import Run

GROUP_METRICS = {"auroc": ("AUROC", "AUROC"), "pauc": ("partial AUC (FPR ≤ 10 %)", "pAUC")}
MOST_GROUPS = 8
"""Columns that fit on a page; more groups have several tables."""
OF_ATTRIBUTE = (
    column("TPR@1e-3, %", "tpr_at_fpr_1e-3", "worst", percent=True, digits=2, spread=True),
    column("Brier", "brier", "worst", spread=True),
)
MCCLISH = Note("mcclish", "Partial AUC up to FPR 0.1, standardised after McClish: 50 is chance, 100 perfect.")
COLOURS = Note("colours", "Green (▲ in Markdown): above the Baseline as printed; red (▼): below.")

SPREAD = "Mean±std over folds."
LIFTED_NOTE = Note(
    "lifted",
    "K/N: going from the worst group up, K of N improve on the Baseline before the first that does not (LU-AUROC: by "
    "AUROC, LD-TPR@0.1: by TPR at FPR=1e-3).",
)
GAPS = Note(
    "gaps",
    "Gaps between the best and the worst group in percentage points: EO of TPR, PE of FPR, DP of the acceptance rate, "
    "at the global threshold.",
)


def tables_of_runs(layout: Layout) -> Iterator[Grid]:
    """Each setting; after the last one of a data set, its own backbones beside each other."""
    last_own = {setting[0]: setting for setting in layout.settings if setting not in layout.order.settings}
    for setting in layout.settings:
        yield from setting_tables(layout, setting)
        if last_own.get(setting[0]) == setting:
            yield from own_backbones(layout, setting[0])


def setting_tables(layout: Layout, setting: Setting) -> Iterator[Grid]:
    """The summary, error rates at one threshold, AUROC and partial AUC of each group, then each attribute apart."""
    dataset, backbone = setting
    where = f"{layout.label(backbone)} on {layout.label(dataset)}"
    id = f"appendix_summary_{dataset}_{backbone}"
    chapter = chapter_of(layout, setting)
    yield panels(layout, id, f"Summary: {where}", (setting,), summary_columns(), (GAPS, LIFTED_NOTE), chapter)
    yield from one_threshold_tables(layout, setting, chapter)
    for metric in GROUP_METRICS:
        yield from _groups(layout, setting, metric)
    yield from _attributes(layout, setting)


def own_backbones(layout: Layout, dataset: str) -> Iterator[Grid]:
    """A data set's backbones that the paper does not have beside each other, if there are several."""
    settings = tuple(s for s in layout.settings if s[0] == dataset and s not in layout.order.settings)
    if len(settings) > 1:
        yield from backbone_tables(layout, settings, "own", f"{layout.label(dataset)}, by backbone")


def backbone_tables(layout: Layout, settings: tuple[Setting, ...], part: str, chapter: str) -> Iterator[Grid]:
    """Accuracy and calibration, then gaps, of one data set, a panel for each backbone."""
    dataset = settings[0][0]
    label = layout.label(dataset)
    names = ", ".join(layout.label(backbone) for _, backbone in settings)
    title = f"{label} accuracy and calibration: {names}"
    yield panels(
        layout, f"appendix_{dataset}_accuracy_{part}", title, settings, accuracy_columns(), (LIFTED_NOTE,), chapter
    )
    title = f"{label} fairness gaps: {names}"
    yield panels(layout, f"appendix_{dataset}_gaps_{part}", title, settings, gap_columns(), (GAPS,), chapter)


def _attributes(layout: Layout, setting: Setting) -> Iterator[Grid]:
    """A table for each single attribute whose product with others the data set's groups are."""
    some = layout.any_run(setting)
    if some is None:
        return
    data = some.result.data
    dataset, backbone = setting
    where = f"{layout.label(backbone)} on {layout.label(dataset)}"
    for attribute, levels in data.groups.items():
        if attribute == data.grouping:
            continue
        shown = ["worst"]
        if len(levels) < MOST_GROUPS:
            shown = [*levels, "worst"]
        by_group = tuple(replace(per_group("auroc", group), grouping=attribute) for group in shown)
        columns = {"AUROC, %": by_group, "Worst group": tuple(replace(one, grouping=attribute) for one in OF_ATTRIBUTE)}
        id = f"appendix_groups_{attribute}_{dataset}_{backbone}"
        title = f"By {attribute}: {where}"
        notes = [*_folds_of_groups(some, by_group)]
        yield panels(layout, id, title, (setting,), columns, notes, chapter_of(layout, setting))


def chapter_of(layout: Layout, setting: Setting) -> str:
    """The part of the report that is about one data set with one backbone."""
    return " x ".join(map(layout.label, setting))


def per_group(metric: str, group: str) -> Column:
    """A metric of one group, as the paper's text quotes it: in percent with two decimals."""
    return column(group_heading(group), metric, group, percent=True, digits=2, spread=True)


def _groups(layout: Layout, setting: Setting, metric: str) -> Iterator[Grid]:
    """One column for each group, coloured against the Baseline; nothing where the data knows no groups."""
    some = layout.any_run(setting)
    if some is None:
        return
    groups = some.groups
    parts = [groups[start : start + MOST_GROUPS] for start in range(0, len(groups), MOST_GROUPS)]
    dataset, backbone = setting
    name, short = GROUP_METRICS[metric]
    for number, part in enumerate(parts, start=1):
        id = f"appendix_groups_{metric}_{dataset}_{backbone}"
        title = f"Per-group {name}: {layout.label(backbone)} on {layout.label(dataset)}"
        if len(parts) > 1:
            id += f"_{number}"
            title += f", part {number} of {len(parts)}"
        columns = tuple(per_group(metric, group) for group in part)
        notes = [COLOURS]
        if metric == "pauc":
            notes.append(MCCLISH)
        notes.extend(_folds_of_groups(some, columns))
        grid = panels(layout, id, title, (setting,), {f"{short}, %": columns}, notes, chapter_of(layout, setting))
        yield replace(grid, sections=toned_against_baseline(grid.sections))


def _folds_of_groups(run: Run, columns: Sequence[Column]) -> Iterator[Note]:
    """Which groups have a value in fewer folds than there are: their means are not comparable with the others'."""
    short = []
    for one in columns:
        number = run.number(one.metric, one.group, one.grouping)
        if number is not None and number.folds < number.folds_total:
            short.append(f"{one.heading} {number.folds} of {number.folds_total}")
    if short:
        yield Note("few_folds", f"{', '.join(short)}.", "Folds with enough pairs, where not all", severity="warning")


def toned_against_baseline(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Green where a printed value lies above the Baseline's of its column, red where below."""
    baseline = _baseline_line(sections)
    if baseline is None:
        return tuple(sections)
    toned = []
    for section in sections:
        lines = tuple(_against(line, baseline) for line in section.lines)
        toned.append(replace(section, lines=lines))
    return tuple(toned)


def _baseline_line(sections: Sequence[Section]) -> Line | None:
    for section in sections:
        for line in section.lines:
            if line.label == BASELINE.label:
                return line
    return None


def _against(line: Line, baseline: Line) -> Line:
    entries = (_toned(entry, reference) for entry, reference in zip(line.entries, baseline.entries, strict=True))
    return replace(line, entries=tuple(entries))


def _toned(entry: Entry, reference: Entry) -> Entry:
    if entry.printed is None or reference.printed is None or entry.printed == reference.printed:
        return entry
    if entry.printed > reference.printed:
        return replace(entry, tone="improved")
    return replace(entry, tone="degraded")


def panels(
    layout: Layout,
    id: str,
    title: str,
    settings: tuple[Setting, ...],
    columns: Mapping[str, tuple[Column, ...]],
    notes: Sequence[Note],
    chapter: str,
) -> Grid:
    """``columns`` by the heading above them; bold is decided inside each panel."""
    flat = [*chain(*columns.values())]
    sections: list[Section] = []
    for setting in settings:
        blocks = layout.blocks([setting], only_run=True)
        places = [SettingColumn(setting, one) for one in flat]
        panel = ""
        if len(settings) > 1:
            panel = layout.label(setting[1])
        sections += layout.sections(places, blocks, panel)
    rows = rows_of(layout.blocks(settings, only_run=True))
    provenance = TableNotes(
        layout, rows, settings, alphas_of(flat), wanted=layout.order.rows, group_brier=has_group_brier(flat)
    )
    spanners = []
    for heading, part in columns.items():
        spanners.append(Spanner(heading, tuple(one.heading for one in part)))
    about = (SPREAD, BEST)
    bare = Grid(id, title, ("Method",), tuple(spanners), tuple(sections), tuple(notes), about, chapter=chapter)
    return provenance.annotate(bare)


def accuracy_columns() -> dict[str, tuple[Column, ...]]:
    """Ranking and calibration of all pairs, and the worst group."""
    return {
        "Higher is better": (
            column("AUROC", "auroc", spread=True),
            column("TPR@1e-3", "tpr_at_fpr_1e-3", spread=True),
            column("TPR@1e-2", "tpr_at_fpr_1e-2", spread=True),
            column("Worst-group AUROC", "auroc", "worst", spread=True),
        ),
        "Lower is better": (column("ECE-15", "ece_15", spread=True), column("Brier", "brier", spread=True)),
        "K/N": (lifted("LD-TPR@0.1", "tpr_at_fpr_1e-3"),),
    }


def gap_columns() -> dict[str, tuple[Column, ...]]:
    """Between groups, at each global false positive rate, the strictest first."""
    found = {}
    for alpha in sorted(FPR_LEVELS, key=FPR_LEVELS.__getitem__):
        columns = []
        for gap in ("eo", "pe", "dp"):
            columns.append(column(gap.upper(), f"{gap}_gap_at_fpr_{alpha}", "gap", digits=2, spread=True))
        found[f"Gap at FPR={alpha}"] = tuple(columns)
    return found


def summary_columns() -> dict[str, tuple[Column, ...]]:
    """Everything about one data set with one backbone."""
    return {
        "All pairs, %": (
            column("AUROC", "auroc", percent=True, digits=2, spread=True),
            column("TPR@1e-3", "tpr_at_fpr_1e-3", percent=True, digits=2, spread=True),
            column("TPR@1e-2", "tpr_at_fpr_1e-2", percent=True, digits=2, spread=True),
        ),
        "Worst group, %": (
            column("AUROC", "auroc", "worst", percent=True, digits=2, spread=True),
            column("TPR@1e-3", "tpr_at_fpr_1e-3", "worst", percent=True, digits=2, spread=True),
        ),
        "Calibration": (column("ECE-15", "ece_15", spread=True), column("Brier", "brier", spread=True)),
        **gap_columns(),
        "Groups lifted, K/N": (lifted("LU-AUROC", "auroc"), lifted("LD-TPR@0.1", "tpr_at_fpr_1e-3")),
    }
