"""Names as figures show them."""

from __future__ import annotations

from fairfr.core.text import escape_control_chars


def escape_mathtext(text: str) -> str:
    """Text for matplotlib, which would take text between dollars for a formula."""
    return escape_control_chars(text).replace("$", r"\$")
