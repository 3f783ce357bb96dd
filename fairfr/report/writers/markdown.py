"""Tables as Markdown (GitHub's pipe tables): daggers, bold, and a sign where print has a colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairfr.core.text import escape_control_chars
from fairfr.report.tables.grid import (
    NOTHING_TO_SAY,
    Entry,
    Grid,
    Line,
    Note,
    Opening,
    Section,
    Tone,
    by_chapter,
    headings,
    word_columns,
)

SIGN: dict[Tone, str] = {"plain": "", "improved": " ▲", "degraded": " ▼", "beyond": " !"}
SPECIAL = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;", ">": "&gt;"})


def render(grid: Grid) -> str:
    """Title, table and notes; one line for a table that has nothing to show yet."""
    if not grid.sections:
        return f"**{_plain(grid.title)}**: {' '.join(map(_note, grid.notes))}\n"
    width = len(grid.columns)
    words = word_columns(grid)
    rules = ["---"]
    for number in range(width):
        rules.append("---" if number in words else "---:")
    lines = [
        f"**{_plain(grid.heading)}** {_plain(' '.join(grid.sentences))}".rstrip(),
        "",
        _row([" / ".join(grid.corner), *headings(grid)]),
        f"|{'|'.join(rules)}|",
        *_body(grid.sections, width),
        "",
        *(f"- {_note(note)}" for note in grid.notes),
    ]
    return "\n".join(lines).rstrip() + "\n"


def document(grids: Sequence[Grid], title: str, opening: Opening = NOTHING_TO_SAY) -> str:
    """All tables under one title, by chapter, with what the page opens with and a list of contents."""
    contents = []
    parts = []
    for chapter, tables in by_chapter(grids):
        indent = ""
        if chapter:
            contents.append(f"- {_plain(chapter)}")
            parts.append(f"## {_plain(chapter)}\n")
            indent = "  "
        contents += [f"{indent}- [{_plain(grid.title)}](#{grid.id})" for grid in tables]
        parts += [f'<a id="{_plain(grid.id)}"></a>\n\n{render(grid)}' for grid in tables]
    head = [f"# {_plain(title)}", ""]
    for heading, sentences in opening.answers:
        head += [f"**{_plain(heading)}**", "", *(f"- {_plain(sentence)}" for sentence in sentences), ""]
    for note in opening.notes:
        head += [_note(note), ""]
    return "\n".join([*head, *contents, "", "\n".join(parts)])


def _note(note: Note) -> str:
    said = []
    if note.lead:
        said.append(_plain(f"{note.lead}:"))
    if note.text:
        said.append(_plain(note.text))
    if note.commands:
        said.append(" ; ".join(f"`{escape_control_chars(command)}`" for command in note.commands))
    return " ".join(said)


def _body(sections: Iterable[Section], width: int) -> Iterator[str]:
    for section in sections:
        if section.heading:
            mark = "**" if section.panel else "*"
            yield _row([f"{mark}{_plain(section.heading)}{mark}", *[""] * width], escape=False)
        for line in section.lines:
            yield _row([_label(line), *(_entry(entry) for entry in line.entries)], escape=False)


def _label(line: Line) -> str:
    label = _plain(line.label)
    if line.dagger:
        label += "†"
    return label


def _entry(entry: Entry) -> str:
    text = _plain(entry.shown)
    if entry.bold:
        text = f"**{text}**"
    if entry.text:
        text += SIGN[entry.tone]
    return text


def _row(texts: Iterable[str], escape: bool = True) -> str:
    if escape:
        texts = [_plain(text) for text in texts]
    return f"| {' | '.join(texts)} |"


def _plain(text: str) -> str:
    return escape_control_chars(text).translate(SPECIAL)
