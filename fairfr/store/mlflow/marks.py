"""Marks: small files below ``<out_root>/.mirrored`` that record what an MLflow store has.

A mark is written after MLflow has confirmed, so a run whose process was killed in between is logged by the next one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from fairfr.store.mlflow.client import is_missing
from fairfr.store.reading import Result, key_of
from fairfr.store.secrets import masked
from fairfr.store.sweep import Sweep, SweepEnd


class Marks:
    """What one experiment of one store has. Marks of a sqlite file that was deleted do not count."""

    def __init__(self, out_root: Path, uri: str, experiment: str) -> None:
        self._folder, self._uri = out_root / ".mirrored", uri
        self._place = f"{masked(uri)} {experiment}"

    def has_run(self, result: Result) -> bool:
        return self._read(_of_run(result)) == self._place

    def set_run(self, result: Result) -> None:
        self._write(_of_run(result), self._place)

    def clear_run(self, result: Result) -> None:
        self._path(_of_run(result)).unlink(missing_ok=True)

    def has_sweep(self, sweep: Sweep, end: SweepEnd | None = None) -> bool:
        """Whether the sweep's parent run was finished (with the same status and cells as ``end``)."""
        mark = self._read(_of_sweep(sweep))
        return mark.startswith(f"{self._place}\n") and (end is None or mark == self._text_of(end))

    def set_sweep(self, sweep: Sweep, end: SweepEnd) -> None:
        self._write(_of_sweep(sweep), self._text_of(end))

    def clear_sweep(self, sweep: Sweep) -> None:
        self._path(_of_sweep(sweep)).unlink(missing_ok=True)

    def forget_deleted_database(self) -> None:
        """Before a deleted database is created anew: the new one has nothing of what the old one had."""
        if is_missing(self._uri):
            shutil.rmtree(self._folder, ignore_errors=True)

    def _text_of(self, end: SweepEnd) -> str:
        return "\n".join([self._place, end.status, *end.keys])

    def _read(self, name: str) -> str:
        path = self._path(name)
        return path.read_text(encoding="utf-8") if path.exists() and not is_missing(self._uri) else ""

    def _write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path(name).write_text(text, encoding="utf-8")

    def _path(self, name: str) -> Path:
        return self._folder / name


def _of_run(result: Result) -> str:
    return key_of(result).slug


def _of_sweep(sweep: Sweep) -> str:
    return f"sweep-{sweep.id}"
