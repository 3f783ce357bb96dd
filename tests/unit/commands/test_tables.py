"""The commands that ``fairfr tables`` prints read the same runs again."""

from __future__ import annotations

import sys

import pytest

from fairfr.commands import tables


@pytest.mark.parametrize(
    ("typed", "origin"),
    [
        ((), ()),
        (("--source", "mlflow"), ("--source", "mlflow")),
        (
            ("--source", "mlflow", "--uri", "http://me:secret@server:5000", "--experiment", "mine"),
            ("--source", "mlflow", "--uri", "http://me:***@server:5000", "--experiment", "mine"),
        ),
    ],
)
def test_the_origin_of_the_runs_is_repeated_without_passwords(
    monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], origin: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fairfr tables", *typed])
    assert tables._origin(tables.arguments()) == origin
