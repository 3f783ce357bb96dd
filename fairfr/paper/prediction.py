"""What the stand-ins predict: the paper's headline numbers that they were not fitted to, beside ours.

A stand-in's eight numbers are fitted to eight printed figures, five of the Baseline and three of AC-Linear. Every other
method and metric is a prediction, and can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from fairfr.paper.comparison import CHAPTER, Compared, compare_all_forms, spearman
from fairfr.paper.numbers import RunNumbers
from fairfr.paper.order import ADAPTIVE, DATASETS, DENSITY_LOO, HEADLINE, HEADLINE_BACKBONES, ROWS
from fairfr.paper.printed import AUROC, QUANTITIES, TPR, WORST_AUROC, WORST_BRIER, WORST_TPR
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
DIGITS = 3
MISSES = 3  # of each quantity, named below the table
OWN = frozenset(row.id for row in ADAPTIVE)
LABEL = {row.id: row.label for row in ROWS}


def is_fitted(method: str, quantity: Quantity) -> bool:
    """Whether the stand-ins were fitted to this number of a method."""
    return quantity in FITTED_FIGURES.get(method, ())


def compared_with_print(runs: Results) -> list[Compared]:
    """Every headline number of the paper beside ours, both forms of AC-Density against the one that is printed."""
    return list(compare_all_forms(runs).values())


def prediction(runs: Results) -> list[Grid]:
    """One table: mean absolute difference by method and metric, rank correlation by setting; none without numbers."""
    compared = compared_with_print(runs)
    if not compared:
        return []
    here = {(c.published.dataset, c.published.backbone) for c in compared}
    settings = [setting for setting in HEADLINE if setting in here]
    compared_methods = {c.published.method for c in compared}
    methods = [row.id for row in ROWS if row.id in compared_methods]
    everything = Line("all that was not fitted", tuple(_mean_miss(predicted(compared, q)) for q in QUANTITIES.values()))
    correlations = []
    for dataset, backbone in settings:
        label = f"{DATASETS[dataset]} {HEADLINE_BACKBONES[backbone]}"
        of_setting = [c for c in compared if (c.published.dataset, c.published.backbone) == (dataset, backbone)]
        correlations.append(Line(label, tuple(_correlation(predicted(of_setting, q)) for q in QUANTITIES.values())))
    return [
        Grid(
            id="prediction",
            title="What the stand-in predicts",
            corner=("Method",),
            spanners=(Spanner("", tuple(quantity.label for quantity in QUANTITIES.values())),),
            sections=(
                Section("Mean absolute difference, ours and printed", tuple(_line(m, compared) for m in methods), True),
                Section("", (everything,)),
                Section("Rank correlation (Spearman) of the methods that were not fitted", tuple(correlations), True),
            ),
            notes=(
                Note(
                    "fitted_figures",
                    "Numbers in brackets were fitted: five figures of the Baseline and three of AC-Linear. They are in "
                    "no mean and in no rank correlation.",
                ),
                Note(
                    "units",
                    "Differences of LU-AUROC and LD-TPR are in groups. The mean over all methods and the rank "
                    "correlations take the AC-Density of the text.",
                ),
                *_turned(compared),
                Note("largest", f"{_largest(compared)}.", "Largest misses, ours / printed"),
            ),
            about=(
                f"{runs.reading.name.capitalize()} reading, {len(settings)} of {len(HEADLINE)} settings.",
                *raw_brier(_with_worst_brier(runs, compared)),
            ),
            source=runs.source,
            chapter=CHAPTER,
        )
    ]


def predicted(compared: Iterable[Compared], quantity: Quantity) -> list[Compared]:
    """Those of a quantity that were not fitted, AC-Density in the form of the text."""
    return [
        c
        for c in compared
        if c.published.quantity == quantity
        and c.published.method != DENSITY_LOO.id
        and not is_fitted(c.published.method, quantity)
    ]


def _with_worst_brier(runs: Results, compared: Iterable[Compared]) -> Iterator[tuple[MethodRow, Run]]:
    """The runs whose worst-group Brier score is here."""
    numbers = RunNumbers(runs)
    rows = {row.id: row for row in ROWS}
    for one in compared:
        printed = one.published
        run = numbers.result(printed.dataset, printed.backbone, printed.method)
        if printed.quantity == WORST_BRIER and run is not None:
            yield rows[printed.method], run


def _line(method: str, compared: Sequence[Compared]) -> Line:
    entries = []
    for quantity in QUANTITIES.values():
        mine = [c for c in compared if (c.published.method, c.published.quantity) == (method, quantity)]
        entry = _mean_miss(mine)
        if entry.text and is_fitted(method, quantity):
            entry = Entry(f"({entry.text})", entry.value)
        entries.append(entry)
    return Line(LABEL[method], tuple(entries))


def _mean_miss(compared: Sequence[Compared]) -> Entry:
    if not compared:
        return Entry()
    digits = 1 if compared[0].published.quantity.group == LIFTED else DIGITS
    return number_entry(float(np.mean([abs(c.difference) for c in compared])), digits)


def _correlation(compared: Sequence[Compared]) -> Entry:
    rho = spearman([c.ours.value or 0.0 for c in compared], [c.published.value for c in compared])
    if rho is None:
        return Entry()
    return number_entry(rho, 2)


def _turned(compared: Sequence[Compared]) -> Iterator[Note]:
    """Which printed comparisons with the Baseline have the other sign here: a simulation may not be read for them."""
    of_baseline = {_place(one): one for one in compared if one.published.method == BASELINE.id}
    beside = [one for one in compared if one.published.method != BASELINE.id and _place(one) in of_baseline]
    turned: list[str] = []
    own: list[str] = []
    for one in beside:
        baseline = of_baseline[_place(one)]
        here = round((one.ours.printed or 0.0) - (baseline.ours.printed or 0.0), DIGITS)
        in_print = round(one.published.value - baseline.published.value, DIGITS)
        if here * in_print < 0:
            said = f"{_row_and_setting(one)}, {one.published.quantity.label} {here:+.3f} / {in_print:+.3f}"
            turned.append(said)
            if one.published.method in OWN:
                own.append(said)
    if turned:
        text = (
            f"{len(turned)} of {len(beside)} printed differences to the Baseline have the other sign here. Of the "
            f"paper's own methods (ours / printed): {'; '.join(own) or 'none'}."
        )
        yield Note("turned", text, severity="warning")


def _place(one: Compared) -> tuple[Quantity, str, str]:
    printed = one.published
    return printed.quantity, printed.dataset, printed.backbone


def _largest(compared: Sequence[Compared]) -> str:
    """The largest misses of each rate."""
    said = []
    for quantity in QUANTITIES.values():
        if quantity.group == LIFTED:
            continue
        worst = sorted(predicted(compared, quantity), key=lambda c: -abs(c.difference))[:MISSES]
        if worst:
            said.append(f"{quantity.label}: {', '.join(map(_named, worst))}")
    return "; ".join(said)


def _named(one: Compared) -> str:
    return f"{_row_and_setting(one)} {one.ours.shown} / {one.published.text}"


def _row_and_setting(one: Compared) -> str:
    printed = one.published
    return f"{LABEL[printed.method]} on {DATASETS[printed.dataset]} {HEADLINE_BACKBONES[printed.backbone]}"
