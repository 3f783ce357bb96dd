"""Each form draws a Grid as it is: nothing lost, nothing decided, special characters intact."""

from __future__ import annotations

import csv as csv_module
import io
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.write import write_tables
from fairfr.report.writers import csv, html, latex, markdown

NASTY = r"50 % of a_b & c#d {x} ~^ \ $5 <i> | *"
ENGINE = shutil.which("pdflatex") or shutil.which("tectonic") or shutil.which("latexmk")


@pytest.fixture
def grid() -> Grid:
    """Two column groups, a panel, a section with a dagger, every mark, an empty cell, words and odd characters."""
    first = Line("Baseline", (Entry("0.900", 0.9), Entry("0.100", 0.1, spread="±0.020"), Entry("3/8", 0.375)))
    second = Line("FRAPPÉ", (Entry("0.950", 0.95, True, "improved"), Entry("0.2", 0.2, tone="degraded"), Entry()))
    third = Line(NASTY, (Entry("1.0", 1.0, tone="beyond"), Entry(), Entry()), dagger=True)
    return Grid(
        "odd_table",
        "A title",
        ("Method",),
        (Spanner("RFW", ("R100", "AdaFace")), Spanner("", ("K/N",))),
        (Section("Panel A", (first, second), panel=True), Section("Needs labels", (third,))),
        (
            Note("plain", "A note."),
            Note("missing", lead="To fill them", commands=("fairfr run -m method=a_b",), for_print=False),
        ),
        about=("Then more, 5 % of it.",),
        source="synthetic",
    )


@pytest.fixture
def wordy() -> Grid:
    sentence = "a sentence that is far too long for a narrow column of a table"
    line = Line("Table 1", (Entry("holds", tone="improved"), Entry(sentence), Entry("0.1", 0.1)))
    return Grid("words", "Words", ("Where",), (Spanner("", ("verdict", "why", "n")),), (Section("", (line,)),))


def cells_of_row(row: str) -> int:
    spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row)]
    return len(re.findall(r"(?<!\\)&", row)) + 1 + sum(spans)


def check_latex(text: str, columns: int) -> None:
    opened = re.findall(r"\\begin\{([^}]*)\}", text)
    closed = re.findall(r"\\end\{([^}]*)\}", text)
    assert opened and sorted(opened) == sorted(closed)
    bare = re.sub(r"\\[{}\\]", "", text)
    assert bare.count("{") == bare.count("}")
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert rows and all(cells_of_row(row) == columns for row in rows)


def test_latex_is_balanced_and_each_row_is_full(grid: Grid, wordy: Grid) -> None:
    check_latex(latex.render(grid), 4)
    check_latex(latex.render(wordy), 4)


def test_latex_has_booktabs_marks_and_no_bare_special_character(grid: Grid) -> None:
    text = latex.render(grid)
    assert r"\multicolumn{2}{c}{RFW}" in text and r"\cmidrule(lr){2-3}" in text and r"\cmidrule(lr){4-4}" not in text
    assert r"\textcolor{improved}{\textbf{0.950}}" in text and r"\textcolor{degraded}{0.2}" in text
    assert r"0.100$\pm$0.020" in text and r"\textbf{Panel A}" in text and r"\emph{Needs labels}" in text
    escaped = r"50 \% of a\_b \& c\#d \{x\} \textasciitilde{}\textasciicircum{} \textbackslash{} \$5 \textless{}i"
    assert escaped in text and r"$^\dagger$" in text and "FRAPPÉ" in text


def test_latex_keeps_double_hyphens(grid: Grid) -> None:
    assert latex.escape("--all") == "-{}-all"


def test_wide_tables_shrink_and_sentences_wrap(grid: Grid, wordy: Grid) -> None:
    assert "resizebox" not in latex.render(grid)
    wide = Grid("w", "W", ("M",), (Spanner("", ("x" * 60, "y" * 60)),), (Section("", ()),))
    assert r"\resizebox{\textwidth}" in latex.render(wide)
    assert "longtable" in latex.render(wordy) and r"\textwidth}" in latex.render(wordy)


