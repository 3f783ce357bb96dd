"""The pages: short where they must be, without links to nothing, and in step with the code."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import fairfr
from fairfr.__main__ import FOLDER, commands, overview

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TEMPLATES = sorted((ROOT / ".github").rglob("*.md"))  # not in a source archive
NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))
CONFIGURATIONS = sorted((ROOT / "conf").rglob("*.yaml"))
PLAINER = {
    "anew": "again",
    "vouch": "establish",
    "hang together": "are not independent",
    "hangs together": "is interlinked",
    "hangs on": "depends on",
    "passed over": "skipped",
    "belongs into": "belongs in",
    "to the letter": "exactly",
    "nobody": "no one, or name who is meant",
    "somebody": "a person, or name who is meant",
    "whoever": "anyone who, or name who is meant",
    "alike": "similar, or in the same way",
    "holds no": "has no",
    "holds only": "has only",
    "the place of a pair": "the midpoint of a pair",
    "told from 0": "distinguished from 0",
    "intervals without 0": "intervals exclude 0",
    "interval holds": "interval contains",
    "no run is chosen": "matches no run",
    "take home": "save",
    "unfold": "expand",
}
"""Phrases that readers stumble over, and what to write instead."""


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


def test_pages_that_the_code_names_exist() -> None:
    for folder in ("conf", "examples", "fairfr", "scripts", "tests"):
        for path in [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.yaml")]:
            for named in re.findall(r"\bdocs/[\w/]+\.(?:md|py|ipynb)\b", path.read_text(encoding="utf-8")):
                assert (ROOT / named).is_file(), f"{path.relative_to(ROOT)} names {named}"


FIRST_SCREEN = ("Question", "Answer", "How sure", "Do this", "Repeat it")


NOTES = [page for page in sorted((ROOT / "docs" / "lab").glob("*.md")) if page.stem != "index"]


@pytest.mark.parametrize("page", NOTES, ids=lambda path: path.stem)
def test_notes_of_the_lab_begin_with_an_answer_and_how_sure_it_is(page: Path) -> None:
    first_screen = page.read_text(encoding="utf-8").splitlines()[:25]
    leads = [re.match(r"\*\*([\w ]+)\.\*\*", line) for line in first_screen]
    assert [lead[1] for lead in leads if lead][: len(FIRST_SCREEN)] == list(FIRST_SCREEN)


@pytest.mark.parametrize(
    "name",
    [
        "first_comparison",
        "own_data",
        "choose_method",
        "calibrate",
        "compare_runs",
        "configuration",
        "formats",
        "methods",
        "lab/real_faces",
        "lab/studies",
    ],
)
def test_pages_for_users_begin_with_where_their_words_are_explained(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert "glossary.md" in page.partition("\n## ")[0]


WORDS = {
    "installation": 200,
    "first_comparison": 400,
    "own_data": 500,
    "faces": 325,
    "choose_method": 400,
    "calibrate": 625,
    "deploy": 375,
    "evaluate": 350,
    "audit": 350,
    "compare_runs": 480,
    "reproduce": 300,
    "cluster": 455,
    "own_method": 500,
    "methods": 750,
    "configuration": 650,
    "formats": 400,
    "results": 400,
    "library": 300,
    "glossary": 700,
    "how_it_works": 500,
    "conventions": 200,
    "security": 720,
}
"""How long each page for users may be, and a tenth more: one job, and no fact that has its home elsewhere."""
OTHER_PAGES = {"index", "architecture", "speed", "contributing", "changelog", "commands", "verification"}
"""Pages for maintainers, and those that are written by a script."""
HERE = {page.stem for page in (ROOT / "docs").glob("*.md")}


def word_count(page: Path) -> int:
    """Words of a page with its tables and code; a lone bar or sign is none."""
    words = page.read_text(encoding="utf-8").split()
    return sum(any(sign.isalnum() for sign in word) for word in words)


@pytest.mark.parametrize("name", sorted(HERE & set(WORDS)))
def test_pages_for_users_are_short(name: str) -> None:
    words = word_count(ROOT / "docs" / f"{name}.md")
    assert words <= 1.1 * WORDS[name], f"docs/{name}.md has {words} words. Say it once, or move it to its home."


def test_every_page_for_users_has_a_limit() -> None:
    assert set(WORDS) >= HERE - OTHER_PAGES


def test_every_page_for_users_says_what_comes_next() -> None:
    lists = {"library", "glossary", "security"}
    for name in HERE & set(WORDS) - lists:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").rstrip()
        assert text.splitlines()[-1].startswith("Next: ") and text.count("\nNext: ") == 1, name


def test_the_readme_explains_its_numbers() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Which method")[2].partition("\n## ")[0]
    assert "docs/glossary.md#scores-and-errors" in section


def test_the_readme_is_short() -> None:
    assert word_count(ROOT / "README.md") <= 550


def test_the_readme_calibrates_by_a_method_that_is_recommended() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    advice = (ROOT / "docs" / "choose_method.md").read_text(encoding="utf-8")
    fitted = re.findall(r"calibrate fit .*method=(\w+)", readme)
    assert fitted
    for method in fitted:
        assert f"Take `{method}`" in advice or f"`{method}`.**" in advice


def test_the_readme_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert example is not None
    exec(compile(example[1], "README.md", "exec"), {})
    assert capsys.readouterr().out == example[2]


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


def stumbling_blocks(text: str, name: str) -> list[str]:
    """One line for each phrase of ``PLAINER`` in a text, outside of code."""
    # code keeps its lines, so that the numbers of the others stay right; `USER nobody` is a Dockerfile's
    prose = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    prose = re.sub(r"`[^`\n]+`", "", prose)
    found = []
    for phrase, better in PLAINER.items():
        # a phrase may be broken over two lines
        pattern = r"\b" + phrase.replace(" ", r"\s+")
        for match in re.finditer(pattern, prose, re.IGNORECASE):
            line = prose.count("\n", 0, match.start()) + 1
            found.append(f"{name}, line {line}: '{phrase}'. Write instead: {better}.")
    return found


@pytest.mark.parametrize("page", [*PAGES, *TEMPLATES, *CONFIGURATIONS], ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_are_in_plain_english(page: Path) -> None:
    found = stumbling_blocks(page.read_text(encoding="utf-8"), str(page.relative_to(ROOT)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_in_plain_english(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert texts
    found = stumbling_blocks("\n".join(texts), notebook.name)
    assert not found, "\n".join(found)


def test_help_is_in_plain_english() -> None:
    found = stumbling_blocks(overview(commands()), "fairfr --help")
    for name, module in commands().items():
        docstring = ast.get_docstring(ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))) or ""
        found += stumbling_blocks(docstring, f"fairfr {name} --help")
    assert not found, "\n".join(found)


def messages(source: str) -> str:
    """The texts in a module that users may see, each in its line: no docstrings, and no names or codes."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    lines = [""] * len(source.splitlines())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value.replace("\n", " ")
            if " " in text:
                lines[node.lineno - 1] += f" {text}"
    return "\n".join(lines)


