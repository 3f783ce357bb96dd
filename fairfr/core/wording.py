"""Numbers, lists and other people's errors inside a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def plural(number: int, noun: str) -> str:
    """``1 pair``, ``20,000 pairs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shorten_list(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """``a, b, ...``: at most ``most`` of the texts, and dots where there are more."""
    return separator.join([*texts[:most], *(["..."] if len(texts) > most else [])])


def error_summary(error: BaseException, most: int = 160) -> str:
    """What an error of another library says, on one line of at most ``most`` characters; its type if nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0][:most]
