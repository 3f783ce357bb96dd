"""LaTeX: balanced, escaped, and what is not for print in a comment."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fairfr.report.tables.grid import Grid, Section, Spanner
from fairfr.report.write import write_tables
from fairfr.report.writers import latex

ENGINE = shutil.which("pdflatex") or shutil.which("tectonic") or shutil.which("latexmk")


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


def test_what_is_not_for_print_is_a_comment_of_latex(grid: Grid) -> None:
    lines = latex.render(grid).splitlines()
    (comment,) = [line for line in lines if "fairfr run" in line]
    assert comment == "% To fill them: fairfr run -m method=a_b"
    assert any(line == r"A note.\par" for line in lines)


def test_ids_from_data_are_neither_commands_nor_comments(grid: Grid, tmp_path: Path) -> None:
    ids = ["own_50%_my#net", "own_x}\\input{passwd}", "twice", "twice"]
    paths = write_tables([replace(grid, id=id) for id in ids], tmp_path, "All")
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+\.(?:tex|md|html|csv)", path.name) for path in paths)
    inputs = re.findall(r"\\input\{(.*?)\}", (tmp_path / "all.tex").read_text())
    assert len(set(inputs)) == len(ids)
    for name in inputs:
        assert re.fullmatch("[A-Za-z0-9_-]+", name)
        assert rf"\label{{tab:{name}}}" in (tmp_path / f"{name}.tex").read_text()
