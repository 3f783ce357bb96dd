"""One measurement of ``make bench``: a piece of work done our way and the plain way, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Measured(NamedTuple):
    """Seconds of the same work. ``plain`` is None where nothing plain can be written down.

    ``limit`` names what bounds our way on this machine: the bytes that it moves or the flops that it needs, and the
    rate that was reached. ``target`` is what was promised, in words.
    """

    work: str
    ours: float
    plain: float | None
    limit: str
    target: str = ""


def seconds(call: Callable[[], Any], repeats: int = 1) -> float:
    """The best of some calls."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)
