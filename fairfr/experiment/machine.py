"""What the machine says about a run: the commit, and memory."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from fairfr.core.loaded import loaded

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h


@cache
def code_version(package: Path = Path(__file__).parents[1]) -> dict[str, Any] | None:
    """Commit of the checkout that fairfr runs from; None if it runs from none.

    ``dirty``: tracked files differ from the commit, or the package has files that git does not know. Asked once: what
    counts is the code as it was loaded, whatever is edited while it runs.
    """
    if not _git(package, "ls-files", "__init__.py"):  # an installed package may be inside another repository
        return None
    commit = _git(package, "rev-parse", "HEAD")
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ":/")
    added = _git(package, "ls-files", "--others", "--exclude-standard")
    return {"commit": commit, "dirty": bool(changed or added)} if commit else None


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says about a folder; None if it says nothing (no git, no repository, no commit)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}  # a hook's would point elsewhere
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, env=environment)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def keep_freed_memory() -> None:
    """Ask the C library to use freed memory again instead of giving it back at once (glibc; elsewhere nothing).

    Arrays of millions of pairs come and go: else the system clears fresh pages for every one of them. What an earlier
    cell has left free is given back.
    """
    libc = _glibc()
    if libc is None:
        return
    # larger arrays are mapped, and unmapped when freed; glibc before 2.35 refuses more than 32 MB
    if libc.mallopt(M_MMAP_THRESHOLD, 64 * 2**20) or libc.mallopt(M_MMAP_THRESHOLD, 32 * 2**20):
        libc.mallopt(M_TRIM_THRESHOLD, 128 * 2**20)  # so much may lie free at the end of the heap
        libc.mallopt(M_ARENA_MAX, 1)  # threads have heaps of their own else, too small for such arrays
    libc.malloc_trim(0)


def give_back_freed_memory() -> None:
    """What lies free now goes back to the system, Arrow's included: reading a table needs more than is left of it."""
    pyarrow = loaded("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


def _glibc() -> Any:
    """The C library, if it is one that can be told what to do with freed memory; else None."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None


def reset_peak_memory() -> None:
    """Reset the peak, so that each cell of a sweep reports its own (Linux; elsewhere the process's)."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
            handle.write("5")
    except OSError:
        return


def peak_memory_mb() -> float:
    """Largest resident memory since the last reset, in MB."""
    try:
        with open("/proc/self/status", encoding="ascii") as handle:
            for line in handle:
                if line.startswith("VmHWM:"):
                    return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
