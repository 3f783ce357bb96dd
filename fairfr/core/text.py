"""Text for people: control characters escaped, plurals, short lists, errors of other libraries on one line.

Text from files may contain characters that steer a terminal or reverse a line: they are shown, not obeyed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

# control characters but the line break and the tab; marks that reverse the direction of writing; halves of characters
_CONTROL_CHARS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_control_chars(text: str) -> str:
    r"""``text`` with such characters spelled out (``\x1b``, ``\u202e``)."""
    return _CONTROL_CHARS.sub(lambda found: _escape(found.group()), text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def escape_json(text: str) -> str:
    """JSON with such characters escaped, so that it still means the same."""
    return _CONTROL_CHARS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def escape_mathtext(text: str) -> str:
    """Text for matplotlib, which would take text between dollars for a formula."""
    return escape_control_chars(text).replace("$", r"\$")


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBERS = re.compile(r"[-+][-+\d.,;±%\[\]() ]*(?:e[-+]?\d+)?")


def inert_cell(cell: Any) -> Any:
    """A cell of a csv file so that no spreadsheet runs it: text that looks like a formula gets an apostrophe."""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not _NUMBERS.fullmatch(cell):
        return f"'{cell}"
    return cell


def slug(text: str) -> str:
    """A name of A-Z, a-z, 0-9, ``_`` and ``-`` for files and LaTeX labels; different texts get different ones."""
    kept = re.sub(r"[^A-Za-z0-9_-]+", "_", text)
    if kept == text:
        return text
    return f"{kept}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def plural(number: int, noun: str) -> str:
    """``1 pair``, ``20,000 pairs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shorten_list(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """``a, b, ...``: at most ``most`` of the texts, and dots where there are more."""
    return separator.join([*texts[:most], *(["..."] if len(texts) > most else [])])


def error_summary(error: BaseException, most: int = 160) -> str:
    """What an error of another library says, on one line of at most ``most`` characters; its type if nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0][:most]
