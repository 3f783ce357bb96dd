"""Code as text in which comments, docstrings and layout do not count."""

from __future__ import annotations

import ast
from typing import Any

NO_CODE = ("type_comment", "kind")


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
