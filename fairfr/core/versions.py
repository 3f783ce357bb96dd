"""Which versions of which packages made a result."""

from __future__ import annotations

import platform
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