@pytest.mark.parametrize("room", sorted(path.name for path in FOLDER.parent.iterdir() if path.is_dir()))
def test_messages_are_in_plain_english(room: str) -> None:
    found = []
    for path in sorted((FOLDER.parent / room).rglob("*.py")):
        found += stumbling_blocks(messages(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT)))
    assert not found, "\n".join(found)


def test_messages_are_texts_of_several_words_and_no_docstrings() -> None:
    source = 'def f():\n    """Somebody."""\n    raise ValueError(f"{x} runs anew.", "look-alike")\n'
    assert stumbling_blocks(messages(source), "f.py") == ["f.py, line 3: 'anew'. Write instead: again."]


def test_phrases_are_found_outside_of_code_alone() -> None:
    text = "Cells run\n\n```\nUSER nobody\n```\n\n`anew` is code. It hangs\non luck, and runs Anew.\n"
    assert stumbling_blocks(text, "page.md") == [
        "page.md, line 8: 'anew'. Write instead: again.",
        "page.md, line 7: 'hangs on'. Write instead: depends on.",
    ]


def test_the_way_of_a_pair_names_functions_that_exist() -> None:
    """Each numbered step begins with the function that takes it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\d+\. `([\w.]+)`", text, re.MULTILINE)
    assert len(steps) > 40
    for step in steps:
        names = ["fairfr", *step.split(".")]
        parts = [*names]
        while not ROOT.joinpath(*parts).with_suffix(".py").exists():
            parts.pop()
            assert parts, f"{step}: there is no such module"
        found: Any = importlib.import_module(".".join(parts))
        for name in names[len(parts) :]:
            assert hasattr(found, name), f"{step} does not exist"
            found = getattr(found, name)
