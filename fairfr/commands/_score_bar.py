"""The progress bar of ``fairfr calibrate score``."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fairfr.library.scoring import Progress


class ScoringProgress(Progress):
    """Blocks of pairs on a terminal's standard error; elsewhere nothing.

    ``kept``: blocks from an earlier call; ``said``: what is to be told at the end.
    """

    def __init__(self) -> None:
        self.kept = 0
        self.said: list[str] = []
        columns = (
            TextColumn("scoring"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("blocks"),
            TimeRemainingColumn(),
        )
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def start(self, blocks: int, done: int) -> None:
        self.kept = done
        self._bar.update(self._task, total=max(blocks, done), completed=done)

    def block_done(self) -> None:
        self._bar.advance(self._task)

    def say(self, text: str) -> None:
        self.said.append(text)
