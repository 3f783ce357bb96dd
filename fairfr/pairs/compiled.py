"""The decorator of all compiled loops. Importing it imports numba, which takes a part of a second: loops lie apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``numba.njit`` without the lock of the interpreter, with more ``options`` of it.

    Machine code is kept beside the source, in the user's cache or in NUMBA_CACHE_DIR. Where none of them can be
    written, as in a read-only container, the loop is compiled again by each process that uses it.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            loop = numba.njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # numba finds no folder
            loop = numba.njit(nogil=True, **options)(function)
        return loop  # type: ignore[no-any-return]

    return decorate
