"""Tables as HTML, from the templates beside this file: a page carries its own style and needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairfr.core.text import escape_control_chars
from fairfr.report.tables.grid import (
    NOTHING_TO_SAY,
    SENTENCE,
    SOURCE_LABEL,
    Entry,
    Grid,
    Opening,
    by_chapter,
    headings,
    word_columns,
)

if TYPE_CHECKING:
    from jinja2 import Environment

LONG_NOTE = 160
"""Characters from which a note is folded behind its lead."""


class HtmlColumn(NamedTuple):
    """A column's name, its name with the heading above it (a phone shows it beside each value), its style classes."""

    name: str
    label: str
    kinds: list[str]


class Picture(NamedTuple):
    """A PNG file as a page carries it."""

    name: str
    data: str


def render(grid: Grid) -> str:
    """One table with its caption and notes."""
    module: Any = _environment().get_template("table.html").make_module(_helpers())
    return str(module.table(grid)).strip() + "\n"


def page(grids: Sequence[Grid], title: str, figures: Sequence[Path] = (), opening: Opening = NOTHING_TO_SAY) -> str:
    """A whole page: what it opens with, contents, tables by chapter, and pictures (PNG files, carried inside)."""
    pictures = [_picture(path) for path in figures if path.suffix == ".png"]
    banner = ""
    if any(grid.source == "synthetic" for grid in grids):
        banner = SOURCE_LABEL["synthetic"]
    text = (
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            opening=opening,
            banner=banner,
            contents=len(grids) > 1,
            chapters=by_chapter(grids),
            pictures=pictures,
            **_helpers(),
        )
    )
    return text + "\n"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        if isinstance(value, Markup):
            return value
        return escape_control_chars(str(value))

    def classes(kinds: Sequence[str]) -> Markup:
        if not kinds:
            return Markup("")
        return Markup(' class="{}"').format(" ".join(kinds))

    made = Environment(
        loader=PackageLoader("fairfr.report.writers"), autoescape=True, undefined=StrictUndefined, finalize=finalize
    )
    made.filters |= {"class": classes, "zip": zip}
    return made


def _helpers() -> dict[str, Any]:
    return {"columns": drawn_columns, "marks": _css_classes, "long_note": LONG_NOTE}


def drawn_columns(grid: Grid) -> list[HtmlColumn]:
    """Style classes: first below its heading, words, whole sentences."""
    words = word_columns(grid)
    labels = headings(grid)
    columns: list[HtmlColumn] = []
    for spanner in grid.spanners:
        for position, name in enumerate(spanner.columns):
            number = len(columns)
            kinds = []
            if position == 0:
                kinds.append("first")
            if number in words:
                kinds.append("words")
            if words.get(number, 0) > SENTENCE:
                kinds.append("sentences")
            columns.append(HtmlColumn(name, labels[number], kinds))
    return columns


def _css_classes(entry: Entry) -> list[str]:
    if entry.tone != "plain":
        return [entry.tone]
    if entry.shown and not entry.text:
        return ["absent"]
    return []


def _picture(path: Path) -> Picture:
    return Picture(path.stem.replace("_", " "), b64encode(path.read_bytes()).decode("ascii"))
