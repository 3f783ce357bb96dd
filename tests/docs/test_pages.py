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


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 160


def test_one_version_and_one_ruff() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == fairfr.__version__
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    pinned = re.search(r"^ruff==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned and hooks["repos"][0]["rev"] == f"v{pinned[1]}"


def test_examples_of_commands_name_commands_that_exist() -> None:
    for page in PAGES:
        examples = "\n".join(re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
        named = set(re.findall(r"^(?:\w+=\S+ )?fairfr (\w+)", examples, re.MULTILINE))
        assert named <= set(commands()), page.name
        for script in re.findall(r"python (\S+\.py)", examples):
            assert (ROOT / script).is_file(), f"{page.name}: {script}"
