"""The paper's headline numbers against ours: each printed number beside that of a run, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfr.core.types import F64
from fairfr.paper.numbers import our_entry
from fairfr.paper.order import HEADLINE, PAPER_ROWS, ROWS, setting_name
from fairfr.paper.printed import (
    AUROC,
    BRIER,
    DIGITS,
    LD_TPR,
    LU_AUROC,
    TPR,
    WORST_AUROC,
    WORST_BRIER,
    WORST_TPR,
    PrintedNumber,
    printed_headline,
)
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.grid import Entry, Tone, number_entry
from fairfr.stored.order import MethodRow, Setting
from fairfr.stored.results import Results
from fairfr.stored.run import Run

# What another seed, k-means start or embedding file moves. TPR at 1e-3 rests on about one false match in an RFW fold.
TOLERANCE = {
    AUROC: 0.005,
    WORST_AUROC: 0.010,
    BRIER: 0.005,
    WORST_BRIER: 0.010,
    TPR: 0.030,
    WORST_TPR: 0.050,
    LU_AUROC: 1.0,  # groups
    LD_TPR: 1.0,
}
MIN_RANKED = 3
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Compared:
    """A printed number of the paper, and ours of the row that stands against it.

    ``difference`` is between the printed values; of two K/N it is in groups, of the paper's N.
    """

    published: PrintedNumber
    row: MethodRow
    ours: Entry
    difference: float

    @property
    def quantity(self) -> Quantity:
        return self.published.quantity

    @property
    def setting(self) -> Setting:
        return self.published.setting

    @property
    def is_other_form(self) -> bool:
        """Whether the paper prints one method where we have two forms, and ours is the second."""
        return self.row.id != self.published.method

    @property
    def name(self) -> str:
        """Method, data set and backbone in words."""
        return f"{self.row.label}, {setting_name(self.setting)}"

    @property
    def beyond(self) -> bool:
        return abs(self.difference) > TOLERANCE[self.quantity] + _ROUNDING

    @property
    def difference_entry(self) -> Entry:
        """The difference as printed, marked where it is beyond the tolerance."""
        digits = DIGITS
        if self.quantity.group == LIFTED and self.difference.is_integer():
            digits = 0
        tone: Tone = "plain"
        if self.beyond:
            tone = "beyond"
        return number_entry(self.difference, digits, sign="+", tone=tone)


def compare_with_print(results: Results) -> list[Compared]:
    """Every headline number of the paper for which a run gives ours; then those of second forms of its methods."""
    rows = {row.id: row for row in PAPER_ROWS}
    both = [(rows[published.method], published) for published in printed_headline()]
    for row in ROWS:
        if row not in PAPER_ROWS:
            both += [(row, published) for published in printed_headline() if published.method == row.printed]
    found = [_compare(results, row, published) for row, published in both]
    return [compared for compared in found if compared is not None]


def _compare(results: Results, row: MethodRow, published: PrintedNumber) -> Compared | None:
    quantity = published.quantity
    ours = our_entry(results, quantity, published.setting, row.id)
    if ours.printed is None:
        return None
    difference = ours.printed - published.value
    ties = ""
    if quantity.group == LIFTED:
        difference *= published.groups
    else:
        ties = _ties(results.exact(published.setting, row.id), quantity)
    ours = replace(ours, value=ours.printed, spread=ties, tied=False)
    return Compared(published, row, ours, round(difference, DIGITS))


def _ties(run: Run | None, quantity: Quantity) -> str:
    """What the score gives where ties of the probability decide the value, in words; "" where they do not."""
    if run is None or quantity.alpha is None or not run.is_tied(quantity.alpha):
        return ""
    value = number_entry(run.mean(quantity.metric, quantity.group), DIGITS).text
    by_score = number_entry(run.mean_by_score(quantity.metric, quantity.group), DIGITS).text
    if by_score == value:
        return " (ties)"
    return f" (ties; by score {by_score})"


def of_quantity(compared: Iterable[Compared], quantity: Quantity) -> list[Compared]:
    """Those of one quantity."""
    return [one for one in compared if one.quantity == quantity]


def settings_of(compared: Iterable[Compared]) -> list[Setting]:
    """The headline settings that have a number of ours, in the paper's order."""
    found = {one.setting for one in compared}
    return [setting for setting in HEADLINE if setting in found]


def rank_correlation(compared: Sequence[Compared]) -> Entry:
    """Of ours and the printed ones; nothing where it is undefined."""
    rho = spearman([one.ours.value or 0.0 for one in compared], [one.published.value for one in compared])
    if rho is None:
        return Entry()
    return number_entry(rho, 2)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties at their mean rank; None where it is undefined."""
    if len(first) < MIN_RANKED or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> F64:
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: F64 = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks
