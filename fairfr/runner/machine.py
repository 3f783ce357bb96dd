"""What the machine says about a run: the commit, and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any


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