@pytest.mark.skipif(ENGINE is None, reason="no TeX engine on this machine")
def test_latex_compiles(grid: Grid, wordy: Grid, tmp_path: Path) -> None:
    wide = Grid("wide", "W", ("M",), (Spanner("", tuple(f"{'x' * 30}{i}" for i in range(6))),), (Section("", ()),))
    write_tables([grid, wordy, wide], tmp_path, "All of 50 % & more")
    assert ENGINE is not None
    options = [] if "tectonic" in ENGINE else ["-interaction=nonstopmode", "-halt-on-error"]
    options += ["-pdf"] if "latexmk" in ENGINE else []
    done = subprocess.run([ENGINE, *options, "all.tex"], cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 0


def test_all_tex_inputs_every_table(grid: Grid, wordy: Grid, tmp_path: Path) -> None:
    write_tables([grid, wordy], tmp_path, "All")
    text = (tmp_path / "all.tex").read_text(encoding="utf-8")
    names = re.findall(r"\\input\{([^}]*)\}", text)
    assert names == ["odd_table", "words"] and all((tmp_path / f"{name}.tex").exists() for name in names)
    for colour in ("improved", "degraded", "beyond"):
        assert rf"\definecolor{{{colour}}}" in text


def test_markdown_has_one_bar_more_than_cells_in_each_row(grid: Grid) -> None:
    text = markdown.render(grid)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "| FRAPPÉ | **0.950** ▲ | 0.2 ▼ |  |" in rows
    assert rows[0] == "| Method | RFW R100 | RFW AdaFace | K/N |"
    assert "**A title [SYNTHETIC stand-in, not faces].** Then more" in text
    assert "- To fill them: `fairfr run -m method=a_b`" in text


class Page(HTMLParser):
    """Counts cells of rows, spans included, and checks that tags close in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[int] = []
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += int(attributes.get("colspan") or 1)
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_html_is_well_formed_and_rectangular(grid: Grid, wordy: Grid) -> None:
    page = parsed(html.render(grid))
    assert set(page.rows) == {4} and len(page.rows) == 7
    assert NASTY in page.text, "special characters are shown as they are"
    assert '<td class="first improved" title="0.95" data-label="RFW R100"><b>0.950</b></td>' in html.render(grid)
    whole = html.page([grid, wordy], "SYNTHETIC tables")
    assert parsed(whole).ids == ["odd_table", "words"]
    assert "<link" not in whole and "src=" not in whole and "<style>" in whole, "one file is all it needs"


def test_html_carries_pictures_inside(grid: Grid, tmp_path: Path) -> None:
    (tmp_path / "worst_group.png").write_bytes(b"\x89PNG")
    text = html.page([grid], "T", [tmp_path / "worst_group.png", tmp_path / "worst_group.pdf"])
    assert text.count("<img") == 1 and "data:image/png;base64,iVBORw==" in text


def test_csv_reads_back_as_printed(grid: Grid) -> None:
    table = pd.read_csv(io.StringIO(csv.render(grid)), comment=None, skiprows=3, dtype=str, keep_default_na=False)
    assert list(table.columns) == ["panel", "section", "Method", "RFW R100", "RFW AdaFace", "K/N"]
    assert table["Method"].tolist() == ["Baseline", "FRAPPÉ", f"{NASTY}†"]
    assert table["RFW R100"].tolist() == ["0.900", "0.950", "1.0"]
    assert table["panel"].tolist() == ["Panel A"] * 3 and table["section"].tolist() == ["", "", "Needs labels"]
    assert csv.render(grid).startswith("# A title [SYNTHETIC stand-in, not faces].")


def test_tidy_csv_has_unrounded_numbers_and_marks(grid: Grid) -> None:
    rows = list(csv_module.DictReader(io.StringIO(csv.tidy([grid]))))
    assert len(rows) == 6, "empty cells are left out"
    assert rows[3] == {
        "table": "odd_table",
        "panel": "Panel A",
        "section": "",
        "row": "FRAPPÉ",
        "needs_groups": "0",
        "group": "RFW",
        "column": "R100",
        "printed": "0.950",
        "value": "0.95",
        "bold": "1",
        "mark": "improved",
    }


@pytest.fixture
def unfilled() -> Grid:
    command = "fairfr run -m experiment=headline source=files"
    return Grid("empty", "Table 9", ("Method",), (), (), (Note("unfilled", "no run yet:", commands=(command,)),))


def test_a_table_without_runs_is_one_line(unfilled: Grid) -> None:
    """What would fill it, and nothing else; LaTeX has nothing to print."""
    for text in (markdown.render(unfilled), html.render(unfilled)):
        assert len(text.splitlines()) == 1 and "Table 9" in text and "experiment=headline" in text and "<td" not in text
    assert all(line.startswith("%") for line in latex.render(unfilled).splitlines())
    assert all(line.startswith("#") for line in csv.render(unfilled).splitlines())


def test_what_is_not_for_print_is_a_comment_of_latex(grid: Grid) -> None:
    lines = latex.render(grid).splitlines()
    (comment,) = [line for line in lines if "fairfr run" in line]
    assert comment == "% To fill them: fairfr run -m method=a_b"
    assert any(line == r"A note.\par" for line in lines)


def test_an_undefined_number_is_a_dash_and_a_missing_run_is_blank() -> None:
    line = Line("m", (Entry(missing="too few pairs"), Entry(missing="no groups"), Entry()))
    grid = Grid("t", "T", ("M",), (Spanner("", ("a", "b", "c")),), (Section("", (line,)),))
    assert "| m | \u2013 | \u2013 |  |" in markdown.render(grid)
    assert r"m & -- & -- &  \\" in latex.render(grid)
    assert csv.render(grid).splitlines()[-1] == ",,m,\u2013,\u2013,"
    assert 'title="too few pairs"' in html.render(grid) and 'title="no groups"' in html.render(grid)
    assert csv.tidy([grid]).count("\n") == 1


def test_a_page_has_its_chapters_in_order(grid: Grid, wordy: Grid) -> None:
    chapters = [
        replace(grid, chapter="Mine"),
        replace(wordy, chapter="The paper"),
        replace(grid, id="x", chapter="Mine"),
    ]
    assert parsed(html.page(chapters, "T")).ids == ["odd_table", "x", "words"]
    text = markdown.document(chapters, "T")
    assert text.index("## Mine") < text.index('<a id="x">') < text.index("## The paper")


def test_long_notes_fold_behind_their_lead_and_warnings_are_marked(grid: Grid) -> None:
    notes = (Note("keys", "k" * 200, "Run keys"), Note("few", "Few.", severity="warning"), Note("long", "w" * 200))
    text = html.render(replace(grid, notes=notes))
    assert "<summary>Run keys ...</summary>" in text and '<li class="warning">Few.</li>' in text
    assert text.count("<details>") == 1


def test_the_style_is_part_of_the_page_and_fits_a_phone(grid: Grid) -> None:
    text = html.page([grid], "T")
    assert "@media (max-width: 640px)" in text and "attr(data-label)" in text
    assert 'class="synthetic"' in text and 'class="synthetic"' not in html.page([replace(grid, source="files")], "T")


def test_a_note_about_the_whole_report_stands_below_its_title(grid: Grid, wordy: Grid) -> None:
    note = Note("hidden_variants", "2 runs.", "Not shown", ("fairfr tables --where a=<b>",), for_print=False)
    page, text = html.page([grid, wordy], "All", note=note), markdown.document([grid, wordy], "All", note)
    assert "Not shown: 2 runs. <code>fairfr tables --where a=&lt;b&gt;</code>" in page
    assert page.index("<h1>") < page.index("Not shown") < page.index("<h2>" if "<h2>" in page else "<figure")
    assert text.startswith("# All\n\nNot shown: 2 runs. `fairfr tables --where a=<b>`\n")
