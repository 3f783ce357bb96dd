"""Work on many rows, shared out to threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fairfr.core.types import I64


def parallel_rows(threads: int, rows: I64, work: Callable[[I64], None]) -> None:
    """``work`` on an equal share of ``rows`` in each thread."""
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, np.array_split(rows, threads)):
            pass
