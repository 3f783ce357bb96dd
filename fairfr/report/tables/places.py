"""A table's column: a quantity, what it is headed by, and how its numbers are printed; K/N, the groups lifted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.grid import Entry, fraction_entry, number_entry, tied_entry
from fairfr.stored.run import Run

NO_IMPROVEMENT = 1e-12  # a difference that rounding makes
"""Two maps that order pairs in the same way give the same AUROC up to rounding, which is not an improvement."""


@dataclass(frozen=True, slots=True)
class Column:
    """``percent`` multiplies by 100, ``spread`` adds the std over folds, where there are several.

    ``grouping``: whose groups are meant, if not those of the data set's own grouping. ``scale`` multiplies by another
    number than 1 or 100. ``pooled``: the value over all held-out pairs together, not the mean over folds.
    ``compared``: the best is bold, if the metric has a direction.
    """

    heading: str
    quantity: Quantity
    digits: int = 3
    percent: bool = False
    spread: bool = False
    grouping: str | None = None
    scale: float | None = None
    pooled: bool = False
    compared: bool = True

    @property
    def metric(self) -> str:
        return self.quantity.metric

    @property
    def group(self) -> str:
        return self.quantity.group

    @property
    def higher_is_better(self) -> bool | None:
        if not self.compared:
            return None
        return self.quantity.higher_is_better

    def entry(self, run: Run, baseline: Run | None) -> Entry:
        """What a run prints in this column; the Baseline's run of its setting is there for groups lifted."""
        entry = self._number(run, baseline)
        alpha = self.quantity.alpha
        if alpha is not None and run.is_tied(alpha):
            return tied_entry(entry)
        return entry

    def _number(self, run: Run, baseline: Run | None) -> Entry:
        if self.group == LIFTED:
            return self._lifted(run, baseline)
        number = run.number(self.metric, self.group, self.grouping)
        scale = self.scale or (100 if self.percent else 1)
        entry = Entry(missing="too few pairs")
        if number is not None:
            value = number.mean
            if self.pooled:
                value = number.pooled
            spread = ""
            if self.spread and number.folds > 1 and number.std is not None:
                spread = f"±{scale * number.std:.{self.digits}f}"
            entry = number_entry(value, self.digits, scale=scale, spread=spread)
        if not entry.text and self.group != "all" and not run.has_groups:
            return Entry(missing="no groups")
        return entry

    def _lifted(self, run: Run, baseline: Run | None) -> Entry:
        if baseline is None or run is baseline:
            return Entry()
        found = lifted_groups(run, baseline, self.metric)
        if found is None and run.has_groups:
            return Entry(missing="too few pairs")
        if found is None:
            return Entry(missing="no groups")
        return fraction_entry(found.lifted, found.groups)


def column(heading: str, metric: str, group: str = "all", **form: Any) -> Column:
    """``column("AUROC", "auroc", "worst", digits=2)``."""
    return Column(heading, Quantity(metric, group), **form)


def lifted(heading: str, metric: str) -> Column:
    """K/N: groups of the worst-served prefix that improve on the Baseline."""
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


class LiftedGroups(NamedTuple):
    """K of N groups: the longest run of groups, worst first, that all improve on the Baseline."""

    lifted: int
    groups: int

    def __str__(self) -> str:
        return f"{self.lifted}/{self.groups}"


def count_lifted(baseline: Mapping[str, float], method: Mapping[str, float]) -> LiftedGroups:
    """Order groups by their Baseline value, worst first, and count those lifted before the first that is not.

    Values are unrounded fold means, higher is better. N counts the groups that have a Baseline value; equals keep the
    order in which they are given; a group without a value of the method is not lifted.
    """
    worst_first = sorted(baseline, key=lambda group: baseline[group])
    lifted = 0
    for group in worst_first:
        if not method.get(group, float("-inf")) > baseline[group] + NO_IMPROVEMENT:
            break
        lifted += 1
    return LiftedGroups(lifted, len(worst_first))


def lifted_groups(run: Run, baseline: Run, metric: str) -> LiftedGroups | None:
    """K/N of a run against the Baseline's run of the same setting; None where no group has a value."""
    found = count_lifted(baseline.by_group(metric), run.by_group(metric))
    if not found.groups:
        return None
    return found
