"""Curves of several methods over one quantity, a panel for each data set and backbone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fairfr.report.studies.study_runs import StudyRuns
from fairfr.report.tables.grid import SOURCE_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (4.6, 3.4)  # inches
MARKERS = "osD^vPX*"


class Curve(NamedTuple):
    """One method: its values ``y`` over ``x`` (m,), with the half-width ``band`` (m,) of what surrounds them."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    band: tuple[float, ...]


def curve_figure(panels: Mapping[str, Sequence[Curve]], x_label: str, y_label: str, runs: StudyRuns) -> Figure | None:
    """A panel for each entry of ``panels``, by its title; None without any. The data source stands above them."""
    if not panels:
        return None
    from matplotlib.figure import Figure

    made = Figure(figsize=(PANEL[0] * len(panels), PANEL[1]), layout="constrained")
    axes = made.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        _panel(ax, curves)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(x_label)
    axes[0].set_ylabel(y_label)
    made.legend(*axes[-1].get_legend_handles_labels(), fontsize=8, loc="outside right center")
    made.suptitle(SOURCE_LABEL[runs.source], fontsize=9)
    return made


def _panel(ax: Axes, curves: Sequence[Curve]) -> None:
    for curve, marker in zip(curves, MARKERS, strict=False):
        (line,) = ax.plot(curve.x, curve.y, marker=marker, markersize=4, label=curve.label)
        low, high = ([y + side * b for y, b in zip(curve.y, curve.band, strict=True)] for side in (-1, 1))
        ax.fill_between(curve.x, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    ax.set_xticks(sorted({x for curve in curves for x in curve.x}))
    ax.grid(alpha=0.3)
