"""What made a result: a digest of the modules that decide its numbers, versions, the commit, and the memory it took.

Of the code, comments, docstrings and layout do not count. For the digest files are read and nothing is imported, not
even the packages that a module lies in.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

OURS = "fairfr"
DECISIVE = (
    *("fairfr.methods", "fairfr.numerics", "fairfr.pairs", "fairfr.folds"),
    *("fairfr.core.types", "fairfr.core.calibrator", "fairfr.core.names"),
)
"""Imports are followed into these. The rest of core says, checks and stores, and decides no number."""
CONTRACT = "fairfr.core.calibrator"
"""What a method is given, whether it imports it or not: seeds, and pairs as ``PairView`` shows them."""
OVERLAY = "fairfr.numerics.beta"
"""Makes the probability of a method that has none of its own."""


THRESHOLDS = "fairfr.metrics.roc_metrics.training_thresholds"
"""Makes numbers that only a fit can make, for runs that ask for them; other metrics can be measured again."""

NO_CODE = ("type_comment", "kind")
NO_PYTHON = (SyntaxError, ValueError, RecursionError)  # in which the parser ends

PACKAGES = ("fairfr", "numpy", "scipy", "scikit-learn", "torch", "faiss-cpu", "numba", "pandas")


def run_code(method: str, native_probability: bool, protocol: str, training_thresholds: bool) -> dict[str, str | None]:
    """Digests of the code that decides a run's numbers: of its method, with what the runner adds, and its protocol.

    ``method`` and ``protocol`` name classes.
    """
    added = (CONTRACT,) if native_probability else (CONTRACT, OVERLAY)
    digests = {"method": code_digest(method, added), "protocol": code_digest(protocol)}
    if training_thresholds:
        digests["training_thresholds"] = code_digest(THRESHOLDS)
    return digests


@cache
def code_digest(target: str, also: tuple[str, ...] = ()) -> str | None:
    """16 hex digits for what ``target`` names (``package.module.Class``); None without source to read.

    What counts is its module, the modules ``also``, and what these import, followed from import to import: from the
    rooms of fairfr that decide numbers, and from its own package. That is, for a class of fairfr, the folder that it
    lies in; for a user's class everything under the same top-level name, or, for a module outside any package, its
    neighbours in the same folder.
    """
    module = target.rpartition(".")[0]
    home = _OwnModules.of(module)
    found: dict[str, str] = {}
    for root in (module, *also):
        _collect(root, home, found)
    if module not in found:
        return None
    text = "\n".join(f"{name} {found[name]}" for name in sorted(found))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _OwnModules:
    """Which modules belong to the code of one class."""

    def __init__(self, package: str, folder: Path | None) -> None:
        self._package, self._folder = package, folder

    @classmethod
    def of(cls, module: str) -> _OwnModules:
        parent, top = module.rpartition(".")[0], module.partition(".")[0]
        if not parent:
            path = source_file(module)
            return cls("", None if path is None else path.parent)
        return cls(parent if top == OURS else top, None)

    def holds(self, module: str) -> bool:
        if any(f"{module}.".startswith(f"{room}.") for room in (self._package, *DECISIVE) if room):
            return True
        if self._folder is None or "." in module:
            return False
        path = source_file(module)
        return path is not None and path.parent == self._folder


def _collect(module: str, home: _OwnModules, found: dict[str, str]) -> None:
    path = source_file(module)
    if module in found or path is None:
        return
    source = path.read_bytes()
    found[module] = _canonical_digest(source)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for name in _imports(source, package):
        if home.holds(name):
            _collect(name, home, found)


def source_file(module: str) -> Path | None:
    """The file that a module would be read from; None for what is not there or not Python source.

    Nothing is imported. (``importlib.util.find_spec`` would import the packages that a module lies in.)
    """
    if module == "__main__":
        origin = getattr(sys.modules["__main__"], "__file__", None)
    else:
        origin = _origin(module.split("."))
    return Path(origin) if origin and origin.endswith(".py") and Path(origin).is_file() else None


def _origin(parts: list[str]) -> str | None:
    """Where the module with this dotted name lies, found from folder to folder."""
    try:
        spec = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError, AttributeError):
        return None
    for depth in range(2, len(parts) + 1):
        if spec is None or spec.submodule_search_locations is None:  # a module holds no modules
            return None
        spec = PathFinder.find_spec(".".join(parts[:depth]), list(spec.submodule_search_locations))
    return None if spec is None else spec.origin


@cache
def _canonical_digest(source: bytes) -> str:
    """Of the code; of the file as it is where that is no Python."""
    try:
        text = canonical(source).encode()
    except NO_PYTHON:
        text = source
    return hashlib.sha256(text).hexdigest()


def canonical(source: bytes) -> str:
    """The text of a module's syntax tree, the same for every version of Python (which ``ast.dump`` is not)."""
    return _text(ast.parse(source))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ",".join(_text(item) for item in value if not _is_comment(item)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    parts = []
    for name in value._fields:
        content = getattr(value, name, None)
        if name not in NO_CODE and content is not None and content != []:  # newer versions have fields that older lack
            parts.append(f"{name}={_text(content)}")
    return f"{type(value).__name__}({','.join(parts)})"


def _is_comment(node: Any) -> bool:
    """A string that is a statement of its own: a docstring, or a comment in its place."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _imports(source: bytes, package: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(_imported(source, package)))
    except NO_PYTHON:
        return ()


def _imported(source: bytes, package: str) -> Iterator[str]:
    """Every module that may be imported: ``from a import b`` names ``a`` and perhaps ``a.b``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*up, *filter(None, [base])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def versions() -> dict[str, str]:
    """Python and the packages that decide results."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


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
