"""Tables as LaTeX: booktabs, no vertical rules; ``document`` is a small paper that inputs them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fairfr.core.text import escape_control_chars
from fairfr.report.tables.grid import SENTENCE, Entry, Grid, Line, Note, Section, Tone, word_columns

COLOUR: dict[Tone, str] = {"plain": "", "improved": "improved", "degraded": "degraded", "beyond": "beyond"}
SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "°": r"$^\circ$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "\u00d7": r"$\times$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "▲": r"$\blacktriangle$",
        "▼": r"$\blacktriangledown$",
        "\u03b1": r"$\alpha$",
        "\u03c1": r"$\rho$",
        "\u2212": r"$-$",
        "\u2013": "--",
        "…": r"\dots{}",
    }
)
NARROW = 100
TURNED = 150
"""Characters that fit on a line of text: wider tables are shrunk to it, very wide ones turned too."""
LABEL_SHARE = 0.12
SENTENCE_SHARE = 0.58
"""Of the line's width, where a table has sentences."""

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,margin=15mm]{geometry}
\usepackage{amssymb}
\usepackage{array}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{longtable}
\usepackage{rotating}
\usepackage{xcolor}
\definecolor{improved}{RGB}{0,128,0}
\definecolor{degraded}{RGB}{192,0,0}
\definecolor{beyond}{RGB}{176,96,0}
"""


def render(grid: Grid) -> str:
    """A table float, or a table over several pages where entries are sentences.

    What is not for print (commands, run keys) goes above it as comments; a table without a run is comments alone.

    It needs amssymb, array, booktabs, graphicx, longtable, rotating and xcolor, and the colours that ``document``
    defines.
    """
    comments = [_comment(str(note)) for note in grid.notes if not note.for_print]
    if not grid.sections:
        return "\n".join([_comment(grid.heading), *comments]) + "\n"
    has_sentences = any(length > SENTENCE for length in word_columns(grid).values())
    body = _over_pages(grid) if has_sentences else _float(grid)
    return "\n".join([*comments, *body]) + "\n"


def _comment(text: str) -> str:
    return "% " + " ".join(escape_control_chars(text).split())


def _float(grid: Grid) -> Iterator[str]:
    words = word_columns(grid)
    groups = []
    number = 0
    for spanner in grid.spanners:
        kinds = ""
        for _ in spanner.columns:
            kinds += "l" if number in words else "r"
            number += 1
        groups.append(kinds)
    columns = " ".join(groups)
    wide = _width(grid) > NARROW
    turned = _width(grid) > TURNED
    yield r"\begin{sidewaystable*}" if turned else r"\begin{table*}[htbp]"
    yield r"\centering"
    yield rf"\caption{{{breakable(grid.caption)}}}"
    yield rf"\label{{tab:{grid.id}}}"
    yield r"\small"
    yield r"\setlength{\tabcolsep}{3.5pt}"
    if wide:
        yield r"\resizebox{\textwidth}{!}{%"
    yield rf"\begin{{tabular}}{{l {columns}}}"
    yield r"\toprule"
    yield from _head(grid)
    yield r"\midrule"
    yield from _body(grid)
    yield r"\bottomrule"
    if wide:
        yield r"\end{tabular}}"
    else:
        yield r"\end{tabular}"
    yield from _notes(grid.notes)
    yield r"\end{sidewaystable*}" if turned else r"\end{table*}"


def _over_pages(grid: Grid) -> Iterator[str]:
    yield r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}\setlength{\LTcapwidth}{\textwidth}"
    yield rf"\begin{{longtable}}{{{' '.join(_text_columns(grid))}}}"
    yield rf"\caption{{{breakable(grid.caption)}}}\label{{tab:{grid.id}}}\\"
    yield r"\toprule"
    yield from _head(grid)
    yield r"\midrule\endhead"
    yield r"\bottomrule\endfoot"
    yield from _body(grid)
    yield r"\end{longtable}"
    yield from _notes(grid.notes)
    yield r"\endgroup"


def _text_columns(grid: Grid) -> Iterator[str]:
    """Sentences share what labels and numbers leave of the line, long ones more (by the root of their length)."""
    words = word_columns(grid)
    sentences = {i: length**0.5 for i, length in words.items() if length > SENTENCE}
    yield _paragraph(LABEL_SHARE)
    for i in range(len(grid.columns)):
        if i in sentences:
            yield _paragraph(SENTENCE_SHARE * sentences[i] / sum(sentences.values()))
        else:
            yield "l" if i in words else "r"


def _paragraph(share: float) -> str:
    return rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\textwidth}}"


def document(names: Iterable[str], title: str) -> str:
    """A document that inputs the tables of these ids; each starts a page, or LaTeX would run out of floats."""
    inputs = "\n".join(rf"\input{{{name}}}\clearpage" for name in names)
    start = rf"\begin{{document}}{chr(10)}\section*{{{escape(title)}}}"
    return f"{PREAMBLE}{start}\n{inputs}\n\\end{{document}}\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return escape_control_chars(text).replace("--", "-\0-").translate(SPECIAL).replace("\0", "{}")


def breakable(text: str) -> str:
    """As ``escape``; long words without blanks (commands, lists of methods) may break after a comma."""
    return re.sub(r",(?=\S)", r",\\allowbreak{}", escape(text))


def _head(grid: Grid) -> Iterator[str]:
    if any(spanner.heading for spanner in grid.spanners):
        spans = [""]
        rules = []
        first = 2
        for spanner in grid.spanners:
            width = len(spanner.columns)
            spans.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(spanner.heading)}}}")
            if spanner.heading:
                rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
            first += width
        yield _row(spans)
        yield " ".join(rules)
    yield _row([escape(" / ".join(grid.corner)), *(escape(column) for column in grid.columns)])


def _body(grid: Grid) -> Iterator[str]:
    for i, section in enumerate(grid.sections):
        if i:
            yield r"\midrule"
        yield from _heading(section, len(grid.columns) + 1)
        for line in section.lines:
            yield _row([_label(line), *(_entry(entry) for entry in line.entries)])


def _heading(section: Section, width: int) -> Iterator[str]:
    if section.heading:
        style = "textbf" if section.panel else "emph"
        yield _row([rf"\multicolumn{{{width}}}{{l}}{{\{style}{{{escape(section.heading)}}}}}"])
    if section.heading and section.panel:
        yield r"\midrule"


def _label(line: Line) -> str:
    label = escape(line.label)
    if line.dagger:
        label += r"$^\dagger$"
    return label


def _entry(entry: Entry) -> str:
    text = escape(entry.shown)
    if text and entry.bold:
        text = rf"\textbf{{{text}}}"
    colour = COLOUR[entry.tone]
    if text and colour:
        text = rf"\textcolor{{{colour}}}{{{text}}}"
    return text


def _row(texts: Sequence[str]) -> str:
    """One row. The end of the row or the rule before it would take a bracket or star at its start as their option."""
    text = " & ".join(texts)
    if text.lstrip().startswith(("[", "*")):
        text = "{}" + text
    return text + r" \\"


def _notes(notes: Sequence[Note]) -> list[str]:
    lines = [rf"{breakable(str(note))}\par" for note in notes if note.for_print]
    if not lines:
        return []
    return [
        r"\par\smallskip",
        r"\noindent\begin{minipage}{\textwidth}\footnotesize\raggedright",
        *lines,
        r"\end{minipage}",
    ]


def _width(grid: Grid) -> int:
    """Characters of the widest row, with the space between columns."""
    lines = list(grid.lines())
    width = max((len(line.label) for line in lines), default=0)
    for number, name in enumerate(grid.columns):
        widest = max((len(line.entries[number].shown) for line in lines), default=0)
        width += max(len(name), widest) + 2
    return width
