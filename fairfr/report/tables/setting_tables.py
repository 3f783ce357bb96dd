"""One data set: a summary of every method that has run, then each group; its backbones are panels of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from fairfr.core.names import FPR_LEVELS
from fairfr.report.quantity import LIFTED, group_heading
from fairfr.report.tables.at_one_threshold import one_threshold_tables
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.tables.notes import BEST, RunsOfTable
from fairfr.report.tables.places import Place, number, percent, sections
from fairfr.stored.order import BASELINE, Setting, rows_of
from fairfr.stored.results import Results
from fairfr.stored.run import Run

GROUP_METRICS = {"auroc": ("AUROC", "AUROC"), "pauc": ("partial AUC (FPR ≤ 10 %)", "pAUC")}
MOST_GROUPS = 8
"""Columns that fit on a page; more groups have several tables."""
OF_ATTRIBUTE = (
    percent("TPR@1e-3, %", "tpr_at_fpr_1e-3", "worst"),
    number("Brier", "brier", "worst", spread=True),
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


def tables_of_runs(results: Results) -> Iterator[Grid]:
    """Each setting; after the last one of a data set, its own backbones beside each other."""
    last_own = {setting[0]: setting for setting in results.settings if setting not in results.order.settings}
    for setting in results.settings:
        yield from setting_tables(results, setting)
        if last_own.get(setting[0]) == setting:
            yield from own_backbones(results, setting[0])


def setting_tables(results: Results, setting: Setting) -> Iterator[Grid]:
    """The summary, error rates at one threshold, AUROC and partial AUC of each group, then each attribute apart."""
    dataset, backbone = setting
    where = f"{results.label(backbone)} on {results.label(dataset)}"
    id = f"appendix_summary_{dataset}_{backbone}"
    chapter = results.name(setting)
    yield panels(results, id, f"Summary: {where}", (setting,), summary_columns(), (GAPS, LIFTED_NOTE), chapter)
    yield from one_threshold_tables(results, setting, chapter)
    for metric in GROUP_METRICS:
        yield from _groups(results, setting, metric)
    yield from _attributes(results, setting)


def own_backbones(results: Results, dataset: str) -> Iterator[Grid]:
    """A data set's backbones that the paper does not have beside each other, if there are several."""
    settings = tuple(s for s in results.settings if s[0] == dataset and s not in results.order.settings)
    if len(settings) > 1:
        yield from backbone_tables(results, settings, "own", f"{results.label(dataset)}, by backbone")


def backbone_tables(results: Results, settings: tuple[Setting, ...], part: str, chapter: str) -> Iterator[Grid]:
    """Accuracy and calibration, then gaps, of one data set, a panel for each backbone."""
    dataset = settings[0][0]
    label = results.label(dataset)
    names = ", ".join(results.label(backbone) for _, backbone in settings)
    title = f"{label} accuracy and calibration: {names}"
    yield panels(
        results, f"appendix_{dataset}_accuracy_{part}", title, settings, accuracy_columns(), (LIFTED_NOTE,), chapter
    )
    title = f"{label} fairness gaps: {names}"
    yield panels(results, f"appendix_{dataset}_gaps_{part}", title, settings, gap_columns(), (GAPS,), chapter)


def _attributes(results: Results, setting: Setting) -> Iterator[Grid]:
    """A table for each single attribute whose product with others the data set's groups are."""
    some = results.find({"setting": setting})
    if some is None:
        return
    data = some.result.data
    dataset, backbone = setting
    where = f"{results.label(backbone)} on {results.label(dataset)}"
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
        yield panels(results, id, title, (setting,), columns, notes, results.name(setting))


def per_group(metric: str, group: str) -> Place:
    """A metric of one group."""
    return percent(group_heading(group), metric, group)


def _groups(results: Results, setting: Setting, metric: str) -> Iterator[Grid]:
    """One column for each group, coloured against the Baseline; nothing where the data knows no groups."""
    some = results.find({"setting": setting})
    if some is None:
        return
    groups = some.groups
    parts = [groups[start : start + MOST_GROUPS] for start in range(0, len(groups), MOST_GROUPS)]
    dataset, backbone = setting
    name, short = GROUP_METRICS[metric]
    for position, part in enumerate(parts, start=1):
        id = f"appendix_groups_{metric}_{dataset}_{backbone}"
        title = f"Per-group {name}: {results.label(backbone)} on {results.label(dataset)}"
        if len(parts) > 1:
            id += f"_{position}"
            title += f", part {position} of {len(parts)}"
        columns = tuple(per_group(metric, group) for group in part)
        notes = [COLOURS]
        if metric == "pauc":
            notes.append(MCCLISH)
        notes.extend(_folds_of_groups(some, columns))
        grid = panels(results, id, title, (setting,), {f"{short}, %": columns}, notes, results.name(setting))
        yield replace(grid, sections=toned_against_baseline(grid.sections))


