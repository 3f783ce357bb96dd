"""How sure a mean is: its spread over folds, a bootstrap interval over identities, and paired differences.

Fold means are what the other tables print. The bootstrap speaks of the *pooled* value, all held-out pairs together,
which stands beside the mean. The two differ a little: a method's maps differ between folds, and for the worst group
the mean of the folds' minima is not the minimum of the pool. The worst group has two intervals: of the minimum that
one finds, and of the true worst group's value, from intervals that hold for all groups together (``_groups_grid``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan
from typing import NamedTuple, TypeAlias

import numpy as np

from fairfr.core.types import F64
from fairfr.metrics.summary import ENOUGH_FALSE_MATCHES
from fairfr.report.scores import where
from fairfr.report.tables.grid import Cell, ColumnGroup, Grid, Line, Section, Tone, mark_best
from fairfr.report.tables.order import BASELINE, Row
from fairfr.report.uncertainty.bootstrap import HIGHER_IS_BETTER, interval, simultaneous, true_worst
from fairfr.report.uncertainty.by_setting import ALPHA, Bootstrapped, Bootstraps

DIGITS = 4
PLACES = {"all": "All pairs", "worst": "Worst group"}
MEANS = {
    "all": ("mean", "fold std", "pooled", "95 % interval"),
    "worst": ("mean", "fold std", "pooled", "95 % of the expected worst", "95 % of the true worst"),
}
DUELS = (("ac_density", "faircal"), ("ac_density_loo", "faircal"), ("ac_linear", "faircal"))
TWO_WORSTS = (
    "The worst group has two intervals. The first is of the expected worst value, found anew in each draw; with noisy "
    "groups that lies beyond the true worst group's value, which it need not cover. The second covers the true worst "
    "group's value; its ends are the worst lower and the worst upper bound of simultaneous intervals for all groups, "
    "which have a table of their own."
)
TOGETHER = (
    "The intervals of one line cover the true values of all its groups together in 95 % of cases (percentile "
    "bootstrap, the same share of the draws cut off in every group; Mandel and Betensky 2008). Each is wider than one "
    "that stands alone."
)
HOW_TO_READ_DIFFERENCES = (
    "Difference of the pooled values, its 95 % interval on draws that both methods share, and the share of draws in "
    "which the method is better (ties count half). Coloured: the interval leaves out zero. For Brier, negative is "
    "better."
)


class Quantity(NamedTuple):
    """A metric here and in result.json."""

    id: str
    stored: str
    heading: str


LineOf: TypeAlias = Callable[[Bootstrapped, Row, Quantity], Line]
QUANTITIES = (
    Quantity("auroc", "auroc", "AUROC"),
    Quantity("tpr", "tpr_at_fpr_1e-3", "TPR@1e-3"),
    Quantity("brier", "brier", "Brier"),
)


def uncertainty_tables(bootstraps: Bootstraps) -> list[Grid]:
    """For each data set and backbone: means with their uncertainty, groups, and paired differences between methods.

    Settings whose scores are not at hand are left out.
    """
    grids = []
    for dataset, backbone in bootstraps.runs.settings:
        found = bootstraps.of((dataset, backbone))
        if found is None:
            continue
        grids.append(_means_grid(found, f"uncertainty_{dataset}_{backbone}"))
        if found.groups:
            grids.append(_groups_grid(found, f"uncertainty_groups_{dataset}_{backbone}"))
        sections = tuple(_duel_sections(found))
        if sections:
            grids.append(_differences_grid(found, sections, f"differences_{dataset}_{backbone}"))
    return grids


def _means_grid(found: Bootstrapped, id: str) -> Grid:
    bold = [True, False, True, False] * 2 + [False]
    return Grid(
        id=id,
        caption=f"Uncertainty of the means on {_caption(found)}",
        corner=("Method",),
        groups=tuple(ColumnGroup(PLACES[place], columns) for place, columns in MEANS.items()),
        sections=_by_quantity(found, _means_line, bold),
        notes=(TWO_WORSTS, *_notes(found)),
    )


def _by_quantity(found: Bootstrapped, line_of: LineOf, bold: list[bool]) -> tuple[Section, ...]:
    """A section for each metric, a line for each method; ``bold``: the columns whose best value is marked."""
    sections = []
    for quantity in QUANTITIES:
        lines = [line_of(found, row, quantity) for row in found.rows]
        better = [HIGHER_IS_BETTER[quantity.id] if column else None for column in bold]
        sections.append(Section(quantity.heading, tuple(mark_best(lines, better))))
    return tuple(sections)


def _means_line(found: Bootstrapped, row: Row, quantity: Quantity) -> Line:
    result = found.results[row.id]
    cells: list[Cell] = []
    for place in PLACES:
        stored = result.row(quantity.stored, place, found.reading) or {}
        pooled, drawn = found.value(row, quantity.id, place)
        cells += [_number(stored.get("mean")), _number(stored.get("std")), _number(pooled), Cell(_span(drawn))]
    bounds = simultaneous(found.measured[row.id].groups(quantity.id)[1])
    cells.append(Cell(_range(*true_worst(bounds, HIGHER_IS_BETTER[quantity.id]))))
    return Line(row.label, tuple(cells), result.needs_groups)


def _groups_grid(found: Bootstrapped, id: str) -> Grid:
    """Every group with an interval; those of a line hold together."""
    return Grid(
        id=id,
        caption=f"Every group with a simultaneous interval on {_caption(found)}",
        corner=("Method",),
        groups=tuple(ColumnGroup(name.replace("_", " "), ("pooled", "95 %, together")) for name in found.groups),
        sections=_by_quantity(found, _groups_line, [True, False] * len(found.groups)),
        notes=(TOGETHER, *_notes(found)),
    )


def _groups_line(found: Bootstrapped, row: Row, quantity: Quantity) -> Line:
    pooled, drawn = found.measured[row.id].groups(quantity.id)
    cells: list[Cell] = []
    for value, (low, high) in zip(pooled, simultaneous(drawn).T, strict=True):
        cells += [_number(float(value)), Cell(_range(low, high))]
    return Line(row.label, tuple(cells), found.results[row.id].needs_groups)


def _differences_grid(found: Bootstrapped, sections: tuple[Section, ...], id: str) -> Grid:
    columns = ("difference", "95 % interval", "better in")
    return Grid(
        id=id,
        caption=f"Paired differences between methods on {_caption(found)}",
        corner=("Method",),
        groups=tuple(ColumnGroup(heading, columns) for heading in PLACES.values()),
        sections=sections,
        notes=(HOW_TO_READ_DIFFERENCES, *_notes(found)),
    )


def _duel_sections(found: Bootstrapped) -> Iterator[Section]:
    """Each metric against the Baseline, then against FairCal; only the comparisons that have both runs."""
    by_id = {row.id: row for row in found.rows}
    pairings = [(row.id, BASELINE.id) for row in found.rows if row.id != BASELINE.id]
    for quantity in QUANTITIES:
        for other, wanted in ((BASELINE.id, pairings), ("faircal", DUELS)):
            duels = [(by_id[a], by_id[b]) for a, b in wanted if a in by_id and b in by_id]
            if duels:
                lines = tuple(_duel_line(found, a, b, quantity) for a, b in duels)
                yield Section(f"{quantity.heading}, minus {by_id[other].label}", lines)


def _duel_line(found: Bootstrapped, a: Row, b: Row, quantity: Quantity) -> Line:
    cells: list[Cell] = []
    for place in PLACES:
        (ours, drawn), (theirs, other) = (found.value(row, quantity.id, place) for row in (a, b))
        cells += _difference_cells(ours - theirs, drawn - other, HIGHER_IS_BETTER[quantity.id])
    return Line(a.label, tuple(cells), found.results[a.id].needs_groups)


def _difference_cells(difference: float, drawn: F64, higher_is_better: bool) -> list[Cell]:
    """The difference, its interval, and in which share of the draws (draws,) it is for the better."""
    known = drawn[~np.isnan(drawn)]
    if isnan(difference) or len(known) == 0:
        return [Cell(), Cell(), Cell()]
    low, high = interval(known)
    gain = known if higher_is_better else -known
    share = float(np.mean(gain > 0) + np.mean(gain == 0) / 2)
    tone: Tone = "plain" if low <= 0 <= high else "improved" if (low > 0) == higher_is_better else "degraded"
    return [
        Cell(f"{difference:+.{DIGITS}f}", difference, tone=tone),
        Cell(_span(known, "+")),
        Cell(f"{100 * share:.1f} %", share),
    ]


def _number(value: float | None) -> Cell:
    return Cell() if value is None or isnan(value) else Cell(f"{value:.{DIGITS}f}", value)


def _span(drawn: F64, sign: str = "") -> str:
    return _range(*interval(drawn), sign)


def _range(low: float, high: float, sign: str = "") -> str:
    return "" if isnan(low) else f"[{low:{sign}.{DIGITS}f}, {high:{sign}.{DIGITS}f}]"


def _caption(found: Bootstrapped) -> str:
    folds = len(found.first.stored["data"]["folds"])
    reading = found.reading.capitalize()
    drawn = "identities" if found.known == 1 else "units" if not found.known else "identities, partly guessed"
    return f"{where(found.first)}. {reading} reading; {folds} held-out folds; {found.draws:,} draws over {drawn}."


def _notes(found: Bootstrapped) -> tuple[str, ...]:
    scheme = (
        f"Percentile bootstrap of the pooled value over {found.units:,} {_units(found)}; one met in a single pair goes "
        "with its partner. No method is fitted again. The worst group is found anew in each draw. Fold std (ddof 0) is "
        "the spread over folds, no confidence interval."
    )
    fewer = f"{found.draws:,} draws instead of {found.asked:,}, to bound the time on so many pairs."
    strangers = f"Left out, because they scored other pairs than {found.rows[0].label}: {', '.join(found.strangers)}."
    keys = ", ".join(f"{row.label} {found.results[row.id].stored['key']}" for row in found.rows)
    notes = (
        scheme,
        fewer if found.draws < found.asked else "",
        _few_false_matches(found),
        strangers if found.strangers else "",
        f"Runs: {keys}.",
    )
    return tuple(note for note in notes if note)


def _units(found: Bootstrapped) -> str:
    """Who was drawn, in words."""
    linked = "images linked by genuine pairs, so that a person may count as several and intervals may be too narrow"
    if found.known == 1:
        return "identities, as the data names them"
    if found.known:
        return f"identities, as the data names them for {found.known:.0%} of the images; elsewhere {linked}"
    why = "the runs did not keep identities" if found.known is None else "the data names no identities"
    return f"units ({why}): {linked}"


def _few_false_matches(found: Bootstrapped) -> str:
    """The paper's last appendix paragraph, for these pairs: with so few false matches TPR hangs on single pairs."""
    data = found.first.stored["data"]
    pooled = ALPHA * (data["pairs"] - data["same"])
    in_fold = pooled / len(data["folds"])
    if in_fold >= ENOUGH_FALSE_MATCHES:
        return ""
    verdict = "too few as well" if pooled < ENOUGH_FALSE_MATCHES else "enough"
    return (
        f"Warning: at FPR 1e-3 a fold expects {in_fold:.1f} false matches, fewer than {ENOUGH_FALSE_MATCHES}, so that "
        f"its TPR is noisy and biased upwards; all folds together expect {pooled:.1f}, {verdict}."
    )
