"""Figures of an audit as SVG text: readable without colour, and on paper. Groups differ by colour, mark and name."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairfr.auditing.group_rates import FEW, MeasuredRates, Subset
from fairfr.auditing.sample import Sample
from fairfr.core.text import escape_control_chars
from fairfr.core.types import F64, Bool
from fairfr.numerics.error_rates import OneKind
from fairfr.numerics.rate_bounds import Errors, rate_interval

WIDTH = 520
HEIGHT = 340
LEFT = 64
RIGHT = 118
TOP = 14
BOTTOM = 46
COLOURS = ("#23527c", "#b3201d", "#0a7a2f", "#a15c00", "#6b3fa0", "#0d7d86", "#8a6d00", "#555b61")
MARKS = "osd^vx+*"
MOST_GROUPS = 8
POINTS = 160
BINS = 60
RELIABILITY_BINS = 10


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a value lies between 0 and 1, and which values are written beside the axis."""

    label: str
    place: Callable[[float], float]
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of one group: ``x`` and ``y`` (n,); ``weak`` (n,) marks the part that rests on few errors.

    ``band`` (n, 2): the ends of an interval at each point, drawn as a bar.
    """

    group: int
    x: F64
    y: F64
    weak: Bool | None = None
    band: F64 | None = None


def linear(label: str, low: float, high: float) -> Axis:
    """An even axis with about six ticks."""
    span = high - low or 1.0
    step = 10.0 ** math.floor(math.log10(span / 5))
    while span / step > 7:
        step *= 2 if f"{step:e}"[0] != "2" else 2.5
    first = math.ceil(low / step)
    values = [(first + k) * step for k in range(int((high - first * step) / step + 1e-9) + 1)]
    return Axis(label, lambda value: (value - low) / span, [(value, f"{value:.4g}") for value in values])


def logarithmic(label: str, low: float, high: float) -> Axis:
    """An axis of shares with a tick for each power of ten."""
    a = math.log10(low)
    b = math.log10(high)
    values = [10.0**k for k in range(math.ceil(a - 1e-9), math.floor(b + 1e-9) + 1)]
    return Axis(label, lambda value: (math.log10(value) - a) / (b - a), [(value, _share(value)) for value in values])


def normal_deviates(label: str, low: float, high: float) -> Axis:
    """The axis of DET curves: shares by their quantile of the normal distribution."""
    from scipy.special import ndtri

    a = float(ndtri(low))
    b = float(ndtri(high))
    usual = (1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8)
    values = [value for value in usual if low <= value <= high]
    return Axis(label, lambda value: (float(ndtri(value)) - a) / (b - a), [(value, _share(value)) for value in values])


def _share(value: float) -> str:
    return f"{100 * value:g} %"


def draw(title: str, x: Axis, y: Axis, curves: Sequence[Curve], names: Sequence[str], line: float | None) -> str:
    """One figure; ``line`` marks a threshold on the x axis."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{_text(title)}" font-family="system-ui, sans-serif" font-size="12" fill="#1c2024">',
        *_frame(x, y),
    ]
    if line is not None and 0 <= x.place(line) <= 1:
        at = _across(x.place(line))
        parts.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#1c2024" stroke-dasharray="2 3"/>')
        parts.append(f'<text x="{at + 4:.1f}" y="{TOP + 10}">threshold</text>')
    for curve in curves:
        parts += _drawn(curve, x, y)
    for number, name in enumerate(names):
        at = TOP + 8 + 16 * number
        parts.append(_mark(number, WIDTH - RIGHT + 14, at))
        parts.append(f'<text x="{WIDTH - RIGHT + 24}" y="{at + 4}">{_text(name[:15])}</text>')
    return "".join([*parts, "</svg>"])


def _text(text: str) -> str:
    return html.escape(escape_control_chars(text))


