"""Tables as HTML: a figure for each, and a page that carries its own style and needs nothing else."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairfr.core.visible import visible
from fairfr.report.tables.grid import Cell, ColumnGroup, Grid, Line, Section
from fairfr.report.writers.shape import SENTENCE, command_in, rest_of, title_of, word_columns
from fairfr.report.writers.style import STYLE

LONG_NOTE = 160


def escape(text: str) -> str:
    """Text that a browser shows as it is."""
    return html.escape(visible(text))


def render(grid: Grid) -> str:
    """One table with its caption and notes."""
    title, rest = escape(title_of(grid)), escape(rest_of(grid))
    lines = [
        f'<figure class="table" id="{escape(grid.id)}">',
        f'<figcaption><a class="title" href="#{escape(grid.id)}">{title}</a> {rest}</figcaption>',
        '<div class="scroll"><table>',
        "<thead>",
        *_head(grid),
        "</thead>",
        *_body(grid),
        "</table></div>",
        *_notes(grid.notes),
        "</figure>",
    ]
    return "\n".join(lines) + "\n"


def page(grids: Sequence[Grid], title: str, figures: Sequence[Path] = ()) -> str:
    """A whole page: list of contents, tables and pictures (PNG files, carried inside the page)."""
    pictures = "".join(_picture(path) for path in figures if path.suffix == ".png")
    contents = _contents(grids, bool(pictures)) if len(grids) > 1 else ""
    warning = '<p class="synthetic">SYNTHETIC stand-in, not faces</p>' if "synthetic" in title.lower() else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE}</style>
</head>
<body>
{contents}<main>
<h1>{escape(title)}</h1>
{warning}
{"".join(render(grid) for grid in grids)}{f'<h2 id="figures">Figures</h2>{pictures}' if pictures else ""}</main>
</body>
</html>
"""


def _contents(grids: Sequence[Grid], with_figures: bool) -> str:
    links = [f'<a href="#{escape(grid.id)}">{escape(_short(title_of(grid)))}</a>' for grid in grids]
    links += ['<a href="#figures">Figures</a>'] if with_figures else []
    return "<nav>\n" + "\n".join(links) + "\n</nav>\n"


def _short(title: str) -> str:
    """A title without the data source: the page's heading has it."""
    return title.partition(" [")[0].removesuffix(".")


def _picture(path: Path) -> str:
    data = b64encode(path.read_bytes()).decode("ascii")
    name = escape(path.stem.replace("_", " "))
    return f'<figure class="picture"><img alt="{name}" src="data:image/png;base64,{data}"></figure>\n'


def _head(grid: Grid) -> Iterator[str]:
    corner = escape(" / ".join(grid.corner))
    if any(group.heading for group in grid.groups):
        spans = "".join(_span(group) for group in grid.groups)
        yield f'<tr class="groups"><td></td>{spans}</tr>'
    kinds = _kinds(grid)
    names = "".join(
        f'<th scope="col"{_class(kind)}>{escape(name)}</th>' for kind, name in zip(kinds, grid.columns, strict=True)
    )
    yield f'<tr><th scope="col">{corner}</th>{names}</tr>'


def _span(group: ColumnGroup) -> str:
    text = f"<span>{escape(group.heading)}</span>" if group.heading else ""
    return f'<th scope="colgroup" colspan="{len(group.columns)}">{text}</th>'


def _kinds(grid: Grid) -> list[list[str]]:
    """Each column's style classes: first of its group, words, whole sentences."""
    words = word_columns(grid)
    first = [place == 0 for group in grid.groups for place in range(len(group.columns))]
    return [
        ["first"] * is_first + ["words"] * (i in words) + ["sentences"] * (words.get(i, 0) > SENTENCE)
        for i, is_first in enumerate(first)
    ]


def _class(kinds: Sequence[str]) -> str:
    return f' class="{" ".join(kinds)}"' if kinds else ""


def _body(grid: Grid) -> Iterator[str]:
    kinds = _kinds(grid)
    for section in grid.sections:
        yield "<tbody>"
        yield from _heading(section, len(kinds) + 1)
        for line in section.lines:
            yield _row(line, kinds)
        yield "</tbody>"


def _heading(section: Section, width: int) -> Iterator[str]:
    if section.heading:
        kind = "panel" if section.panel else "section"
        yield f'<tr class="{kind}"><th colspan="{width}">{escape(section.heading)}</th></tr>'


def _row(line: Line, kinds: Sequence[list[str]]) -> str:
    dagger = '<sup title="needs group labels">†</sup>' if line.dagger else ""
    cells = "".join(_cell(cell, kind) for cell, kind in zip(line.cells, kinds, strict=True))
    return f'<tr><th scope="row">{escape(line.label)}{dagger}</th>{cells}</tr>'


def _cell(cell: Cell, kinds: list[str]) -> str:
    kind = _class(kinds if cell.tone == "plain" else [*kinds, cell.tone])
    head, sign, spread = escape(cell.text).partition("±")
    head = f"<b>{head}</b>" if cell.bold else head
    exact = "" if cell.value is None else f' title="{cell.value:.6g}"'
    return f"<td{kind}{exact}>{head}{f'<small>{sign}{spread}</small>' if sign else ''}</td>"


def _notes(notes: Sequence[str]) -> Iterator[str]:
    """Short notes as they are, long ones folded behind their beginning."""
    if notes:
        yield '<ul class="notes">'
        for note in notes:
            yield f"<li>{_note(note)}</li>"
        yield "</ul>"


def _note(note: str) -> str:
    head, colon, rest = note.partition(": ")
    text = f"<code>{escape(rest)}</code>" if command_in(note) else escape(rest)
    if not rest or len(note) <= LONG_NOTE:
        return escape(head) + colon + text
    return f"<details><summary>{escape(head)} ...</summary>{text}</details>"
