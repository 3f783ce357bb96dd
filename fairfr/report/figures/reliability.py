"""Reliability by group for a score-only and an adaptive calibration, and how each maps cosine to probability."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairfr.core.text import escape_mathtext
from fairfr.core.types import F64, I64, Bool
from fairfr.report.figures.text_size import legend_columns, text_height, wrapped
from fairfr.report.quantity import group_words
from fairfr.report.tables.grid import FITTED
from fairfr.stored.scores import RunScores, setting_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart with any colour vision; its yellow, too pale in print, gives way to wine.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
MOST_GROUPS = len(COLOURS)
MOST_BINS = 12
PAIRS_PER_BIN = 40
FEWEST_PAIRS = 2 * PAIRS_PER_BIN
MOST_DOTS = 4000
WIDTH = 7.1
PANELS_HEIGHT = 2.55
LEGEND_ROW = 0.14
LEGEND_COLUMNS = 4
RUN_WIDTH = 4.2
SMALL = 6.5
MEDIUM = 7.5
LARGE = 8.5
GREY = "0.45"
LIGHT = "0.65"


class Bins(NamedTuple):
    """Equal-mass bins: mean probability, share of genuine pairs and number of pairs in each, (bins,)."""

    predicted: F64
    observed: F64
    pairs: I64


class _Group(NamedTuple):
    label: str
    members: I64
    colour: str
    marker: str


def equal_mass_bins(same: Bool, probability: F64, bins: int) -> Bins:
    """Reliability of pairs (p,) in ``bins`` bins of as equal numbers as can be; equal probabilities share a bin."""
    ranked = np.sort(probability)
    starts = np.unique(ranked[np.arange(bins) * len(ranked) // bins])
    number = np.searchsorted(starts, probability, side="right") - 1
    count = np.bincount(number, minlength=len(starts))
    predicted = np.bincount(number, weights=probability) / count
    observed = np.bincount(number, weights=same) / count
    return Bins(predicted, observed, count)


def reliability_figure(score_only: RunScores, adaptive: RunScores) -> Figure | None:
    """Three panels, as the paper's Figure 2; None where no group has the pairs of two bins."""
    from matplotlib.figure import Figure

    groups, left_out = _groups(adaptive)
    if not groups:
        return None
    title = f"{setting_label(score_only.run)}: reliability by group ({adaptive.run.reading} convention)"
    title = wrapped(title + _fitted(score_only), WIDTH, LARGE)
    labels = [scores.run.label for scores in (score_only, adaptive)]
    headings = [wrapped(text, WIDTH / 3.5, MEDIUM) for text in (*labels, "{} (dashed), {} (colours)".format(*labels))]
    columns = legend_columns([f"{group.label} (00,000)" for group in groups], WIDTH, SMALL, LEGEND_COLUMNS)
    height = PANELS_HEIGHT + LEGEND_ROW * ceil(len(groups) / columns)
    height += text_height(title, LARGE) + max(text_height(heading, MEDIUM) for heading in headings)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.suptitle(title, fontsize=LARGE)
    left, centre, right = figure.subplots(1, 3)
    _draw_reliability(left, score_only, _groups(score_only)[0])
    _draw_reliability(centre, adaptive, groups)
    _draw_maps(right, score_only, adaptive, groups)
    for axes, heading in zip((left, centre, right), headings, strict=True):
        axes.set_title(heading, fontsize=MEDIUM)
        axes.tick_params(labelsize=SMALL, length=2.5)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("share of genuine pairs", fontsize=MEDIUM)
    right.set_ylabel("match probability", fontsize=MEDIUM)
    legend_title = "group (pairs per marker); right: dots are pairs, lines the groups' medians"
    if left_out:
        legend_title += f"; {left_out} smaller groups not drawn"
    figure.legend(
        *left.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        title=legend_title,
        title_fontsize=SMALL,
    )
    return figure


def _fitted(scores: RunScores) -> str:
    """A second line of the title that says what was fitted, where it is a stand-in."""
    if scores.run.result.is_synthetic:
        return f"\n{FITTED}"
    return ""


