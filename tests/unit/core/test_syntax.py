"""Two layouts of the same code have one text, and other code never has."""

from __future__ import annotations

import pytest

from fairfr.core.syntax import canonical


def text(code: str) -> str:
    return canonical(code.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('def f(a):\n "one"\n return a  # why', 'def f(a):\n "two"\n\n return (a)'),
        ('"""A module."""\nx = 1', "x = 0x1"),
        ("class A:\n 'one'\n x: int = 1", "class A:\n  x: int = 1\n  'about x'"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(one: str, other: str) -> None:
    assert one != other and text(one) == text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a):\n return a", "def f(b):\n return b"),
        ("def f(a):\n b = a\n return b", "def f(a):\n c = a\n return c"),
        ("X = 1", "Y = 1"),
        ("X = 1", "X = 1.0"),
        ("X = 1", "X = True"),
        ("class A:\n x = 1", "class A:\n y = 1"),
        ("def f():\n return g()", "def f():\n return h()"),
        ("def f(a):\n return a.x", "def f(a):\n return a.y"),
        ("def f(a):\n return a(x=1)", "def f(a):\n return a(y=1)"),
        ("def f():\n x = 'a'", "def f():\n x = 'b'"),
        ("x = f'{a:{b}}'", "x = f'{a:{c}}'"),
    ],
)
def test_whatever_may_compute_something_else_counts(one: str, other: str) -> None:
    assert text(one) != text(other)
