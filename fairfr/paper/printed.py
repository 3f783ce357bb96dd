"""The numbers that the paper prints, read from the package, each with the name it has in our results."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.study import PrintedRow
from fairfr.stored.order import Setting

DIGITS = 3  # of the headline tables
AUROC = Quantity("auroc", "all", "AUROC")
TPR = Quantity("tpr_at_fpr_1e-3", "all", "TPR at FPR=1e-3")
BRIER = Quantity("brier", "all", "Brier")
WORST_AUROC = Quantity("auroc", "worst", "worst-group AUROC")
WORST_TPR = Quantity("tpr_at_fpr_1e-3", "worst", "worst-group TPR at FPR=1e-3")
WORST_BRIER = Quantity("brier", "worst", "worst-group Brier")
LU_AUROC = Quantity("auroc", LIFTED, "LU-AUROC")
LD_TPR = Quantity("tpr_at_fpr_1e-3", LIFTED, "LD-TPR@0.1")

# name in headline.csv -> quantity, in the order in which the paper prints the tables
QUANTITIES = MappingProxyType(
    {
        "tpr_at_fpr_1e-3": TPR,
        "worst_group_auroc": WORST_AUROC,
        "worst_group_brier": WORST_BRIER,
        "lu_auroc": LU_AUROC,
        "brier": BRIER,
        "worst_group_tpr_at_fpr_1e-3": WORST_TPR,
        "auroc": AUROC,
        "ld_tpr_at_fpr_1e-3": LD_TPR,
    }
)
# where a reader finds each of them
TABLE_NAMES = MappingProxyType(
    {
        TPR: "Table 1",
        WORST_AUROC: "Table 2, Panel A",
        WORST_BRIER: "Table 2, Panel B",
        LU_AUROC: "Table 3",
        BRIER: "Appendix, Brier table",
        WORST_TPR: "Appendix, worst-group TPR table",
        AUROC: "Appendix, AUROC table",
        LD_TPR: "Appendix, LD-TPR table",
    }
)


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """One printed number of a headline table. ``value`` of "3/8" is 0.375, ``groups`` of it 8."""

    quantity: Quantity
    dataset: str
    backbone: str
    method: str
    text: str
    value: float
    bold: bool

    @property
    def setting(self) -> Setting:
        return self.dataset, self.backbone

    @property
    def groups(self) -> int:
        """N of K/N."""
        return int(self.text.partition("/")[2])


@cache
def printed_headline() -> tuple[PrintedNumber, ...]:
    """The 711 cells of the paper's headline tables, in its order."""
    return tuple(
        PrintedNumber(
            QUANTITIES[row["metric"]],
            row["dataset"],
            row["backbone"],
            row["method"],
            row["value"],
            _number(row["value"]),
            row["bold"] == "1",
        )
        for row in _rows("headline")
    )


@cache
def printed_study(name: str) -> tuple[PrintedRow, ...]:
    """An appendix study, one of ``PRINTED_STUDIES``; of others the paper prints nothing."""
    if name not in PRINTED_STUDIES:
        return ()
    rows = _rows(name)
    labels = [column for column in rows[0] if column in _STUDY_LABELS]
    for above, row in pairwise(rows):  # a blank label is that of the row above
        row |= {column: row[column] or above[column] for column in labels}
    found = []
    for row in rows:
        values = {method: _numbers(text) for method, text in row.items() if method not in _STUDY_LABELS}
        label = tuple(row[column] for column in labels)
        found.append(PrintedRow(label, MappingProxyType(values)))
    return tuple(found)


PRINTED_STUDIES = ("components", "lfw_accuracy", "calibration_size", "attributes", "coverage", "split")


class WinCount(NamedTuple):
    """A row of Table 4, as printed: ``won`` of ``groups`` groups, the percentage, and the two variants it names."""

    metric: str
    won: int
    groups: int
    percent: float
    variants: tuple[int, ...]


@cache
def win_counts() -> tuple[WinCount, ...]:
    """Table 4: for how many groups an AC variant is the best label-free method."""
    counts = []
    for row, metric in zip(_rows("win_summary"), ("auroc", "pauc"), strict=True):
        fraction, percent = row["ac_best"].rstrip("%)").split(" (")
        won, groups = fraction.split("/")
        variants = (part.rstrip(")").split("(")[1] for part in row["most_common_winning_variants"].split(", "))
        counts.append(WinCount(metric, int(won), int(groups), float(percent), tuple(int(n) for n in variants)))
    return tuple(counts)


_STUDY_LABELS = frozenset({"setting", "embedding_set", "training_pairs", "grouping", "retention", "backbone", "folds"})


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("fairfr.paper") / "printed_csv" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _number(text: str) -> float:
    """A number as the csv files have it: ``.984``, ``0.98 ± 0.01`` or ``3/8``."""
    part, slash, whole = text.partition("±")[0].partition("/")
    if slash:
        return float(part) / float(whole)
    return float(part)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(_number(part) for part in text.split(" / "))
