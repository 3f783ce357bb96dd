"""Dense expressions, counted per room. The limits may only fall: with fewer in a room, lower its limit."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[2] / "fairfr"
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Dense(NamedTuple):
    """Expressions that take longer to read than the statements they replace."""

    nested_comprehensions: int
    conditionals_in_calls: int
    tuple_assignments: int


LIMITS: dict[str, Dense] = {
    "commands": Dense(1, 4, 5),
    "core": Dense(5, 8, 7),
    "data": Dense(0, 0, 0),
    "faces": Dense(0, 0, 0),
    "folds": Dense(0, 0, 0),
    "library": Dense(5, 11, 35),
    "methods": Dense(1, 2, 20),
    "metrics": Dense(0, 0, 0),
    "numerics": Dense(1, 2, 3),
    "pairs": Dense(1, 2, 4),
    "paper": Dense(1, 2, 3),
    "report": Dense(2, 3, 8),
    "runner": Dense(3, 9, 12),
    "store": Dense(10, 7, 12),
    "sweep": Dense(9, 8, 11),
}


def _is_nested(node: ast.AST) -> bool:
    """Whether it is a comprehension with a second ``for``, or with another comprehension inside it."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    if len(node.generators) > 1:
        return True
    return any(isinstance(child, COMPREHENSIONS) for child in ast.walk(node) if child is not node)


def _conditional_arguments(call: ast.Call) -> int:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return sum(isinstance(argument, ast.IfExp) for argument in given)


def _is_tuple_assignment(node: ast.AST) -> bool:
    """``a, b = x, y``; not ``a, b = function()``."""
    if not isinstance(node, ast.Assign):
        return False
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def count(source: str) -> Dense:
    nodes = list(ast.walk(ast.parse(source)))
    nested = sum(_is_nested(node) for node in nodes)
    conditionals = sum(_conditional_arguments(node) for node in nodes if isinstance(node, ast.Call))
    assignments = sum(_is_tuple_assignment(node) for node in nodes)
    return Dense(nested, conditionals, assignments)


def test_the_counts_are_right() -> None:
    assert count("x = [a for b in c for a in b]\ny = [[1 for a in b] for b in c]\nz = [a for a in b]") == (2, 0, 0)
    assert count("f(1 if a else 2, key=3 if b else 4)\nx = 1 if a else 2") == (0, 2, 0)
    assert count("a, b = 1, 2\nc, d = f()\ne = 1, 2") == (0, 0, 1)


ROOMS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py")))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_does_not_become_denser(room: str) -> None:
    total = Dense(0, 0, 0)
    for path in (PACKAGE / room).rglob("*.py"):
        found = count(path.read_text(encoding="utf-8"))
        total = Dense(*(one + other for one, other in zip(total, found, strict=True)))
    limit = LIMITS.get(room, Dense(0, 0, 0))
    for name, found_there, allowed in zip(Dense._fields, total, limit, strict=True):
        assert found_there <= allowed, (
            f"fairfr/{room} has {found_there} {name.replace('_', ' ')}, {allowed} are allowed"
        )
