"""How much room text takes in a figure, in inches, so that names of any length are shown whole."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from fairfr.core.text import escape_mathtext

LINE = 1.35
MARGIN = 0.93
"""Share of a width that lines of text fill at most: some have wider letters than others."""
POINTS_PER_INCH = 72


def text_width(texts: Iterable[str], size: float) -> float:
    """Inches that the longest of these lines takes in a font of ``size`` points."""
    from matplotlib.textpath import TextPath

    widest = 0.0
    for text in texts:
        if text.strip():
            path = TextPath((0, 0), escape_mathtext(text), size=size)
            widest = max(widest, path.get_extents().width / POINTS_PER_INCH)
    return widest


def text_height(text: str, size: float) -> float:
    """Inches that the lines of a text take."""
    return len(text.splitlines()) * LINE * size / POINTS_PER_INCH


def wrapped(text: str, inches: float, size: float) -> str:
    """Text for matplotlib in lines of at most so many ``inches``; its own lines stay, and a long word is broken."""
    lines: list[str] = []
    for line in text.splitlines():
        width = text_width([line], size)
        room = MARGIN * inches
        if width <= room:
            lines.append(line)
        else:
            lines += textwrap.wrap(line, max(1, int(len(line) * room / width)))
    return "\n".join(escape_mathtext(line) for line in lines)


def legend_columns(labels: Iterable[str], inches: float, size: float, most: int) -> int:
    """How many columns of a legend fit beside each other, at least one; a column has a handle beside its label."""
    handle = 5 * size / POINTS_PER_INCH
    return max(1, min(most, int(inches / (text_width(labels, size) + handle))))
