"""Tables as Markdown (GitHub's pipe tables): daggers, bold, and a sign where print has a colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairfr.core.escaping import escape_control_chars
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Tone
from fairfr.report.writers.shape import by_chapter, headings, word_columns

SIGN: dict[Tone, str] = {"plain": "", "improved": " ▲", "degraded": " ▼", "beyond": " !"}
SPECIAL = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;", ">": "&gt;"})


def render(grid: Grid) -> str:
    """Title, table and notes; one line for a table that has nothing to show yet."""
    if not grid.sections:
        return f"**{_plain(grid.title)}**: {' '.join(map(_note, grid.notes))}\n"
    width = len(grid.columns)
    words = word_columns(grid)
    lines = [
        f"**{_plain(grid.heading)}** {_plain(' '.join(grid.sentences))}".rstrip(),
        "",
        _row([" / ".join(grid.corner), *headings(grid)]),
        "|" + "|".join(["---", *("---" if i in words else "---:" for i in range(width))]) + "|",
        *_body(grid.sections, width),
        "",
        *(f"- {_note(note)}" for note in grid.notes),
    ]
    return "\n".join(lines).rstrip() + "\n"


def document(grids: Sequence[Grid], title: str, note: Note | None = None) -> str:
    """All tables under one title, by chapter, with a note about all of them and a list of contents."""
    contents, parts = [], []
    for chapter, tables in by_chapter(grids):
        contents += [f"- {_plain(chapter)}"] if chapter else []
        indent = "  " if chapter else ""
        contents += [f"{indent}- [{_plain(grid.title)}](#{grid.id})" for grid in tables]
        parts += [f"## {_plain(chapter)}\n"] if chapter else []
        parts += [f'<a id="{_plain(grid.id)}"></a>\n\n{render(grid)}' for grid in tables]
    said = [] if note is None else [_note(note), ""]
    return "\n".join([f"# {_plain(title)}", "", *said, *contents, "", "\n".join(parts)])


def _note(note: Note) -> str:
    said = [f"{note.lead}:" if note.lead else "", note.text]
    commands = " ; ".join(f"`{escape_control_chars(command)}`" for command in note.commands)
    return " ".join([*(_plain(part) for part in said if part), *([commands] if commands else [])])


def _body(sections: Iterable[Section], width: int) -> Iterator[str]:
    for section in sections:
        if section.heading:
            mark = "**" if section.panel else "*"
            yield _row([f"{mark}{_plain(section.heading)}{mark}", *[""] * width], escape=False)
        for line in section.lines:
            yield _row([_label(line), *(_entry(entry) for entry in line.entries)], escape=False)


def _label(line: Line) -> str:
    return _plain(line.label) + ("†" if line.dagger else "")


def _entry(entry: Entry) -> str:
    text = _plain(entry.shown)
    return (f"**{text}**" if entry.bold else text) + (SIGN[entry.tone] if entry.text else "")


def _row(texts: Iterable[str], escape: bool = True) -> str:
    return "| " + " | ".join(_plain(text) if escape else text for text in texts) + " |"


def _plain(text: str) -> str:
    return escape_control_chars(text).translate(SPECIAL)
