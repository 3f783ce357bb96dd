"""Worst-group AUROC by method and setting: a row of panels for each data set, a panel for each backbone."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, TypeAlias

from fairfr.core.text import escape_mathtext
from fairfr.report.figures.text_size import legend_columns, text_height, text_width, wrapped
from fairfr.report.tables.grid import source_title
from fairfr.stored.order import BASELINE, MethodRow, rows_of
from fairfr.stored.results import Results
from fairfr.stored.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRIC = "auroc"
MOST_WIDTH = 7.1
LEAST_WIDTH = 3.5
PANEL_WIDTH = 1.6
LABEL_WIDTH = 0.95
ROW_HEIGHT = 0.16
PANEL_MARGIN = 0.4
"""Of an axis and the room around it."""
LEGEND_LINE = 0.15
SMALL = 6.5
LARGE = 8.5
FEWEST_TICKS = 3
ROOM = 0.04  # of a panel's width, beside a dot at its edge
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREY = "0.45"

Panel: TypeAlias = dict[MethodRow, Run]


def overview_figure(results: Results) -> Figure | None:
    """Fold means with their std, and the Baseline as a line; None where no run has a worst group."""
    from matplotlib.figure import Figure

    lines = _lines(results)
    if not lines:
        return None
    rows_of_line = [_rows_of(line, results) for line in lines]
    shown: set[MethodRow] = set()
    for rows in rows_of_line:
        shown.update(rows)
    n_columns = max(len(line) for line in lines)
    label_width = max(LABEL_WIDTH, text_width([f"{row.label}†" for row in shown], SMALL) + 0.2)
    panel_width = min(PANEL_WIDTH, (MOST_WIDTH - LABEL_WIDTH) / n_columns)
    width = max(LEAST_WIDTH, label_width + panel_width * n_columns)
    figure = Figure(figsize=(width, 1), layout="constrained")
    height = _write_around(figure, results, has_baseline=BASELINE in shown)
    titles = [[_title(panel, panel_width) for panel in line] for line in lines]
    for rows, of_line in zip(rows_of_line, titles, strict=True):
        highest = max(text_height(title, SMALL) for title in of_line)
        height += PANEL_MARGIN + highest + ROW_HEIGHT * len(rows)
    figure.set_figheight(height)
    heights = [len(rows) for rows in rows_of_line]
    grid = figure.subplots(len(lines), n_columns, squeeze=False, sharey="row", height_ratios=heights)
    for line, of_line, places, rows in zip(lines, titles, grid, rows_of_line, strict=True):
        for panel, title, axes in zip(line, of_line, places, strict=False):
            _draw_panel(axes, panel, rows, results)
            axes.set_title(title, fontsize=SMALL)
        for axes in places[len(line) :]:
            axes.set_visible(False)
        _scale_alike(list(places[: len(line)]))
        _label_rows(places[0], rows, line)
    return figure


def _title(panel: Panel, inches: float) -> str:
    some = next(iter(panel.values())).result
    return wrapped(f"{some.dataset.label}\n{some.backbone.label}", inches, SMALL)


def _lines(results: Results) -> list[list[Panel]]:
    """The runs that have a worst group, by data set, then by backbone."""
    by_dataset: dict[str, list[Panel]] = {}
    for setting in results.settings:
        rows = rows_of(results.blocks([setting], only_run=True))
        found = {row: results.find({"setting": setting, "row": row.label}) for row in rows}
        panel = {row: run for row, run in found.items() if run is not None and _has_worst(run)}
        if panel:
            by_dataset.setdefault(setting[0], []).append(panel)
    return list(by_dataset.values())


def _has_worst(run: Run) -> bool:
    return run.mean(METRIC, "worst") is not None


def _rows_of(line: list[Panel], results: Results) -> list[MethodRow]:
    """The methods with a value in one of the panels: those of the order first, then others as tables have them."""
    present: set[MethodRow] = set().union(*line)
    return [row for row in (*results.order.rows, *results.others) if row in present]


def _draw_panel(axes: Axes, panel: Panel, rows: list[MethodRow], results: Results) -> None:
    axes.tick_params(axis="x", labelsize=SMALL, length=2)
    axes.tick_params(axis="y", labelsize=SMALL, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    for row, result in panel.items():
        number = result.number(METRIC, "worst")
        assert number is not None and number.mean is not None
        mean = number.mean
        std = number.std or 0.0
        at = rows.index(row)
        colour = BLUE
        if row == BASELINE:
            axes.axvline(mean, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            colour = GREY
        if row in results.order.highlighted:
            colour = VERMILION
        axes.plot([mean - std, min(1.0, mean + std)], [at, at], color=colour, linewidth=0.7, zorder=2)
        face = "white" if result.needs_groups else colour
        axes.plot(mean, at, "o", markersize=4, markerfacecolor=face, markeredgecolor=colour, zorder=3)


def _scale_alike(places: list[Axes]) -> None:
    """One scale for the panels of a data set, each around its own values: backbones differ more than methods do.

    No panel reaches beyond 1, the highest value there is, by more than room for a dot.
    """
    from matplotlib.ticker import MaxNLocator

    limits = [axes.get_xlim() for axes in places]
    span = max(high - low for low, high in limits)
    for axes, (low, high) in zip(places, limits, strict=True):
        right = min((low + high + span) / 2, 1 + ROOM * span)
        axes.set_xlim(right - span, right)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, min_n_ticks=FEWEST_TICKS))


def _label_rows(axes: Axes, rows: list[MethodRow], line: list[Panel]) -> None:
    """Panels share their y axis: labelled once. The dagger comes from what the runs declare."""
    daggers: set[MethodRow] = set()
    for panel in line:
        daggers.update(row for row, result in panel.items() if result.needs_groups)
    labels = []
    for row in rows:
        mark = "†" if row in daggers else ""
        labels.append(escape_mathtext(row.label) + mark)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)


def _write_around(figure: Figure, results: Results, has_baseline: bool) -> float:
    """Write the title and the legend; returns the height that they take."""
    from matplotlib.lines import Line2D

    source = results.source
    title = f"Worst-group AUROC ({results.reading} convention)"
    if source == "synthetic":
        title += f"\n{source_title(source)}"
    title = wrapped(title, figure.get_figwidth(), LARGE)
    figure.suptitle(title, fontsize=LARGE)
    kinds = (
        (results.order.highlighted_label, VERMILION, VERMILION),
        ("other, label-free", BLUE, BLUE),
        ("† needs group labels", BLUE, "white"),
    )
    handles = [
        Line2D([], [], marker="o", markersize=4, linewidth=0.7, color=edge, markerfacecolor=face, label=label)
        for label, edge, face in kinds
    ]
    if has_baseline:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), label="Baseline"))
    labels = [str(handle.get_label()) for handle in handles]
    columns = legend_columns(labels, figure.get_figwidth(), SMALL, len(handles))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        title="mean and std over held-out folds; one scale per data set",
        title_fontsize=SMALL,
    )
    legend_lines = 1 + ceil(len(handles) / columns)
    return text_height(title, LARGE) + LEGEND_LINE * legend_lines + 0.2
