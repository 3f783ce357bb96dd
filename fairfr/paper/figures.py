"""The paper's printed numbers against ours on the stand-ins: a panel for each metric, a dot for each method and
setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairfr.paper.against import Compared, of_quantity
from fairfr.paper.order import ROWS
from fairfr.paper.prediction import is_fitted
from fairfr.paper.printed import QUANTITIES
from fairfr.report.quantity import LIFTED
from fairfr.report.tables.grid import source_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IN_A_ROW = 3
PANEL = 2.5  # inches
SMALL = 6.5
LARGE = 8.5
MARKERS = {"rfw": "o", "bfw": "s", "lfw": "^"}
COLOURS = (
    "#000000",
    "#56B4E9",
    "#0072B2",
    "#009E73",
    "#882255",
    "#999999",
    "#CC79A7",
    "#AA4499",
    "#F0E442",
    "#D55E00",
    "#E69F00",
    "#661100",
)


def prediction_figure(compared: Sequence[Compared]) -> Figure | None:
    """Rates only, on the diagonal where the two agree; hollow: fitted. None where there is nothing to compare."""
    from matplotlib.figure import Figure

    rates = [quantity for quantity in QUANTITIES.values() if quantity.group != LIFTED]
    shown = [quantity for quantity in rates if of_quantity(compared, quantity)]
    if not shown:
        return None
    rows = -(-len(shown) // IN_A_ROW)
    figure = Figure(figsize=(PANEL * IN_A_ROW, PANEL * rows + 1.1), layout="constrained")
    grid = figure.subplots(rows, IN_A_ROW, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    for axes, quantity in zip(grid.flat, shown, strict=False):
        _draw_panel(axes, of_quantity(compared, quantity))
        axes.set_title(quantity.label, fontsize=LARGE)
    for axes in grid[-1]:
        axes.set_xlabel("printed", fontsize=SMALL)
    for axes in grid[:, 0]:
        axes.set_ylabel("ours", fontsize=SMALL)
    figure.suptitle(f"The paper's numbers and ours\n{source_title('synthetic')}", fontsize=LARGE)
    _write_legend(figure, {one.row.id for one in compared}, {one.published.dataset for one in compared})
    return figure


def _colour(method: str) -> str:
    return COLOURS[[row.id for row in ROWS].index(method) % len(COLOURS)]


def _draw_panel(axes: Axes, compared: Sequence[Compared]) -> None:
    both = [c.published.value for c in compared]
    both += [c.ours.value for c in compared if c.ours.value is not None]
    low = min(both)
    high = max(both)
    room = 0.04 * (high - low) or 0.01
    axes.plot([low - room, high + room], [low - room, high + room], color="0.7", linewidth=0.8, zorder=1)
    for one in compared:
        printed = one.published
        colour = _colour(one.row.id)
        face = "none" if is_fitted(one.row.id, one.quantity) else colour
        axes.plot(
            printed.value,
            one.ours.value or 0.0,
            MARKERS.get(printed.dataset, "o"),
            markersize=4,
            markerfacecolor=face,
            markeredgecolor=colour,
            markeredgewidth=0.7,
        )
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(low - room, high + room)
    axes.set_aspect("equal")
    axes.tick_params(labelsize=SMALL, length=2)
    axes.spines[["top", "right"]].set_visible(False)


def _write_legend(figure: Figure, methods: set[str], datasets: set[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=_colour(row.id), label=row.label)
        for row in ROWS
        if row.id in methods
    ]
    for dataset, marker in MARKERS.items():
        if dataset in datasets:
            handles.append(
                Line2D([], [], linestyle="", marker=marker, markersize=4, color="0.4", label=dataset.upper())
            )
    handles.append(
        Line2D([], [], linestyle="", marker="o", markersize=4, color="0.4", markerfacecolor="none", label="fitted")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=SMALL, frameon=False)
