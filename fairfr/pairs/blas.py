"""BLAS on one thread, for loops of small products."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    """Knows numpy's and scipy's BLAS. Made once: looking for the libraries costs milliseconds."""
    import numpy as np
    import scipy.linalg
    from threadpoolctl import ThreadpoolController

    assert np and scipy.linalg  # loaded, so that they are found
    return ThreadpoolController()


def single_thread_blas() -> AbstractContextManager[object]:
    """Inside, matrix-vector products run on one thread.

    They wait for memory, not for arithmetic, so a second thread gains little; on a busy machine it loses much, because
    OpenBLAS's threads spin while they wait for each other.
    """
    context: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return context
