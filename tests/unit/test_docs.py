"""The pages: short where they must be, without links to nothing, and in step with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import fairfr
from fairfr.__main__ import commands

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def anchors(page: Path) -> set[str]:
    """Headings as GitHub spells them in a link."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not heading or heading in anchors(target), f"{page.name}: {link}"


def test_the_readme_is_short_and_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 160
    assert all(name in text for name in commands())


def test_one_version_and_one_ruff() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == fairfr.__version__
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    pinned = re.search(r"^ruff==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned and hooks["repos"][0]["rev"] == f"v{pinned[1]}"


def test_examples_of_commands_name_commands_that_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"^(?:\w+=\S+ )?fairfr (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert name in commands(), f"{page.name}: fairfr {name}"
