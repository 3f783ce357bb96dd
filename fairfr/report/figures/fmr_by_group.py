"""False match rate of each group over the wanted one, at one threshold for all pairs: a line of dots a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.core.text import escape_mathtext
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS
from fairfr.report.figures.reliability import COLOURS, LARGE, MARKERS, MEDIUM, SMALL
from fairfr.report.figures.text_size import legend_columns, text_height, text_width, wrapped
from fairfr.report.group_fmr import GroupFmr, group_fmr, impostors_by_group
from fairfr.report.quantity import group_heading
from fairfr.report.tables.grid import FITTED, TIED
from fairfr.stored.order import Setting, rows_of
from fairfr.stored.results import Results
from fairfr.stored.scores import RunScores, setting_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

METHODS = ("baseline", "beta", "ac_hinge", "ac_cohort")
"""Drawn where they have run, with all others only where no method of faces is among them."""
OF_FACES = ("ac_hinge", "ac_cohort")
MOST_METHODS = 8
MOST_GROUPS = len(COLOURS)
LEGEND = "95 % intervals; hollow: fewer than ten false matches"
PANEL_WIDTH = 3.3
LABEL_WIDTH = 0.9
ROW_HEIGHT = 0.42
PANEL_FRAME = 0.7
LEGEND_LINE = 0.15
LEAST_WIDTH = 4.8
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def fmr_by_group_figure(panels: Mapping[str, Mapping[str, GroupFmr]], groups: Sequence[str], title: str) -> Figure:
    """Draw panels of plain numbers.

    Parameters
    ----------
    panels : mapping of str to mapping of str to GroupFmr
        The lines of each panel, by its heading and the method's label; all panels have the same methods.
    groups : sequence of str, length n_groups
        Names of the groups, at most ``MOST_GROUPS``.
    title : str
        Stands above all.

    Returns
    -------
    Figure
        Dots are hollow where they rest on fewer than ten false matches. A group without any is an arrow at the left
        edge, with its interval.
    """
    from matplotlib.figure import Figure

    methods = next(iter(panels.values()))
    label_width = max(LABEL_WIDTH, text_width(methods, MEDIUM) + 0.2)
    width = max(LEAST_WIDTH, label_width + PANEL_WIDTH * len(panels))
    title = wrapped(title, width, LARGE)
    columns = legend_columns(groups, width, SMALL, min(4, len(groups)))
    around = text_height(title, LARGE) + LEGEND_LINE * (1 + ceil(len(groups) / columns))
    figure = Figure(figsize=(width, PANEL_FRAME + around + ROW_HEIGHT * len(methods)), layout="constrained")
    places = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (heading, lines) in zip(places, panels.items(), strict=True):
        draw_fmr_by_group(axes, heading, lines)
    figure.legend(
        handles=group_handles(groups),
        loc="outside lower center",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        title=LEGEND,
        title_fontsize=SMALL,
    )
    figure.suptitle(title, fontsize=LARGE)
    return figure


def group_handles(groups: Sequence[str]) -> list[Line2D]:
    """What a legend shows for each group."""
    from matplotlib.lines import Line2D

    handles = []
    for number, group in enumerate(groups):
        colour = COLOURS[number]
        label = escape_mathtext(group)
        handles.append(Line2D([], [], color=colour, marker=MARKERS[number], markersize=4, linewidth=0.8, label=label))
    return handles


def draw_fmr_by_group(axes: Axes, heading: str, lines: Mapping[str, GroupFmr]) -> None:
    """Draw one panel."""
    axes.set_title(heading, fontsize=MEDIUM)
    ends = np.concatenate([[1.0], *(np.concatenate([line.rate, line.low, line.high]) for line in lines.values())])
    ends = ends[np.isfinite(ends) & (ends > 0)]
    left = max(float(ends.min()) / 1.3, 0.01)
    axes.set_xscale("log")
    axes.set_xlim(left, float(ends.max()) * 1.3)
    ticks = [tick for tick in TICKS if left <= tick <= axes.get_xlim()[1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.axvline(1, color="0.3", linewidth=0.8)
    for place, line in enumerate(lines.values()):
        _draw_line(axes, place, line, left)
    axes.set_yticks(range(len(lines)), [escape_mathtext(label) for label in lines], fontsize=MEDIUM)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel("FMR of the group / wanted FMR", fontsize=SMALL)
    axes.tick_params(axis="x", labelsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_line(axes: Axes, place: int, line: GroupFmr, left: float) -> None:
    """The groups of one method below each other, so that their intervals can be told apart."""
    for number, y in enumerate(place + np.linspace(-0.28, 0.28, len(line.rate))):
        if np.isnan(line.rate[number]):
            continue
        colour = COLOURS[number]
        axes.plot([max(line.low[number], left), line.high[number]], [y, y], color=colour, linewidth=0.9)
        face = colour
        if line.false_matches[number] < ENOUGH_FALSE_MATCHES:
            face = "white"
        marker = MARKERS[number]
        if line.rate[number] == 0:
            marker = "<"
        at = max(line.rate[number], left)
        axes.plot(at, y, marker, color=colour, markerfacecolor=face, markersize=4.5, clip_on=False)


def setting_figure(results: Results, setting: Setting) -> Figure | None:
    """From the stored scores of a setting; None without scores, groups or enough impostor pairs."""
    shown = _shown(results, setting)
    if not shown:
        return None
    first = shown[0][1]
    panels = rates_by_level(shown)
    if not panels:
        return None
    title = f"False matches at one threshold\n{setting_label(first.run)}"
    if results.source == "synthetic":
        title += f"\n{FITTED}"
    if first.people is None:
        title += "\npairs as if independent: it is not known who is on the images"
    return fmr_by_group_figure(panels, [group_heading(level) for level in first.levels], title)


def rates_by_level(shown: Sequence[tuple[str, RunScores]]) -> dict[str, dict[str, GroupFmr]]:
    """The lines of a panel for each wanted rate that has enough impostors, by its heading.

    Nothing without groups, or with more than can be told apart. ``shown`` are labels and scores of the same pairs.
    """
    first = shown[0][1]
    if not first.levels or len(first.levels) > MOST_GROUPS:
        return {}
    impostors = int(np.count_nonzero(~first.same))
    levels = [level for level, alpha in ALL_FPR_LEVELS.items() if alpha * impostors >= ENOUGH_FALSE_MATCHES]
    if not levels:
        return {}
    groups = impostors_by_group(first, first.pair_groups(), len(first.levels))
    panels: dict[str, dict[str, GroupFmr]] = {}
    for level in levels:
        alpha = ALL_FPR_LEVELS[level]
        lines = {}
        for label, scores in shown:
            if scores.run.is_tied(level):
                label = f"{label} {TIED}"
            lines[label] = group_fmr(scores.same, scores.ranking_values, groups, alpha)
        panels[f"at FMR {level} ({alpha * impostors:,.0f} false matches)"] = lines
    return panels


def _shown(results: Results, setting: Setting) -> list[tuple[str, RunScores]]:
    """Which methods are drawn, with their scores, in the order of tables; all of them have the same pairs."""
    found: list[tuple[str, str, RunScores]] = []
    for row in rows_of(results.blocks([setting], only_run=True)):
        scores = RunScores.if_available(results.find({"setting": setting, "row": row.label}))
        if scores is None or (found and not np.array_equal(scores.same, found[0][2].same)):
            continue
        found.append((row.id, row.label, scores))
    if any(id in OF_FACES for id, _, _ in found):
        found = [one for one in found if one[0] in METHODS]
        found.sort(key=lambda one: METHODS.index(one[0]))
    return [(label, scores) for _, label, scores in found[:MOST_METHODS]]
