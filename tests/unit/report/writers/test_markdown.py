"""Markdown: full rows, marks in the place of colours."""

from __future__ import annotations

import re

from fairfr.report.tables.grid import Grid
from fairfr.report.writers import markdown


def test_markdown_has_one_bar_more_than_cells_in_each_row(grid: Grid) -> None:
    text = markdown.render(grid)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "| FRAPPÉ | **0.950** ▲ | 0.2 ▼ |  |" in rows
    assert rows[0] == "| Method | RFW R100 | RFW AdaFace | K/N |"
    assert "**A title [SYNTHETIC stand-in, not faces].** Then more" in text
    assert "- To fill them: `fairfr run -m method=a_b`" in text


def test_a_document_has_its_chapters_in_order(chapters: list[Grid]) -> None:
    text = markdown.document(chapters, "T")
    assert text.index("## Mine") < text.index('<a id="x">') < text.index("## The paper")