def _across(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _frame(x: Axis, y: Axis) -> Iterator[str]:
    yield (
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" '
        'stroke="#c9ced3"/>'
    )
    before = -math.inf
    for value, text in x.ticks:
        at = _across(x.place(value))
        if at - before < 8 * len(text):
            continue  # it would be written over the tick before
        before = at
        yield f'<path d="M{at:.1f} {HEIGHT - BOTTOM}v4" stroke="#60666d"/>'
        yield f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{text}</text>'
    for value, text in y.ticks:
        at = _up(y.place(value))
        yield f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#e6e8eb"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{text}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{_text(x.label)}</text>'
    yield (
        f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{_text(y.label)}</text>"
    )


def _drawn(curve: Curve, x: Axis, y: Axis) -> Iterator[str]:
    """The line, dashed where it is weak, with a few marks."""
    colour = COLOURS[curve.group]
    across = [_across(min(max(x.place(value), 0), 1)) for value in curve.x.tolist()]
    up = [_up(min(max(y.place(value), 0), 1)) for value in curve.y.tolist()]
    points = [f"{a:.1f} {b:.1f}" for a, b in zip(across, up, strict=True)]
    weak = np.zeros(len(points), dtype=bool)
    if curve.weak is not None:
        weak = curve.weak
    for is_weak, dash in ((False, ""), (True, ' stroke-dasharray="4 3"')):
        for piece in _pieces(points, weak == is_weak):
            yield f'<polyline points="{" ".join(piece)}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>'
    if curve.band is None:
        for at in range(curve.group * 3 + 6, len(points), 32):
            yield _mark(curve.group, across[at], up[at])
        return
    for at, (low, high) in enumerate(curve.band.tolist()):
        yield f'<path d="M{across[at]:.1f} {_up(y.place(low)):.1f}V{_up(y.place(high)):.1f}" stroke="{colour}"/>'
        yield _mark(curve.group, across[at], up[at])


def _pieces(points: Sequence[str], wanted: Bool) -> Iterator[list[str]]:
    """Runs of wanted points, each with the point before it, so that pieces meet."""
    piece: list[str] = []
    for number, point in enumerate(points):
        if wanted[number]:
            if not piece and number > 0:
                piece.append(points[number - 1])
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if len(piece) > 1:
        yield piece


def _mark(number: int, x: float, y: float) -> str:
    colour = COLOURS[number % len(COLOURS)]
    mark = MARKS[number % len(MARKS)]
    shapes = {
        "o": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z",
        "s": "M-3 -3h6v6h-6Z",
        "d": "M0 -4l4 4l-4 4l-4 -4Z",
        "^": "M0 -4l4 7h-8Z",
        "v": "M0 4l4 -7h-8Z",
        "x": "M-3 -3l6 6M3 -3l-6 6",
        "+": "M-4 0h8M0 -4v8",
        "*": "M-4 0h8M0 -4v8M-3 -3l6 6M3 -3l-6 6",
    }
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shapes[mark]}" fill="{colour}" stroke="{colour}"/>'


# -- the three figures of an audit -----------------------------------------------------------------------------------


def audit_figures(
    sample: Sample, rates: MeasuredRates, threshold: float | None, scores: bool = True
) -> list[tuple[str, str, str]]:
    """Title, caption and SVG of each figure; ``threshold`` is the similarity in use. ``scores``: their distribution."""
    groups = [subset for subset in rates.subsets if subset.grouping is not None]
    subsets = [one for one in groups or list(rates.subsets) if len(one.impostors) > 1]
    found = []
    shown = subsets[:MOST_GROUPS]
    more = ""
    if len(subsets) > len(shown):
        more = f" The first {len(shown)} of {len(subsets)} groups; the JSON file has all."
    if not shown:
        return []
    names = [subset.group for subset in shown]
    line = None if threshold is None else sample.shown(threshold)
    unit = "distance" if sample.is_distance else "score"
    if not scores:
        unit = "probability"
    found.append(_fmr_over_threshold(sample, shown, names, line, unit, more))
    both = [subset for subset in shown if len(subset.genuine) > 1]
    if both:
        found.append(_det([subset.group for subset in both], both, more))
    if scores:
        found.append(_scores(sample, shown, names, line, unit, more))
    return found


def _fmr_over_threshold(
    sample: Sample, subsets: Sequence[Subset], names: Sequence[str], line: float | None, unit: str, more: str
) -> tuple[str, str, str]:
    title = "False match rate over the threshold"
    lowest = min(0.5 / len(subset.impostors) for subset in subsets)
    top = max(float(subset.impostors.ascending[-1]) for subset in subsets)
    middle = min(float(np.median(subset.impostors.ascending)) for subset in subsets)
    grid = np.linspace(middle, top, POINTS)
    x = linear(f"threshold ({unit})", *sorted((sample.shown(middle), sample.shown(top))))
    y = logarithmic("FMR", lowest, 1.0)
    curves = []
    for number, subset in enumerate(subsets):
        errors = _accepted(subset.impostors, grid)
        some = errors > 0
        shown = np.array([sample.shown(value) for value in grid[some].tolist()])
        curves.append(Curve(number, shown, errors[some] / len(subset.impostors), errors[some] < FEW))
    svg = draw(title, x, y, curves, names, line)
    return title, f"Dashed: fewer than {FEW} false matches.{more}", svg


