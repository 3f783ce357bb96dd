"""The data that every method is tried on."""

from __future__ import annotations

import pytest

from fairfr.core.types import VerificationSet
from fairfr.library.contract_sets import small_set


@pytest.fixture(scope="module")
def data() -> VerificationSet:
    """That of ``fairfr check --method``."""
    return small_set()
