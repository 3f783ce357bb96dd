"""Modules that another thread may be importing at the same time."""

from __future__ import annotations

import sys
from typing import Any


def loaded(name: str) -> Any | None:
    """The module of that name; None if it was not imported, or if a thread is still importing it.

    ``sys.modules`` has a module from the beginning of its import, when most of its functions do not exist yet.
    """
    module = sys.modules.get(name)
    is_initialising = getattr(getattr(module, "__spec__", None), "_initializing", False)
    return None if is_initialising else module
