"""docs/commands.md: the help text of every command, and the choices of fairfr run.

python scripts/commands_page.py           writes the page
python scripts/commands_page.py --check   fails when it is stale
"""

import argparse
import contextlib
import io
import re
import sys
from pathlib import Path

import yaml

import fairfr.__main__ as program
from fairfr.commands.import_ import KINDS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands

This page is written by `scripts/commands_page.py` from the commands themselves: what each of them prints with `--help`,
and then [what fairfr run can be given](#choices-of-fairfr-run). From a checkout, `python run.py` is `fairfr run`, and
`scripts/` has the other commands.
"""
PARTS = {
    "calibrate": ("fit", "threshold", "score", "inspect"),
    "faces": ("lfw", "celeba"),
    "import": tuple(KINDS),
}
GROUPS = {
    "dataset": "Data sets",
    "dataset/study": "Data sets of studies",
    "backbone": "Networks",
    "protocol": "Protocols",
    "experiment": "Experiments",
    "method/ablation": "Ablations of methods",
    "method/extra": "Methods that need an extra",
    "store": "Stores",
}


def main() -> None:
    """Compare or rewrite the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    fresh = page()
    if not check:
        PAGE.write_text(fresh, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != fresh:
        sys.exit("docs/commands.md is stale. Run: python scripts/commands_page.py")


def page() -> str:
    """The whole page."""
    parts = [HEAD, section("fairfr", [])]
    for command in program.commands():
        parts.append(section(f"fairfr {command}", [command]))
        for part in PARTS.get(command, ()):
            parts.append(section(f"fairfr {command} {part}", [command, part]))
    parts.append("## Choices of fairfr run\n")
    parts.append("One yaml each below `conf/`; [methods](methods.md) have a page of their own.\n")
    for group, title in GROUPS.items():
        parts.append(f"### {title}\n\n{choices(group)}\n")
    return "\n".join(parts)


def section(title: str, words: list[str]) -> str:
    """The help text of one command."""
    printed = io.StringIO()
    sys.argv = ["fairfr", *words, "--help"]
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        program.main()
    return f"## {title}\n\n```text\n{printed.getvalue().rstrip()}\n```\n"


def choices(group: str) -> str:
    """A table of the yamls of one group: how each is typed, and what its opening comment says first."""
    key, _, folder = group.partition("/")
    lines = [f"| `{key}=` | |", "|---|---|"]
    for path in sorted((ROOT / "conf" / group).glob("*.yaml")):
        name = f"{folder}/{path.stem}" if folder else path.stem
        lines.append(f"| `{name}` | {about(path)} |")
    return "\n".join(lines)


def about(path: Path) -> str:
    """The first sentence of a yaml's opening comment, or its label where that says only where vectors are."""
    text = path.read_text(encoding="utf-8")
    opening: list[str] = []
    for line in text.splitlines():
        if line.startswith("# @package"):
            continue
        if not line.startswith("# "):
            break
        opening.append(line.removeprefix("# ").strip())
    said = " ".join(opening)
    if said.startswith("Vectors from "):
        return str(yaml.safe_load(text)["label"])
    sentence = re.match(r".+?[.?](?=\s+[A-Z(]|$)", said)
    first = sentence[0] if sentence else said
    return first.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
