"""Tables as LaTeX: booktabs, no vertical rules; ``document`` is a small paper that inputs them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fairfr.report.grid import Cell, Grid, Line, Section, Tone

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
"""Characters that fit on a line of text; wider tables are shrunk to it."""

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage{amssymb}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{xcolor}
\definecolor{improved}{RGB}{0,128,0}
\definecolor{degraded}{RGB}{192,0,0}
\definecolor{beyond}{RGB}{176,96,0}
"""


def render(grid: Grid) -> str:
    """A table float. It needs booktabs, graphicx, amssymb and xcolor, and the colours that ``document`` defines."""
    wide = _width(grid) > NARROW
    tabular = [
        rf"\begin{{tabular}}{{l {' '.join('r' * len(group.columns) for group in grid.groups)}}}",
        r"\toprule",
        *_head(grid),
        r"\midrule",
        *_body(grid),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if wide:
        tabular = [r"\resizebox{\textwidth}{!}{%", *tabular[:-1], tabular[-1] + "}"]
    lines = [
        r"\begin{table*}[htbp]",
        r"\centering",
        rf"\caption{{{breakable(grid.caption)}}}",
        rf"\label{{tab:{grid.id}}}",
        r"\small",
        r"\setlength{\tabcolsep}{3.5pt}",
        *tabular,
        *_notes(grid.notes),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def document(names: Iterable[str], title: str) -> str:
    """A document that inputs the tables of these ids; each starts a page, or LaTeX would run out of floats."""
    inputs = "\n".join(rf"\input{{{name}}}\clearpage" for name in names)
    start = rf"\begin{{document}}{chr(10)}\section*{{{escape(title)}}}"
    return f"{PREAMBLE}{start}\n{inputs}\n\\end{{document}}\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return text.replace("--", "-\0-").translate(SPECIAL).replace("\0", "{}")


def breakable(text: str) -> str:
    """As ``escape``; long words without blanks (commands, lists of methods) may break after a comma."""
    return re.sub(r",(?=\S)", r",\\allowbreak{}", escape(text))


def _head(grid: Grid) -> Iterator[str]:
    if any(group.heading for group in grid.groups):
        spans, rules, first = [""], [], 2
        for group in grid.groups:
            width = len(group.columns)
            spans.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group.heading)}}}")
            if group.heading:
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
            yield _row([_label(line), *(_cell(cell) for cell in line.cells)])


def _heading(section: Section, width: int) -> Iterator[str]:
    if section.heading:
        style = "textbf" if section.panel else "emph"
        yield _row([rf"\multicolumn{{{width}}}{{l}}{{\{style}{{{escape(section.heading)}}}}}"])
    if section.heading and section.panel:
        yield r"\midrule"


def _label(line: Line) -> str:
    return escape(line.label) + (r"$^\dagger$" if line.dagger else "")


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if text and cell.bold:
        text = rf"\textbf{{{text}}}"
    colour = COLOUR[cell.tone]
    return rf"\textcolor{{{colour}}}{{{text}}}" if text and colour else text


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _notes(notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    lines = [rf"{breakable(note)}\par" for note in notes]
    return [r"\par\smallskip", r"\begin{minipage}{\textwidth}\footnotesize\raggedright", *lines, r"\end{minipage}"]


def _width(grid: Grid) -> int:
    """Characters of the widest row, with the space between columns."""
    lines = [line for section in grid.sections for line in section.lines]
    columns = [max([len(name), *(len(line.cells[i].text) for line in lines)]) for i, name in enumerate(grid.columns)]
    return max([0, *(len(line.label) for line in lines)]) + sum(columns) + 2 * len(columns)
