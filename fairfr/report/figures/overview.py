"""Worst-group AUROC by method and setting: a row of panels for each data set, a panel for each backbone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from fairfr.report.figures.text import as_drawn
from fairfr.report.readings import Reading, Result
from fairfr.report.runs import Runs
from fairfr.report.tables.order import ADAPTIVE, BASELINE, ROWS, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRIC = "auroc"
MOST_WIDTH, LEAST_WIDTH = 7.1, 3.5
PANEL_WIDTH, LABEL_WIDTH = 1.6, 0.95
ROW_HEIGHT, PANEL_MARGIN, FIGURE_MARGIN = 0.16, 0.55, 0.75
SMALL, LARGE = 6.5, 8.5
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "0.45"

Panel: TypeAlias = dict[Row, Result]


def overview_figure(runs: Runs, reading: Reading) -> Figure | None:
    """Fold means with their std, and the Baseline as a line; None where no run has a worst group."""
    from matplotlib.figure import Figure

    lines = _lines(runs, reading)
    panels = [panel for line in lines for panel in line]
    if not panels:
        return None
    rows = [row for row in ROWS if any(row in panel for panel in panels)]
    n_columns = max(len(line) for line in lines)
    height = FIGURE_MARGIN + len(lines) * (PANEL_MARGIN + ROW_HEIGHT * len(rows))
    width = min(MOST_WIDTH, max(LEAST_WIDTH, LABEL_WIDTH + PANEL_WIDTH * n_columns))
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(len(lines), n_columns, squeeze=False, sharey=True)
    for line, places in zip(lines, grid, strict=True):
        for panel, axes in zip(line, places, strict=False):
            _draw_panel(axes, panel, rows, reading)
        for axes in places[len(line) :]:
            axes.set_visible(False)
        _scale_alike(list(places[: len(line)]))
    _label_rows(grid[0, 0], rows, panels)
    _write_around(figure, runs, reading)
    return figure


def _lines(runs: Runs, reading: Reading) -> list[list[Panel]]:
    """The runs that have a worst group, by data set, then by backbone."""
    by_dataset: dict[str, list[Panel]] = {}
    for setting in runs.settings:
        found = {row: runs.get(*setting, row.method(reading)) for row in ROWS}
        panel = {
            row: result
            for row, result in found.items()
            if result is not None and result.mean(METRIC, "worst", reading) is not None
        }
        if panel:
            by_dataset.setdefault(setting[0], []).append(panel)
    return list(by_dataset.values())


def _draw_panel(axes: Axes, panel: Panel, rows: list[Row], reading: Reading) -> None:
    some = next(iter(panel.values())).stored
    axes.set_title(as_drawn(f"{some['dataset']['label']}\n{some['backbone']['label']}"), fontsize=SMALL)
    axes.tick_params(axis="x", labelsize=SMALL, length=2)
    axes.tick_params(axis="y", labelsize=SMALL, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    for row, result in panel.items():
        stored = result.row(METRIC, "worst", reading) or {}
        mean, std, at = stored["mean"], stored.get("std") or 0.0, rows.index(row)
        if row == BASELINE:
            axes.axvline(mean, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        colour = VERMILION if row in ADAPTIVE else GREY if row == BASELINE else BLUE
        axes.plot([mean - std, min(1.0, mean + std)], [at, at], color=colour, linewidth=0.7, zorder=2)
        face = "white" if result.needs_groups else colour
        axes.plot(mean, at, "o", markersize=4, markerfacecolor=face, markeredgecolor=colour, zorder=3)


def _scale_alike(places: list[Axes]) -> None:
    """One scale for the panels of a data set, each around its own values: backbones differ more than methods do."""
    limits = [axes.get_xlim() for axes in places]
    span = max(high - low for low, high in limits)
    for axes, (low, high) in zip(places, limits, strict=True):
        middle = (low + high) / 2
        axes.set_xlim(middle - span / 2, middle + span / 2)
        axes.locator_params(axis="x", nbins=3)


def _label_rows(axes: Axes, rows: list[Row], panels: list[Panel]) -> None:
    """Panels share their y axis: labelled once. The dagger comes from what the runs declare."""
    daggers = {row for panel in panels for row, result in panel.items() if result.needs_groups}
    axes.set_yticks(range(len(rows)), [as_drawn(row.label) + ("†" if row in daggers else "") for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)


def _write_around(figure: Figure, runs: Runs, reading: Reading) -> None:
    from matplotlib.lines import Line2D

    synthetic = "\nSYNTHETIC stand-in, not faces" if runs.source == "synthetic" else ""
    figure.suptitle(f"Worst-group AUROC ({reading} reading){synthetic}", fontsize=LARGE)
    kinds = (
        ("adaptive calibration", VERMILION, VERMILION),
        ("other, label-free", BLUE, BLUE),
        ("† needs group labels", BLUE, "white"),
    )
    handles = [
        Line2D([], [], marker="o", markersize=4, linewidth=0.7, color=edge, markerfacecolor=face, label=label)
        for label, edge, face in kinds
    ]
    handles.append(Line2D([], [], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), label="Baseline"))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=2 if figure.get_figwidth() < MOST_WIDTH - 2 else 4,
        fontsize=SMALL,
        frameon=False,
        title="mean and std over held-out folds; one scale per data set",
        title_fontsize=SMALL,
    )
