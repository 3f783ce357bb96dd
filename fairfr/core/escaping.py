"""Text from files on its way to people: what would steer a terminal or turn a line around is shown, not obeyed."""

from __future__ import annotations

import re

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
