"""Worst-group AUROC by method and setting: a row of panels for each data set, a panel for each backbone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from fairfr.core.text import escape_mathtext
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
FEWEST_ROWS = 4  # that a panel has room for: one that is lower has none between its title and the legend
PANEL_MARGIN = 0.55
FIGURE_MARGIN = 0.75
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
    n_columns = max(len(line) for line in lines)
    heights = [max(FEWEST_ROWS, len(rows)) for rows in rows_of_line]
    height = FIGURE_MARGIN + sum(PANEL_MARGIN + ROW_HEIGHT * n_rows for n_rows in heights)
    width = min(MOST_WIDTH, max(LEAST_WIDTH, LABEL_WIDTH + PANEL_WIDTH * n_columns))
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(len(lines), n_columns, squeeze=False, sharey="row", height_ratios=heights)
    for line, places, rows in zip(lines, grid, rows_of_line, strict=True):
        for panel, axes in zip(line, places, strict=False):
            _draw_panel(axes, panel, rows, results)
        for axes in places[len(line) :]:
            axes.set_visible(False)
        _scale_alike(list(places[: len(line)]))
        _label_rows(places[0], rows, line)
    shown: set[MethodRow] = set()
    for rows in rows_of_line:
        shown.update(rows)
    _write_around(figure, results, has_baseline=BASELINE in shown)
    return figure


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
    some = next(iter(panel.values())).result
    axes.set_title(escape_mathtext(f"{some.dataset.label}\n{some.backbone.label}"), fontsize=SMALL)
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


def _write_around(figure: Figure, results: Results, has_baseline: bool) -> None:
    from matplotlib.lines import Line2D

    source = results.source
    title = f"Worst-group AUROC ({results.reading} convention)"
    if source == "synthetic":
        title += f"\n{source_title(source)}"
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
    columns = 2 if figure.get_figwidth() < MOST_WIDTH - 2 else 4
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        title="mean and std over held-out folds; one scale per data set",
        title_fontsize=SMALL,
    )
