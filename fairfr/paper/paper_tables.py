"""The paper's tables over all settings: Tables 1 to 4, and those of its appendix."""

from __future__ import annotations

from collections.abc import Iterator

from fairfr.paper.headline import CHAPTER, headline_table, transposed_table
from fairfr.paper.order import ORDER
from fairfr.paper.wins import win_table
from fairfr.report.run import Reading
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.columns import column, lifted
from fairfr.report.tables.grid import Grid
from fairfr.report.tables.layout import Layout
from fairfr.report.tables.order import MethodRow
from fairfr.report.tables.setting_tables import backbone_tables, tables_of_runs

WITHOUT_PROBABILITY = ("baseline", "falcon", "fsn", "demonorm")
BACKBONE_PARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "rfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "facenet")),
    "bfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "facenet")),
    "lfw": (("arcface_r100", "adaface"), ("magface",), ("arcface_r50", "arcface_fairface"), ("facenet",)),
}


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


def appendix_tables(layout: Layout) -> Iterator[Grid]:
    """In the paper's order."""
    yield from _aggregates(layout)
    for dataset in dict.fromkeys(dataset for dataset, _ in layout.settings):
        yield from _by_dataset(layout, dataset)


def _aggregates(layout: Layout) -> Iterator[Grid]:
    yield headline_table(
        layout,
        "appendix_brier",
        "Brier score of methods with a probability of their own",
        [column("Brier", "brier")],
        without=(*WITHOUT_PROBABILITY, *(row.id for row in layout.others if not _native(layout, row))),
    )
    worst = column("Worst-group TPR@1e-3", "tpr_at_fpr_1e-3", "worst")
    yield headline_table(layout, "appendix_worst_tpr", "Worst-group TPR at FPR=1e-3", [worst])
    yield headline_table(layout, "appendix_auroc", "Global AUROC", [column("AUROC", "auroc")])
    yield transposed_table(
        layout,
        "appendix_ld_tpr",
        "LD-TPR@0.1, K/N groups lifted",
        lifted("LD-TPR@0.1", "tpr_at_fpr_1e-3"),
        "As LU-AUROC, with groups ordered and compared by TPR at the global threshold of FPR=1e-3.",
    )


def _native(layout: Layout, row: MethodRow) -> bool:
    found = (layout.run(setting, row) for setting in layout.settings)
    return any(run.gives_probability for run in found if run is not None)


def _by_dataset(layout: Layout, dataset: str) -> Iterator[Grid]:
    """Accuracy and calibration, then gaps, a panel for each backbone; split into parts as in the paper."""
    for number, part in enumerate(BACKBONE_PARTS.get(dataset, ()), start=1):
        settings = tuple((dataset, backbone) for backbone in part if (dataset, backbone) in layout.settings)
        if settings:
            yield from backbone_tables(layout, settings, str(number), CHAPTER)
