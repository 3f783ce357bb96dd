"""Files that cannot be read: the code and the place of each error, and all messages on one golden page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any, TypeAlias

import pytest

from fairfr.core.errors import DataError

PAGE = Path(__file__).parents[1] / "golden" / "messages.md"
Refuses: TypeAlias = Callable[[str, Mapping[str, tuple[Any, str, str]], Callable[[Path, Any], object]], None]
"""The fixture ``refuses``: ``check_refusals`` against the page."""
OF_LIBRARIES = re.compile(
    r"\((?:Bad CRC|Column \d|EOF: reading|File is not|Parquet magic)[^()]*\)"
)  # words of other versions
TITLE = "# What is said about files that cannot be read\n"


def check_refusals(
    section: str, broken: Mapping[str, tuple[Any, str, str]], read: Callable[[Path, Any], object], folder: Path
) -> str:
    """Read each broken file: its error has this code, names this place, and says what the page's ``section`` has.

    ``read`` gets an empty folder and what ``broken`` has first: how the file is made, or damaged. Returns the section.
    """
    lines = [f"## {section}\n"]
    for number, (case, (damage, code, place)) in enumerate(broken.items()):
        own = folder / str(number)
        own.mkdir()
        with pytest.raises(DataError) as told:
            read(own, damage)
        message = OF_LIBRARIES.sub("(...)", str(told.value).replace(str(own), "DATA"))
        assert told.value.code == code, f"{case}: {message}"
        assert place in message, f"{case}: {message}"
        lines.append(f"* {case}: {indent(message, '  ').lstrip()}")
    return "\n".join(lines) + "\n"


def sections_of_page() -> dict[str, str]:
    """The page's sections by name."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
    return {part.splitlines()[0]: "## " + part.removesuffix("\n") + "\n" for part in parts}


def write_section(name: str, text: str) -> None:
    sections = {**sections_of_page(), name: text}
    PAGE.write_text("\n".join([TITLE, *(sections[name] for name in sorted(sections))]), encoding="utf-8")
