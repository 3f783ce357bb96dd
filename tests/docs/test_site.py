"""The documentation site: it builds without a warning, shows the whole library, and fails on a broken link."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from fairfr.library.method_classes import method_targets

ROOT = Path(__file__).parents[2]


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs` does."""
    options = ["-q", "-W", "--keep-going", "-E", "-b", "html", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(out / "site")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs")
    done = build(ROOT / "docs", out)
    assert done.returncode == 0, done.stderr
    return out / "site"


@pytest.mark.slow
def test_every_page_and_every_method_is_there(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    front = (site / "index.html").read_text(encoding="utf-8")
    assert "<h1>fairfr" in front and "calibrate.html" in front  # README, and its links to docs/
    library = (site / "library.html").read_text(encoding="utf-8")
    for name in [*method_targets(), "Model.fit", "Model.probability", "load"]:
        assert f'id="fairfr.{name}"' in library, name


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)\b[^>]*?(?:src|href)="([^"]+)"', page.read_text(encoding="utf-8"))
        assert loaded
        assert not [address for address in loaded if "//" in address], page.name


@pytest.mark.slow
def test_numbers_in_tables_stay_on_one_line_and_sentences_get_room(site: Path) -> None:
    methods = (site / "methods.html").read_text(encoding="utf-8")
    assert re.search(r'<td class="short">(<p>)?Platt', methods)
    assert re.search(r'<td class="long">(<p>)?Platt base', methods)
    assert re.search(
        r"td\.short \{[^}]*white-space: nowrap", (site / "_static" / "tables.css").read_text(encoding="utf-8")
    )


@pytest.mark.slow
@pytest.mark.parametrize("link", ["[page](nowhere.md)", "[heading](#nowhere)", "![picture](nowhere.png)"])
def test_a_link_that_leads_nowhere_is_an_error(link: str, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copytree(ROOT / "docs" / "_static", source / "_static")
    shutil.copy(ROOT / "docs" / "conf.py", source)
    (source / "index.md").write_text(f"# Front page\n\n{link}\n", encoding="utf-8")
    done = build(source, tmp_path)
    assert done.returncode != 0 and "nowhere" in done.stderr


def unfolded_rows(page: str) -> list[int]:
    """How many rows each table has that is not inside <details>."""
    counts = []
    for part in re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL).split("\n\n"):
        if part.lstrip().startswith("|"):
            counts.append(len(part.strip().splitlines()) - 2)
    return counts


LAB = sorted((ROOT / "docs" / "lab").glob("*.md"))
LISTS = {"architecture", "commands", "glossary", "index", "methods"}
"""Pages in which a reader looks up one row."""


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_long_tables_are_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.stem not in LISTS:
        assert max(unfolded_rows(text), default=0) <= 10
        assert "<details>" not in text


def test_files_of_tables_have_the_rows_that_pages_say() -> None:
    linked = set()
    for page in LAB:
        text = page.read_text(encoding="utf-8")
        for name, rows in re.findall(r"\]\(tables/(\w+\.csv)\) \((\d+) rows", text):
            table = pd.read_csv(page.parent / "tables" / name, dtype=str)
            assert len(table) == int(rows), name
        linked |= set(re.findall(r"\]\(tables/(\w+\.csv)\)", text))
    assert linked == {path.name for path in (ROOT / "docs" / "lab" / "tables").glob("*.csv")}
