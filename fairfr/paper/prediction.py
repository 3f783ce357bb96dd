"""What the stand-ins predict: the paper's headline numbers that they were not fitted to, beside ours.

A stand-in's eight numbers are fitted to eight printed figures, five of the Baseline and three of AC-Linear. Every other
method and metric is a prediction, and can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fairfr.paper.against import Compared, compare_with_print, of_quantity, rank_correlation, settings_of
from fairfr.paper.against_tables import CHAPTER
from fairfr.paper.order import ADAPTIVE, HEADLINE, ROWS, setting_name
from fairfr.paper.printed import AUROC, DIGITS, QUANTITIES, TPR, WORST_AUROC, WORST_BRIER, WORST_TPR
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.notes import raw_brier
from fairfr.stored.order import BASELINE, MethodRow
from fairfr.stored.results import Results
from fairfr.stored.run import Run

FITTED_FIGURES: Mapping[str, tuple[Quantity, ...]] = {
    "baseline": (AUROC, WORST_AUROC, TPR, WORST_TPR, WORST_BRIER),
    "ac_linear": (AUROC, WORST_AUROC, TPR),
}
MISSES = 3  # of each quantity, named below the table
FITTED_NOTE = Note(
    "fitted_figures",
    "Numbers in brackets were fitted: five figures of the Baseline and three of AC-Linear. They are in no mean and in "
    "no rank correlation.",
)
UNITS = Note(
    "units",
    "Differences of LU-AUROC and LD-TPR are in groups. The mean over all methods and the rank correlations take the "
    "AC-Density of the text.",
)


def is_fitted(method: str, quantity: Quantity) -> bool:
    """Whether the stand-ins were fitted to this number of a method."""
    return quantity in FITTED_FIGURES.get(method, ())


def prediction(results: Results) -> Iterator[Grid]:
    """One table: mean absolute difference by method and metric, rank correlation by setting; none without numbers."""
    compared = compare_with_print(results)
    if not compared:
        return
    settings = settings_of(compared)
    by_method = []
    for row in ROWS:
        mine = [one for one in compared if one.row == row]
        if mine:
            by_method.append(Line(row.label, tuple(_miss(mine, row, quantity) for quantity in QUANTITIES.values())))
    of_all = [_mean_miss(_predicted(compared, quantity)) for quantity in QUANTITIES.values()]
    correlations = []
    for setting in settings:
        here = [one for one in compared if one.setting == setting]
        entries = [rank_correlation(_predicted(here, quantity)) for quantity in QUANTITIES.values()]
        correlations.append(Line(setting_name(setting), tuple(entries)))
    yield Grid(
        id="prediction",
        title="What the stand-in predicts",
        corner=("Method",),
        spanners=(Spanner("", tuple(quantity.label for quantity in QUANTITIES.values())),),
        sections=(
            Section("Mean absolute difference, ours and printed", tuple(by_method), True),
            Section("", (Line("all that was not fitted", tuple(of_all)),)),
            Section("Rank correlation (Spearman) of the methods that were not fitted", tuple(correlations), True),
        ),
        notes=(
            FITTED_NOTE,
            UNITS,
            *_turned(compared),
            Note("largest", f"{_largest(compared)}.", "Largest misses, ours / printed"),
        ),
        about=(
            f"{results.reading.name.capitalize()} convention, {len(settings)} of {len(HEADLINE)} settings.",
            *raw_brier(_of_worst_brier(results, compared)),
        ),
        source=results.source,
        chapter=CHAPTER,
    )


def _predicted(compared: Sequence[Compared], quantity: Quantity) -> list[Compared]:
    """Those of a quantity that were not fitted, AC-Density in the form of the text."""
    mine = [one for one in of_quantity(compared, quantity) if not one.is_other_form]
    return [one for one in mine if not is_fitted(one.row.id, quantity)]


def _of_worst_brier(results: Results, compared: Sequence[Compared]) -> Iterator[tuple[MethodRow, Run]]:
    """The runs whose worst-group Brier score is here."""
    for one in of_quantity(compared, WORST_BRIER):
        run = results.exact(one.setting, one.row.id)
        if run is not None:
            yield one.row, run


def _miss(mine: Sequence[Compared], row: MethodRow, quantity: Quantity) -> Entry:
    """Of one method, in brackets where it was fitted."""
    entry = _mean_miss(of_quantity(mine, quantity))
    if entry.text and is_fitted(row.id, quantity):
        return Entry(f"({entry.text})", entry.value)
    return entry


def _mean_miss(compared: Sequence[Compared]) -> Entry:
    if not compared:
        return Entry()
    digits = DIGITS
    if compared[0].quantity.group == LIFTED:
        digits = 1
    return number_entry(float(np.mean([abs(one.difference) for one in compared])), digits)


def _turned(compared: Sequence[Compared]) -> Iterator[Note]:
    """Which printed comparisons with the Baseline have the other sign here: a simulation may not be read for them."""
    of_baseline = {(one.quantity, one.setting): one for one in compared if one.row == BASELINE}
    beside = [one for one in compared if one.row != BASELINE and (one.quantity, one.setting) in of_baseline]
    turned: list[str] = []
    own: list[str] = []
    for one in beside:
        baseline = of_baseline[one.quantity, one.setting]
        here = round((one.ours.printed or 0.0) - (baseline.ours.printed or 0.0), DIGITS)
        in_print = round(one.published.value - baseline.published.value, DIGITS)
        if here * in_print < 0:
            said = f"{_named(one)}, {one.quantity.label} {here:+.3f} / {in_print:+.3f}"
            turned.append(said)
            if one.row in ADAPTIVE:
                own.append(said)
    if turned:
        text = (
            f"{len(turned)} of {len(beside)} printed differences to the Baseline have the other sign here. Of the "
            f"paper's own methods (ours / printed): {'; '.join(own) or 'none'}."
        )
        yield Note("turned", text, severity="warning")


def _largest(compared: Sequence[Compared]) -> str:
    """The largest misses of each rate."""
    said = []
    for quantity in QUANTITIES.values():
        if quantity.group == LIFTED:
            continue
        worst = sorted(_predicted(compared, quantity), key=lambda one: -abs(one.difference))[:MISSES]
        if worst:
            each = [f"{_named(one)} {one.ours.shown} / {one.published.text}" for one in worst]
            said.append(f"{quantity.label}: {', '.join(each)}")
    return "; ".join(said)


def _named(one: Compared) -> str:
    return f"{one.row.label} on {setting_name(one.setting)}"
