"""HTML: well-formed, one file, readable on a phone."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from fairfr.report.tables.grid import Grid, Note
from fairfr.report.writers import html


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
    assert [*grid.lines()][-1].label in page.text, "special characters are shown as they are"
    assert '<td class="first improved" title="0.95" data-label="RFW R100"><b>0.950</b></td>' in html.render(grid)
    whole = html.page([grid, wordy], "SYNTHETIC tables")
    assert parsed(whole).ids == ["odd_table", "words"]
    assert "<link" not in whole and "src=" not in whole and "<style>" in whole, "one file is all it needs"


def test_html_carries_pictures_inside(grid: Grid, tmp_path: Path) -> None:
    (tmp_path / "worst_group.png").write_bytes(b"\x89PNG")
    text = html.page([grid], "T", [tmp_path / "worst_group.png", tmp_path / "worst_group.pdf"])
    assert text.count("<img") == 1 and "data:image/png;base64,iVBORw==" in text


def test_long_notes_fold_behind_their_lead_and_warnings_are_marked(grid: Grid) -> None:
    notes = (Note("keys", "k" * 200, "Run keys"), Note("few", "Few.", severity="warning"), Note("long", "w" * 200))
    text = html.render(replace(grid, notes=notes))
    assert "<summary>Run keys ...</summary>" in text and '<li class="warning">Few.</li>' in text
    assert text.count("<details>") == 1


def test_the_style_is_part_of_the_page_and_fits_a_phone(grid: Grid) -> None:
    text = html.page([grid], "T")
    assert "@media (max-width: 640px)" in text and "attr(data-label)" in text
    assert 'class="synthetic"' in text and 'class="synthetic"' not in html.page([replace(grid, source="files")], "T")


def test_a_page_has_its_chapters_in_order(chapters: list[Grid]) -> None:
    assert parsed(html.page(chapters, "T")).ids == ["odd_table", "x", "words"]
