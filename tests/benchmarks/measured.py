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


def seconds(call: Callable[[], Any], repeats: int = 1, clock: Callable[[], float] = time.perf_counter) -> float:
    """The best of some calls. ``time.thread_time`` leaves out what other processes take: for work on one thread."""
    times = []
    for _ in range(repeats):
        started = clock()
        call()
        times.append(clock() - started)
    return min(times)
