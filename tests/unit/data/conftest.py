"""The golden page of messages about broken files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from broken_files import Refuses, check_refusals, sections_of_page, write_section


@pytest.fixture
def refuses(tmp_path: Path, request: pytest.FixtureRequest) -> Refuses:
    """Files of one kind are refused, with the code, the place and the message that are written down."""

    def check(section: str, broken: Mapping[str, tuple[Any, str, str]], read: Callable[[Path, Any], object]) -> None:
        text = check_refusals(section, broken, read, tmp_path)
        if request.config.getoption("--update-golden"):
            write_section(section, text)
        assert sections_of_page()[section] == text

    return check
