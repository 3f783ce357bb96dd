"""Two spellings of the same code have one text, and different code never has."""

from __future__ import annotations

import pytest

from fairfr.core.syntax import canonical


def text(code: str) -> str:
    return canonical(code.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a):\n b = a + 1\n return b", "def f(a):\n c = a + 1\n return c"),
        ("def f(a):\n for i, j in a:\n  yield j", "def f(a):\n for k, m in a:\n  yield m"),
        ("def f(a):\n with a as b:\n  return b", "def f(a):\n with a as c:\n  return c"),
        ("def f(a):\n b: int = a\n return b", "def f(a):\n c: int = a\n return c"),
        ("x = [i * j for i in A for j in i]", "x = [k * m for k in A for m in k]"),
        ("x = {i: j for i, j in A}", "x = {a: b for a, b in A}"),
        (
            "def f():\n try:\n  g()\n except E as e:\n  raise F from e",
            "def f():\n try:\n  g()\n except E as x:\n  raise F from x",
        ),
        ("def f(a):\n b = a\n def g():\n  return b\n return g", "def f(a):\n c = a\n def g():\n  return c\n return g"),
        ("def f(a):\n if (b := a):\n  return b", "def f(a):\n if (c := a):\n  return c"),
        ("def f(a):\n b = a\n return lambda x: x + b", "def f(a):\n c = a\n return lambda x: x + c"),
        ('def f(a):\n "one"\n return a  # why', 'def f(a):\n "two"\n\n return (a)'),
    ],
)
def test_names_of_locals_comments_and_layout_do_not_count(one: str, other: str) -> None:
    assert one != other and text(one) == text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a):\n b = a\n c = 2\n return b", "def f(a):\n b = a\n c = 2\n return c"),
        ("def f(a):\n return a", "def f(b):\n return b"),  # callers may name it
        ("X = 1", "Y = 1"),
        ("class A:\n x = 1", "class A:\n y = 1"),
        ("def f():\n return g()", "def f():\n return h()"),
        ("def f():\n import a\n return a.x", "def f():\n import b\n return b.x"),
        ("def f():\n global a\n a = 1", "def f():\n global b\n b = 1"),
        ("def f(a):\n return a.x", "def f(a):\n return a.y"),
        ("def f(a):\n return a(x=1)", "def f(a):\n return a(y=1)"),
        ("def f(a):\n b = a\n return [i for i in a]", "def f(a):\n b = a\n return [b for i in a]"),
        ("def f():\n x = 1\n y = 2\n return [x for x in x]", "def f():\n x = 1\n y = 2\n return [y for y in y]"),
        ("def f():\n x = 1\n def g(x):\n  return x", "def f():\n x = 1\n def g(y):\n  return x"),
        (
            "def f():\n x = 1\n def g():\n  x = 2\n return x",
            "def f():\n x = 1\n def g():\n  nonlocal x\n  x = 2\n return x",
        ),
        ("def f():\n x = 1\n class A:\n  x = 2\n  y = x", "def f():\n x = 1\n class A:\n  z = 2\n  y = x"),
        (
            "def f(a):\n b = a\n def g(c=b):\n  b = 1\n  return c",
            "def f(a):\n b = a\n def g(c=a):\n  b = 1\n  return c",
        ),
        ("def f():\n x = 'a'", "def f():\n x = 'b'"),
        ("def f():\n b = 1\n return c", "def f():\n c = 1\n return c"),
    ],
)
def test_whatever_may_compute_something_else_counts(one: str, other: str) -> None:
    assert text(one) != text(other)