def _folds_of_groups(run: Run, columns: Sequence[Place]) -> Iterator[Note]:
    """Which groups have a value in fewer folds than there are: their means are not comparable with the others'."""
    short = []
    for one in columns:
        assert one.quantity is not None
        found = run.number(one.quantity.metric, one.quantity.group, one.grouping)
        if found is not None and found.folds < found.folds_total:
            short.append(f"{one.heading} {found.folds} of {found.folds_total}")
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
    results: Results,
    id: str,
    title: str,
    settings: tuple[Setting, ...],
    columns: Mapping[str, tuple[Place, ...]],
    notes: Sequence[Note],
    chapter: str,
) -> Grid:
    """``columns`` by the heading above them; bold is decided inside each panel.

    Without a run of the Baseline there are no columns, colours and notes that compare with it.
    """
    if not any(results.find({"setting": setting, "row": BASELINE.label}) for setting in settings):
        columns = {heading: part for heading, part in columns.items() if not _needs_baseline(part)}
        notes = [note for note in notes if note not in (LIFTED_NOTE, COLOURS)]
    flat = [*chain(*columns.values())]
    found: list[Section] = []
    for setting in settings:
        heading = ""
        if len(settings) > 1:
            heading = results.label(setting[1])
        blocks = []
        for block, of_block in results.blocks([setting], only_run=True):
            places = [Place(results.heading(row), {"row": row.label}) for row in of_block]
            blocks.append((block, places))
        found += sections(results, blocks, flat, Place(heading, {"setting": setting}))
    rows = rows_of(results.blocks(settings, only_run=True))
    spanners = []
    for heading, part in columns.items():
        spanners.append(Spanner(heading, tuple(one.heading for one in part)))
    about = (SPREAD, BEST)
    bare = Grid(id, title, ("Method",), tuple(spanners), tuple(found), tuple(notes), about, chapter=chapter)
    return RunsOfTable(results, rows, settings, flat, wanted=results.order.rows).annotate(bare)


def _needs_baseline(columns: Sequence[Place]) -> bool:
    return all(column.quantity is not None and column.quantity.group == LIFTED for column in columns)


def accuracy_columns() -> dict[str, tuple[Place, ...]]:
    """Ranking and calibration of all pairs, and the worst group."""
    return {
        "Higher is better": (
            number("AUROC", "auroc", spread=True),
            number("TPR@1e-3", "tpr_at_fpr_1e-3", spread=True),
            number("TPR@1e-2", "tpr_at_fpr_1e-2", spread=True),
            number("Worst-group AUROC", "auroc", "worst", spread=True),
        ),
        "Lower is better": (number("ECE-15", "ece_15", spread=True), number("Brier", "brier", spread=True)),
        "K/N": (number("LD-TPR@0.1", "tpr_at_fpr_1e-3", LIFTED),),
    }


def gap_columns() -> dict[str, tuple[Place, ...]]:
    """Between groups, at each global false positive rate, the strictest first."""
    found = {}
    for alpha in sorted(FPR_LEVELS, key=FPR_LEVELS.__getitem__):
        columns = []
        for gap in ("eo", "pe", "dp"):
            columns.append(number(gap.upper(), f"{gap}_gap_at_fpr_{alpha}", "gap", digits=2, spread=True))
        found[f"Gap at FPR={alpha}"] = tuple(columns)
    return found


def summary_columns() -> dict[str, tuple[Place, ...]]:
    """Everything about one data set with one backbone."""
    return {
        "All pairs, %": (
            percent("AUROC", "auroc"),
            percent("TPR@1e-3", "tpr_at_fpr_1e-3"),
            percent("TPR@1e-2", "tpr_at_fpr_1e-2"),
        ),
        "Worst group, %": (
            percent("AUROC", "auroc", "worst"),
            percent("TPR@1e-3", "tpr_at_fpr_1e-3", "worst"),
        ),
        "Calibration": (number("ECE-15", "ece_15", spread=True), number("Brier", "brier", spread=True)),
        **gap_columns(),
        "Groups lifted, K/N": (number("LU-AUROC", "auroc", LIFTED), number("LD-TPR@0.1", "tpr_at_fpr_1e-3", LIFTED)),
    }
