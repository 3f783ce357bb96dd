"""Which code made a result: a digest of the modules that decide its numbers.

Comments, docstrings, layout and names of local variables do not count (``core.syntax``). Nothing is imported for it but
the packages that a module lies in.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fairfr.core.syntax import canonical

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
            path = _source_of(module)
            return cls("", None if path is None else path.parent)
        return cls(parent if top == OURS else top, None)

    def holds(self, module: str) -> bool:
        if any(f"{module}.".startswith(f"{room}.") for room in (self._package, *DECISIVE) if room):
            return True
        if self._folder is None or "." in module:
            return False
        path = _source_of(module)
        return path is not None and path.parent == self._folder


def _collect(module: str, home: _OwnModules, found: dict[str, str]) -> None:
    path = _source_of(module)
    if module in found or path is None:
        return
    source = path.read_bytes()
    found[module] = _canonical_digest(source)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for name in _imports(source, package):
        if home.holds(name):
            _collect(name, home, found)


def _source_of(module: str) -> Path | None:
    """The file that a module is read from; None for what is not there or not Python source."""
    if module == "__main__":
        origin = getattr(sys.modules["__main__"], "__file__", None)
    elif _lies_in_no_package(module):
        return None
    else:
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError, AttributeError):
            return None
        origin = None if spec is None else spec.origin
    return Path(origin) if origin and origin.endswith(".py") and Path(origin).is_file() else None


def _lies_in_no_package(module: str) -> bool:
    """Whether what seems to hold it is a module itself, as for a function: to look there would import that module."""
    holder = _source_of(module.rpartition(".")[0]) if "." in module else None
    return holder is not None and holder.name != "__init__.py"


@cache
def _canonical_digest(source: bytes) -> str:
    return hashlib.sha256(canonical(source).encode()).hexdigest()


@cache
def _imports(source: bytes, package: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_imported(source, package)))


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