def _accepted(impostors: OneKind, grid: F64) -> F64:
    below: F64 = np.searchsorted(impostors.ascending, grid, side="left").astype(np.float64)
    return len(impostors) - below


def _det(names: Sequence[str], subsets: Sequence[Subset], more: str) -> tuple[str, str, str]:
    title = "False non-match rate over false match rate"
    low = max(1e-6, min(0.5 / len(subset.impostors) for subset in subsets))
    wanted = np.logspace(math.log10(low), math.log10(0.5), POINTS)
    curves = []
    for number, subset in enumerate(subsets):
        impostors = subset.impostors.ascending
        accepted = np.unique(np.floor(wanted * len(impostors)).astype(np.int64))
        accepted = accepted[accepted > 0]
        thresholds = impostors[len(impostors) - accepted]
        fmr = _accepted(subset.impostors, thresholds) / len(impostors)
        missed = np.searchsorted(subset.genuine.ascending, thresholds, side="left")
        weak = (accepted < FEW) | (missed < FEW)
        some = missed > 0
        curves.append(Curve(number, fmr[some], missed[some] / len(subset.genuine), weak[some]))
    lowest = [float(curve.y.min()) for curve in curves if len(curve.y)]
    low_fnmr = max(1e-6, 0.5 * min(lowest, default=1e-3))
    x = normal_deviates("FMR", low, 0.5)
    y = normal_deviates("FNMR", low_fnmr, 0.9)
    svg = draw(title, x, y, curves, names, None)
    return title, f"Each group at its own thresholds. Dashed: fewer than {FEW} errors.{more}", svg


def _scores(
    sample: Sample, subsets: Sequence[Subset], names: Sequence[str], line: float | None, unit: str, more: str
) -> tuple[str, str, str]:
    title = "Scores of impostors and of genuine pairs"
    low, high = (float(value) for value in np.quantile(sample.similarity, [0.0005, 0.9995]))
    if high <= low:
        high = low + 1
    edges = np.linspace(low, high, BINS + 1)
    x = linear(unit, *sorted((sample.shown(low), sample.shown(float(edges[-1])))))
    curves = []
    for number, subset in enumerate(subsets):
        for kind in (subset.impostors, subset.genuine):
            if len(kind) == 0:
                continue
            counts, _ = np.histogram(kind.ascending, edges)
            density = counts / counts.max(initial=1)
            middle = np.array([sample.shown(value) for value in ((edges[1:] + edges[:-1]) / 2).tolist()])
            weak = np.full(BINS, kind.genuine)
            curves.append(Curve(number, middle, density, weak))
    y = Axis("share (highest = 1)", lambda value: value, [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])
    return title, f"Solid: impostors. Dashed: genuine pairs.{more}", draw(title, x, y, curves, names, line)


# -- probabilities ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """``said``: the mean probability of some pairs; ``errors`` counts those that are genuine, with their 95 %."""

    said: float
    errors: Errors
    interval: tuple[float, float]


def reliability_bins(same: Bool, probability: F64) -> list[ReliabilityBin]:
    """Ten bins of equal mass, by rising probability."""
    found = []
    for part in np.array_split(np.argsort(probability, kind="stable"), RELIABILITY_BINS):
        if len(part) > 0:
            genuine = Errors(int(np.count_nonzero(same[part])), len(part))
            found.append(ReliabilityBin(float(probability[part].mean()), genuine, rate_interval(genuine)))
    return found


def reliability_figure(title: str, bins: Mapping[str, Sequence[ReliabilityBin]]) -> str:
    """What is true over what was said, by group."""
    names = list(bins)
    if len(names) >= MOST_GROUPS:
        names = [*names[: MOST_GROUPS - 2], names[-1]]
    unit = [(share, f"{share:g}") for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    x = Axis("said", lambda value: value, unit)
    y = Axis("true", lambda value: value, unit)
    curves = []
    for number, name in enumerate(names):
        said = np.array([one.said for one in bins[name]])
        true = np.array([one.errors.rate for one in bins[name]])
        curves.append(Curve(number, said, true, band=np.array([one.interval for one in bins[name]])))
    diagonal = np.array([0.0, 1.0])
    right = Curve(MOST_GROUPS - 1, diagonal, diagonal, np.array([True, True]))
    return draw(title, x, y, [right, *curves], names, None)
