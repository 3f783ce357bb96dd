"""Tables as Markdown (GitHub's pipe tables): daggers, bold, and a sign where print has a colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairfr.core.visible import visible
from fairfr.report.tables.grid import Cell, Grid, Line, Section, Tone
from fairfr.report.writers.shape import command_in, headings, rest_of, title_of, word_columns

SIGN: dict[Tone, str] = {"plain": "", "improved": " ▲", "degraded": " ▼", "beyond": " !"}
SPECIAL = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;", ">": "&gt;"})


def render(grid: Grid) -> str:
    """Title, table and notes."""
    width = len(grid.columns)
    words = word_columns(grid)
    lines = [
        f"**{_plain(title_of(grid))}** {_plain(rest_of(grid))}".rstrip(),
        "",
        _row([" / ".join(grid.corner), *headings(grid)]),
        "|" + "|".join(["---", *("---" if i in words else "---:" for i in range(width))]) + "|",
        *_body(grid.sections, width),
        "",
        *(f"- {_note(note)}" for note in grid.notes),
    ]
    return "\n".join(lines).rstrip() + "\n"


def document(grids: Sequence[Grid], title: str) -> str:
    """All tables under one title, with a list of contents."""
    contents = [f"- [{_plain(title_of(grid))}](#{grid.id})" for grid in grids]
    parts = [f'<a id="{grid.id}"></a>\n\n{render(grid)}' for grid in grids]
    return "\n".join([f"# {_plain(title)}", "", *contents, "", "\n".join(parts)])


def _note(note: str) -> str:
    command = command_in(note)
    return f"{_plain(note.removesuffix(command))}`{command}`" if command else _plain(note)


def _body(sections: Iterable[Section], width: int) -> Iterator[str]:
    for section in sections:
        if section.heading:
            mark = "**" if section.panel else "*"
            yield _row([f"{mark}{_plain(section.heading)}{mark}", *[""] * width], escape=False)
        for line in section.lines:
            yield _row([_label(line), *(_cell(cell) for cell in line.cells)], escape=False)


def _label(line: Line) -> str:
    return _plain(line.label) + ("†" if line.dagger else "")


def _cell(cell: Cell) -> str:
    text = _plain(cell.text)
    return (f"**{text}**" if cell.bold else text) + (SIGN[cell.tone] if text else "")


def _row(texts: Iterable[str], escape: bool = True) -> str:
    return "| " + " | ".join(_plain(text) if escape else text for text in texts) + " |"


def _plain(text: str) -> str:
    return visible(text).translate(SPECIAL)
