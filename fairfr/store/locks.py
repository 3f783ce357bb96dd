"""File locks: one process of several computes a cell, and a draft whose process is gone can be recognised.

The system takes a lock from a process that ends, however it ends: a lock never outlives its process. Some network
disks have no locks, or locks that other machines do not see. There two processes compute the same cell, which costs
time and harms nothing: a run is named by its content and published by a rename.
"""

from __future__ import annotations

import errno
import hashlib
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

POLL = 1.0  # seconds between two tries for a lock that another process has
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def locked(path: Path, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Have the lock meanwhile. ``on_wait`` is called once if another process has it, before waiting for that.

    Where the disk has no locks the block runs without one. The file is removed at the end.
    """
    from filelock import Timeout

    lock = _lock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        on_wait()
        lock.acquire(poll_interval=POLL)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before it is free: those who wait look again for a file of this name
        lock.release()


def clear_lock(path: Path) -> bool:
    """Remove the file of a lock that no process has; returns whether that is so. False where it cannot be known."""
    from filelock import Timeout

    try:
        with _lock(path).acquire(blocking=False):
            path.unlink(missing_ok=True)  # while it is ours, as above
    except (Timeout, OSError):
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether a process has the lock now. False where it cannot be known."""
    from filelock import Timeout

    if not path.exists():
        return False
    try:
        with _lock(path).acquire(blocking=False):
            return False
    except Timeout:
        return True
    except OSError:
        return False


@cache
def this_machine() -> str:
    """Twelve digits that no other machine has until this one is started again.

    Two machines or containers may have the same host name; the kernel's own id of a boot is unique.
    """
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # macOS
        name = socket.gethostname()
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def _lock(path: Path) -> BaseFileLock:
    """Never one that only exists as a file, which a killed process would leave behind."""
    from filelock import FileLock

    return FileLock(path, fallback_to_soft=False)
