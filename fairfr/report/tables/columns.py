"""A table's column: a quantity, what it is headed by, and how its numbers are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.run import Reading, Run
from fairfr.report.tables.grid import Entry, fraction_entry, number_entry
from fairfr.report.tables.levels import lifted_groups


@dataclass(frozen=True, slots=True)
class Column:
    """``percent`` multiplies by 100, ``spread`` adds the std over folds, where there are several.

    ``grouping``: whose groups are meant, if not those of the data set's own grouping.
    """

    heading: str
    quantity: Quantity
    digits: int = 3
    percent: bool = False
    spread: bool = False
    grouping: str | None = None

    @property
    def metric(self) -> str:
        return self.quantity.metric

    @property
    def group(self) -> str:
        return self.quantity.group

    @property
    def higher_is_better(self) -> bool | None:
        return self.quantity.higher_is_better

    def entry(self, run: Run, baseline: Run | None, reading: Reading) -> Entry:
        """What a run prints in this column; the Baseline's run of its setting is there for groups lifted."""
        if self.group == LIFTED:
            return self._lifted(run, baseline, reading)
        row = run.row(self.metric, self.group, reading, self.grouping) or {}
        scale = 100 if self.percent else 1
        spread = ""
        if self.spread and row.get("folds", 0) > 1 and row.get("std") is not None:
            spread = f"±{scale * row['std']:.{self.digits}f}"
        entry = number_entry(row.get("mean"), self.digits, scale=scale, spread=spread)
        if not entry.text and self.group != "all" and not run.has_groups:
            return Entry(missing="no groups")
        return entry

    def _lifted(self, run: Run, baseline: Run | None, reading: Reading) -> Entry:
        if baseline is None or run is baseline:
            return Entry()
        found = lifted_groups(run, baseline, self.metric, reading)
        if found is None and run.has_groups:
            return Entry(missing="too few pairs")
        if found is None:
            return Entry(missing="no groups")
        return fraction_entry(found.lifted, found.groups)


def column(heading: str, metric: str, group: str = "all", **form: Any) -> Column:
    """``column("AUROC", "auroc", "worst", digits=2)``."""
    return Column(heading, Quantity(metric, group), **form)


def lifted(heading: str, metric: str) -> Column:
    """K/N of levels.py: groups of the worst-served prefix that improve on the Baseline."""
    return Column(heading, Quantity(metric, LIFTED))


def alphas_of(columns: Sequence[Column]) -> frozenset[str]:
    """The false positive rates on which these numbers hang."""
    return frozenset(column.quantity.alpha for column in columns if column.quantity.alpha is not None)


def has_group_brier(columns: Iterable[Column]) -> bool:
    """Whether one of them is a Brier score of groups, in the paper's reading that of the raw score for some."""
    return any(column.metric == "brier" and column.group != "all" for column in columns)


RESULT_COLUMNS = (
    column("AUROC", "auroc"),
    column("TPR@1e-3", "tpr_at_fpr_1e-3"),
    column("Brier", "brier"),
    column("ECE", "ece_15"),
    column("worst\nAUROC", "auroc", "worst"),
    column("worst\nTPR@1e-3", "tpr_at_fpr_1e-3", "worst"),
    column("worst\nBrier", "brier", "worst"),
)
"""The few numbers by which runs are listed, in the terminal and elsewhere."""
