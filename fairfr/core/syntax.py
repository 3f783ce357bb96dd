"""Code as text in which only what is computed counts: no comments, no docstrings, no layout, no names of locals."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

NO_CODE = ("type_comment", "kind")
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def canonical(source: bytes) -> str:
    """The text of a module's syntax tree, the same for every version of Python.

    Local variables of functions and comprehensions are numbered in the order in which they occur. Parameters keep their
    names, because callers may use these; so do names that ``def``, a class, an import, ``match``, ``global`` or
    ``nonlocal`` binds inside a function.
    """
    return _text(ast.parse(source), _Scope())


@dataclass(frozen=True, slots=True)
class _Scope:
    """Names of local variables that are visible at a place, with what is written for them."""

    depth: int = 0
    written: Mapping[str, str] = field(default_factory=dict)

    def inside(self, own: Iterable[str], hidden: Iterable[str] = ()) -> _Scope:
        """One level further in, with variables of its ``own``; ``hidden`` ones of outer levels mean something else."""
        outer = {name: text for name, text in self.written.items() if name not in set(hidden)}
        numbered = {name: f"${self.depth}.{at}" for at, name in enumerate(dict.fromkeys(own))}
        return _Scope(self.depth + 1, {**outer, **numbered})

    def write(self, name: str) -> str:
        return self.written.get(name, name)


def _text(value: Any, scope: _Scope) -> str:
    if isinstance(value, list):
        return "[" + ",".join(_text(item, scope) for item in value if not _is_comment(item)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    if isinstance(value, ast.Name):
        return f"Name({scope.write(value.id)})"
    if isinstance(value, Comprehension):
        return _comprehension_text(value, scope)
    in_body = _scope_of(value, scope) if isinstance(value, Function) else scope
    parts = []
    for name, content in _fields(value):
        if name == "body":
            parts.append(f"body={_text(content, in_body)}")
        elif name == "name" and isinstance(value, ast.ExceptHandler):
            parts.append(f"name={scope.write(content)}")
        else:
            parts.append(f"{name}={_text(content, scope)}")
    return f"{type(value).__name__}({','.join(parts)})"


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Those that have content: newer versions of Python have fields that older ones lack."""
    for name in node._fields:
        content = getattr(node, name, None)
        if name not in NO_CODE and content is not None and content != []:
            yield name, content


def _is_comment(node: Any) -> bool:
    """A string that is a statement of its own: a docstring, or a comment in its place."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _comprehension_text(node: Comprehension, scope: _Scope) -> str:
    """Its variables are its own; its first iterable is evaluated outside of it."""
    inside = scope.inside(name for part in node.generators for name in _stored(part.target))
    parts = [_text(node.generators[0].iter, scope)]
    parts += [_text(content, inside) for _, content in _fields(node)]
    return f"{type(node).__name__}({','.join(parts)})"


def _scope_of(function: Function, scope: _Scope) -> _Scope:
    """The names that are visible in the body of a function."""
    parameters = {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}
    kept = parameters | {name for part in ast.walk(function) for name in _bound_otherwise(part)}
    return scope.inside((name for name in _assigned(function.body) if name not in kept), hidden=kept)


def _assigned(code: Any) -> Iterator[str]:
    """Names that code assigns to in its own scope: not in functions, classes and variables of comprehensions in it."""
    if isinstance(code, list):
        for item in code:
            yield from _assigned(item)
    if not isinstance(code, ast.AST) or isinstance(code, Function | ast.ClassDef):
        return
    if isinstance(code, ast.ExceptHandler) and code.name:
        yield code.name
    if isinstance(code, ast.Name) and not isinstance(code.ctx, ast.Load):
        yield code.id
    for name, content in _fields(code):
        if not (isinstance(code, ast.comprehension) and name == "target"):
            yield from _assigned(content)


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    """Names that a node binds in another way than by assignment to a local variable."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        if isinstance(node, ast.ClassDef):
            yield from _stored(node)
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _stored(node: ast.AST) -> Iterator[str]:
    """Every name below a node that is assigned to."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
