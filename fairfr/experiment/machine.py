"""What the machine says about a run: versions and memory."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("fairfr", "numpy", "scipy", "scikit-learn", "torch", "faiss-cpu", "numba", "pandas")


def versions() -> dict[str, str]:
    """Python and the packages that decide results."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def reset_peak_memory() -> None:
    """Start the peak anew, so that each cell of a sweep reports its own (Linux; elsewhere the process's)."""
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
