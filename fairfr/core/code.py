"""Which code made a result: a digest of a class's own module and of what that module takes from its own package.

Comments, docstrings and layout do not count: the digest is that of the syntax tree. Nothing is imported for it but the
packages that a module lies in.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

OURS = "fairfr"
SHARED = ("fairfr.methods.", "fairfr.numerics.")  # what a class takes from there is part of its code as well
NO_CODE = ("type_comment", "kind")


@cache
def code_digest(target: str) -> str | None:
    """16 hex digits for the class that ``target`` names (``package.module.Class``); None without source to read.

    What counts is its module and, followed from import to import, the modules of its own package: for a class of fairfr
    the folder that it lies in, for a user's class everything under the same top-level name (or, for a module outside
    any package, its neighbours in the same folder), and what it takes from ``fairfr.methods`` and ``fairfr.numerics``.
    """
    module = target.rpartition(".")[0]
    found: dict[str, str] = {}
    _collect(module, _OwnModules.of(module), found)
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
        if self._package and f"{module}.".startswith(f"{self._package}."):
            return True
        if module.startswith(SHARED):
            return True
        if self._folder is None or "." in module:
            return False
        path = _source_of(module)
        return path is not None and path.parent == self._folder


def _collect(module: str, home: _OwnModules, found: dict[str, str]) -> None:
    path = _source_of(module)
    if module in found or path is None:
        return
    tree = ast.parse(path.read_bytes())
    found[module] = _canonical(tree)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for name in _imports(tree, package):
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


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Every module that may be imported: ``from a import b`` names ``a`` and perhaps ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*up, *filter(None, [base])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _canonical(value: Any) -> str:
    """A syntax tree as text that is the same for every version of Python: fields without content are left out."""
    if isinstance(value, list):
        return "[" + ",".join(_canonical(item) for item in value if not _is_comment(item)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = ((name, getattr(value, name, None)) for name in value._fields if name not in NO_CODE)
    kept = (f"{name}={_canonical(content)}" for name, content in fields if content is not None and content != [])
    return f"{type(value).__name__}({','.join(kept)})"


def _is_comment(node: Any) -> bool:
    """A string that is a statement of its own: a docstring, or a comment in its place."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
