"""What became better or worse, with intervals: a row of panels for each section, a panel for each quantity."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from fairfr.core.types import Source
from fairfr.report.tables.grid import source_title
from fairfr.report.uncertainty.paired import Change

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# inches
WIDTH = 4.8
PER_ROW = 0.27
FRAME = 1.1


def change_figure(panels: Mapping[str, Mapping[str, Mapping[str, Change]]], source: Source) -> Figure | None:
    """``panels``: section -> quantity -> label -> change. None without any; the data source is shown above them."""
    if not panels:
        return None
    from matplotlib.figure import Figure

    columns = list(dict.fromkeys(chain.from_iterable(panels.values())))
    heights = [FRAME + PER_ROW * max(map(len, of_section.values())) for of_section in panels.values()]
    made = Figure(figsize=(WIDTH * len(columns), sum(heights)), layout="constrained")
    axes = made.subplots(len(panels), len(columns), squeeze=False, height_ratios=heights)
    for row, (section, of_section) in zip(axes, panels.items(), strict=True):
        for ax, quantity in zip(row, columns, strict=True):
            _panel(ax, of_section.get(quantity, {}))
            ax.set_xlabel(quantity, fontsize=8)
        row[0].set_title(section, fontsize=9, loc="left")
        for ax in row[1:]:
            ax.set_yticklabels([])
    made.suptitle(source_title(source), fontsize=9)
    return made


def _panel(ax: Axes, changes: Mapping[str, Change]) -> None:
    for place, change in enumerate(changes.values()):
        colour = "tab:blue" if change.is_clear else "0.6"
        ax.plot([change.low, change.high], [place, place], color=colour, linewidth=1.5)
        ax.plot(change.by, place, "o", color=colour, markersize=5)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(changes)), list(changes), fontsize=8)
    ax.set_ylim(len(changes) - 0.5, -0.5)
    ax.tick_params(axis="x", labelsize=8)
    ax.grid(axis="x", alpha=0.3)
