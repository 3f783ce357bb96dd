"""Findings are values that can be printed as they are."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from fairfr.core.findings import Finding


def test_a_finding_prints_as_its_text() -> None:
    finding = Finding("odd", "note", "1 of 3 is odd.", {"odd": 1, "of": 3})
    assert f"{finding}" == "1 of 3 is odd."
    assert finding == Finding("odd", "note", "1 of 3 is odd.", {"odd": 1, "of": 3})
    with pytest.raises(FrozenInstanceError):
        finding.text = "x"  # type: ignore[misc]


def test_its_text_cannot_steer_a_terminal() -> None:
    assert str(Finding("odd", "note", "a\x1b[2J\u202eb")) == "a\\x1b[2J\\u202eb"
