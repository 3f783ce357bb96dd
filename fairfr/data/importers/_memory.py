"""A bound on what reading one file may cost: a pickle of a megabyte can ask for twenty gigabytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOM = 2**29  # bytes: libraries need some for themselves
TIMES = 24  # a pickled number of 9 bytes takes 32 in memory, and some steps copy all of it

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


@contextmanager
def bounded_memory(file_size: int) -> Iterator[None]:
    """Meanwhile this process may grow by ``ROOM + TIMES * file_size`` bytes; what asks for more gets a MemoryError.

    The bound is the kernel's own (Linux): unpickling reserves memory in places that no code of ours sees. Elsewhere
    nothing is bounded.
    """
    size = _size_of_this_process()
    if resource is None or size is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size + ROOM + TIMES * file_size
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _size_of_this_process() -> int | None:
    """Bytes of address space in use, which is what the kernel counts; None where that is not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return None
    return pages * resource.getpagesize() if resource is not None else None
