"""Tables of one data set: a panel for each backbone, columns for the quantities, rows for every method that has run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from fairfr.core.names import FPR_LEVELS
from fairfr.report.tables.columns import Column, alphas_of, column, has_group_brier, lifted
from fairfr.report.tables.grid import Grid, Note, Section, Spanner
from fairfr.report.tables.layout import Layout, SettingColumn
from fairfr.report.tables.order import Setting, rows_of
from fairfr.report.tables.table_notes import BEST, TableNotes

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