def run_reliability_figure(scores: RunScores) -> Figure:
    """One panel for one run: all pairs in grey, and the groups that are large enough."""
    from matplotlib.figure import Figure

    title = wrapped(f"{scores.run.label} on {setting_label(scores.run)}{_fitted(scores)}", RUN_WIDTH, MEDIUM)
    height = PANELS_HEIGHT + LEGEND_ROW * ceil((len(_groups(scores)[0]) + 1) / 2) + text_height(title, MEDIUM) + 0.2
    figure = Figure(figsize=(RUN_WIDTH, height), layout="constrained")
    figure.suptitle(title, fontsize=MEDIUM)
    said = draw_run_reliability(figure.subplots(), scores)
    figure.legend(loc="outside lower center", ncols=2, fontsize=SMALL, frameon=False, title=said, title_fontsize=SMALL)
    return figure


def draw_run_reliability(axes: Axes, scores: RunScores) -> str:
    """Draw all pairs in grey and the groups that are large enough; returns the title of their legend."""
    groups, left_out = _groups(scores)
    everyone = _Group("all pairs", np.arange(len(scores.same)), LIGHT, ".")
    _draw_reliability(axes, scores, [everyone, *groups])
    axes.set_ylabel("share of genuine pairs", fontsize=MEDIUM)
    axes.tick_params(labelsize=SMALL, length=2.5)
    axes.spines[["top", "right"]].set_visible(False)
    said = f"pairs per marker; groups: {scores.run.reading} convention"
    if left_out:
        said += f"; {left_out} smaller groups not drawn"
    return said


def _groups(scores: RunScores) -> tuple[list[_Group], int]:
    """The largest groups in their usual order, at most as many as can be told apart, and how many were left out."""
    codes = scores.pair_groups()
    sizes = np.bincount(codes[codes >= 0], minlength=len(scores.levels))
    present = np.flatnonzero(sizes >= FEWEST_PAIRS)
    kept = np.sort(present[np.argsort(-sizes[present], kind="stable")][:MOST_GROUPS])
    groups = [
        _Group(escape_mathtext(group_words(scores.levels[code])), np.flatnonzero(codes == code), colour, marker)
        for code, colour, marker in zip(kept, COLOURS, MARKERS, strict=False)
    ]
    return groups, len(scores.levels) - len(kept)


def _draw_reliability(axes: Axes, scores: RunScores, groups: list[_Group]) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for group in groups:
        n = len(group.members)
        n_bins = int(np.clip(n // PAIRS_PER_BIN, 2, MOST_BINS))
        bins = equal_mass_bins(scores.same[group.members], scores.probability[group.members], n_bins)
        axes.plot(
            bins.predicted,
            bins.observed,
            color=group.colour,
            marker=group.marker,
            markersize=3,
            markeredgewidth=0,
            linewidth=0.9,
            label=f"{group.label} ({round(n / len(bins.pairs)):,})",
            zorder=2,
        )
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    axes.set_xlabel("mean match probability", fontsize=MEDIUM)


def _draw_maps(axes: Axes, score_only: RunScores, adaptive: RunScores, groups: list[_Group]) -> None:
    """The adaptive map as dots with a median for each group, the score-only map as the one curve that it is."""
    from matplotlib.ticker import MaxNLocator

    rng = np.random.default_rng(0)
    every = np.concatenate([group.members for group in groups])
    colour_of = np.repeat([group.colour for group in groups], [len(group.members) for group in groups])
    shown = rng.permutation(len(every))[:MOST_DOTS]
    axes.scatter(
        adaptive.cosine[every[shown]],
        adaptive.probability[every[shown]],
        c=colour_of[shown].tolist(),
        s=2,
        alpha=0.25,
        linewidths=0,
        rasterized=True,
    )
    for group in groups:
        curve = _medians(adaptive.cosine[group.members], adaptive.probability[group.members], 15)
        axes.plot(*curve, color="white", linewidth=2.2, zorder=3)  # a rim below all lines, so that none hides another
        axes.plot(*curve, color=group.colour, linewidth=1.0, zorder=4)
    curve = _medians(score_only.cosine, score_only.probability, 150)
    axes.plot(*curve, color="black", linewidth=1.4, linestyle=(0, (3, 1.5)), zorder=5)
    axes.set(ylim=(-0.03, 1.03), box_aspect=1)
    axes.set_xlabel("cosine", fontsize=MEDIUM)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=3))


def _medians(cosine: F64, probability: F64, bins: int) -> tuple[F64, F64]:
    """Median cosine and median probability of neighbouring pairs, by rising cosine, (bins,) each."""
    order = np.argsort(cosine, kind="stable")
    parts = np.array_split(order, max(1, min(bins, len(order) // PAIRS_PER_BIN)))
    return (
        np.array([np.median(cosine[part]) for part in parts]),
        np.array([np.median(probability[part]) for part in parts]),
    )
