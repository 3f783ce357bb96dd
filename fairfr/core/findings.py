"""What a person should know about data that can be used all the same: a value, from where it is found to the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fairfr.core.text import escape_control_chars

Severity: TypeAlias = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")
"""The most severe first."""
STAND_IN_USED = "stand-in-used"  # the code of a run on synthetic data that the user did not ask for


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes
    ----------
    code : str
        Its kind, for programs; codes are stable.
    severity : {"serious", "warning", "note"}
        Results would mislead, results are affected, or good to know.
    text : str
        One or two sentences for people, free of characters that would steer a terminal.
    counts : mapping of str to int
        The numbers in the text, by name.
    """

    code: str
    severity: Severity
    text: str
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", escape_control_chars(self.text))

    def __str__(self) -> str:
        return self.text
