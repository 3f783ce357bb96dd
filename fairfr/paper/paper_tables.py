"""Every table of results: what has run, a user's own data first, then the paper's tables over all settings."""

from __future__ import annotations

from collections.abc import Iterator

from fairfr.paper.appendix import appendix_tables
from fairfr.paper.headline import headline_table
from fairfr.paper.order import ORDER
from fairfr.paper.wins import win_table
from fairfr.report.run import Reading
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.columns import column, lifted
from fairfr.report.tables.grid import Grid
from fairfr.report.tables.layout import Layout
from fairfr.report.tables.setting_tables import tables_of_runs


def paper_tables(runs: SelectedRuns, reading: Reading) -> list[Grid]:
    """Data sets with backbones that have runs, then Tables 1 to 4 of the paper, then those of its appendix."""
    layout = Layout(runs, reading, ORDER)
    return [*tables_of_runs(layout), *main_tables(layout), *appendix_tables(layout)]


def main_tables(layout: Layout) -> Iterator[Grid]:
    """Tables 1 to 4."""
    tpr = column("TPR@1e-3", "tpr_at_fpr_1e-3")
    yield headline_table(layout, "table1_tpr", "Global TPR at FPR=1e-3 (the paper's Table 1)", [tpr])
    yield headline_table(
        layout,
        "table2_worst_group",
        "Worst-group AUROC and worst-group Brier score (the paper's Table 2)",
        [
            column("Panel A: worst-group AUROC, higher is better", "auroc", "worst"),
            column("Panel B: worst-group Brier score, lower is better", "brier", "worst"),
        ],
    )
    yield headline_table(
        layout,
        "table3_lu_auroc",
        "LU-AUROC, K/N groups lifted (the paper's Table 3)",
        [lifted("LU-AUROC", "auroc")],
        "K counts the groups, worst Baseline AUROC first, whose AUROC strictly improves on the Baseline before the "
        "first that does not; N the groups with a value.",
        without=("baseline",),
    )
    yield win_table(layout)
