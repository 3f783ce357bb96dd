"""Curves of several methods over one quantity, and changes with intervals: a panel for each data set and backbone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairfr.core.text import escape_mathtext
from fairfr.core.types import Source
from fairfr.report.figures.text_size import text_height, text_width, wrapped
from fairfr.report.study import Study
from fairfr.report.tables.grid import source_title
from fairfr.report.uncertainty.setting_bootstrap import Change
from fairfr.stored.results import Results
from fairfr.stored.run import Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (4.6, 3.4)  # inches
IN_A_ROW = 4
MARKERS = "osD^vPX*"

# inches
WIDTH = 4.8
LABEL_WIDTH = 1.0
PER_ROW = 0.27
FRAME = 1.1


class Curve(NamedTuple):
    """One method: its values ``y`` over ``x`` (m,), with the half-width ``band`` (m,) of what surrounds them."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    band: tuple[float, ...]


def study_curves(study: Study, results: Results, parameter: str, scale: float = 1) -> dict[str, list[Curve]]:
    """A curve for each method over a parameter, times ``scale``: a panel for each section and number, by its title."""
    panels: dict[str, list[Curve]] = {}
    for section, several in groupby(study.measured(results), key=lambda one: one[0].section):
        measured = list(several)
        for position, place in enumerate(study.numbers):
            curves = []
            for method, label in study.methods.items():
                shown = [(row.where[parameter] * scale, ours[method]) for row, ours in measured if method in ours]
                points = [(x, numbers[position]) for x, numbers in shown]
                curves.append(_curve_through(label, points, place.form.spread))
            title = section
            if len(study.numbers) > 1:
                title = f"{section}: {place.heading}"
            drawn = [curve for curve in curves if curve is not None]
            if drawn:
                panels[title] = drawn
    return panels


def _curve_through(label: str, points: Sequence[tuple[float, Number | None]], spread: bool) -> Curve | None:
    """The curve through the points that have a number; None with fewer than two. ``spread``: in a band of its std."""
    x = []
    y = []
    band = []
    for position, number in points:
        if number is not None and number.mean is not None:
            x.append(position)
            y.append(number.mean)
            band.append(float(spread) * (number.std or 0.0))
    if len(x) < 2:
        return None
    return Curve(label, tuple(x), tuple(y), tuple(band))


def curve_figure(
    panels: Mapping[str, Sequence[Curve]], x_label: str, y_label: str, results: Results, log: bool = False
) -> Figure | None:
    """A panel for each entry of ``panels``, by its title; None without any. The data source is shown above them.

    ``log``: x in equal ratios.
    """
    if not panels:
        return None
    from matplotlib.figure import Figure

    columns = min(IN_A_ROW, len(panels))
    rows = -(-len(panels) // columns)
    titles = [wrapped(title, PANEL[0] - 0.8, 10) for title in panels]
    legend = list(panels.values())[-1]
    width = PANEL[0] * columns + text_width([curve.label for curve in legend], 8)
    height = PANEL[1] * rows + max(text_height(title, 10) for title in titles) * rows
    made = Figure(figsize=(width, height), layout="constrained")
    axes = made.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    for ax, title, curves in zip(axes.flat, titles, panels.values(), strict=False):
        _panel(ax, curves, log)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(x_label)
    for ax in axes[:, 0]:
        ax.set_ylabel(y_label)
    made.legend(*axes.flat[len(panels) - 1].get_legend_handles_labels(), fontsize=8, loc="outside right center")
    made.suptitle(wrapped(source_title(results.source), width, 9), fontsize=9)
    return made


def _panel(ax: Axes, curves: Sequence[Curve], log: bool) -> None:
    for curve, marker in zip(curves, MARKERS, strict=False):
        (line,) = ax.plot(curve.x, curve.y, marker=marker, markersize=4, label=escape_mathtext(curve.label))
        low = np.subtract(curve.y, curve.band)
        high = np.add(curve.y, curve.band)
        ax.fill_between(curve.x, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    if log:
        ax.set_xscale("log")
        ax.minorticks_off()
    positions: set[float] = set().union(*(curve.x for curve in curves))
    ticks = sorted(positions)
    ax.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, min(top, 1.0))  # nothing that is drawn here exceeds it
    ax.grid(alpha=0.3)


def change_figure(panels: Mapping[str, Mapping[str, Mapping[str, Change]]], source: Source) -> Figure | None:
    """``panels``: section -> quantity -> label -> change. None without any; the data source is shown above them."""
    if not panels:
        return None
    from matplotlib.figure import Figure

    columns = list(dict.fromkeys(chain.from_iterable(panels.values())))
    heights = [FRAME + PER_ROW * max(map(len, of_section.values())) for of_section in panels.values()]
    labels: set[str] = set().union(*(changes for of_section in panels.values() for changes in of_section.values()))
    width = WIDTH * len(columns) + max(0.0, text_width(labels, 8) - LABEL_WIDTH)
    made = Figure(figsize=(width, sum(heights)), layout="constrained")
    axes = made.subplots(len(panels), len(columns), squeeze=False, height_ratios=heights)
    for row, (section, of_section) in zip(axes, panels.items(), strict=True):
        for ax, quantity in zip(row, columns, strict=True):
            _change_panel(ax, of_section.get(quantity, {}))
            ax.set_xlabel(quantity, fontsize=8)
        row[0].set_title(wrapped(section, WIDTH - LABEL_WIDTH, 9), fontsize=9, loc="left")
        for ax in row[1:]:
            ax.set_yticklabels([])
    made.suptitle(wrapped(source_title(source), width, 9), fontsize=9)
    return made


def _change_panel(ax: Axes, changes: Mapping[str, Change]) -> None:
    for place, change in enumerate(changes.values()):
        colour = "tab:blue" if change.is_clear else "0.6"
        ax.plot([change.low, change.high], [place, place], color=colour, linewidth=1.5)
        ax.plot(change.by, place, "o", color=colour, markersize=5)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(changes)), [escape_mathtext(label) for label in changes], fontsize=8)
    ax.set_ylim(len(changes) - 0.5, -0.5)
    ax.tick_params(axis="x", labelsize=8)
    ax.grid(axis="x", alpha=0.3)
