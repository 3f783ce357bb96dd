"""BLAS on one thread, and work on many rows in several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np

from fairfr.core.types import I64


@cache
def _controller() -> Any:
    """Knows numpy's and scipy's BLAS. Made once: looking for the libraries costs milliseconds."""
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


def parallel_rows(threads: int, rows: I64, work: Callable[[I64], None]) -> None:
    """``work`` on an equal share of ``rows`` in each thread."""
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, np.array_split(rows, threads)):
            pass
