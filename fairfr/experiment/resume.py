"""Folds of a run that was interrupted: taken up again, and kept as they finish."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from fairfr.core.types import FoldSplit
from fairfr.experiment.record import jsonable
from fairfr.store.kept_folds import KeptFold, KeptFolds, ScoredFold

log = logging.getLogger("fairfr")


class ResumableFolds:
    """The folds of one run in this process.

    Methods learn nothing across folds and draw their random numbers from seed and fold, so a fold gives the same bits
    whichever process computes it. ``on_fold`` gets the id of each, and whether it was resumed.
    """

    def __init__(self, kept: KeptFolds, threads: int, on_fold: Callable[[str, bool], None]) -> None:
        self._kept, self.threads, self._on_fold = kept, threads, on_fold
        self._since, self._lock = time.perf_counter(), Lock()
        self._resumed: dict[str, KeptFold] = {}

    def resume(self, split: FoldSplit) -> ScoredFold | None:
        """The fold as an interrupted run of the same key left it, if it did."""
        fold = self._kept.read(split)
        if fold is None:
            return None
        with self._lock:
            self._take_up(split, fold)
        return fold.scored

    def _take_up(self, split: FoldSplit, fold: KeptFold) -> None:
        log.info("fold %s: kept by an interrupted run (%.1f s)", split.id, fold.seconds)
        if fold.threads != self.threads:
            log.warning(
                "fold %s was computed with threads=%d, this run has threads=%d: the last digits of some methods "
                "depend on that.",
                *(split.id, fold.threads, self.threads),
            )
        self._resumed[split.id] = fold
        self._on_fold(split.id, True)

    def computed(self, split: FoldSplit, scored: ScoredFold) -> None:
        """Keep a fold that was computed just now."""
        with self._lock:
            self._keep(split, scored)

    def _keep(self, split: FoldSplit, scored: ScoredFold) -> None:
        """Its seconds are those since the fold before it: of folds side by side they add up to what all took."""
        log.info("fold %s: fitted on %d pairs, scored %d", split.id, len(split.train), len(split.test))
        now = time.perf_counter()
        plain = ScoredFold(scored.score, scored.probability, jsonable(scored.report))
        try:
            self._kept.write(split, KeptFold(plain, self.threads, now - self._since))
        except OSError as error:  # the run itself may still find room
            log.warning("fold %s could not be kept for a later run: %s", split.id, error)
        self._since = time.perf_counter()
        self._on_fold(split.id, False)

    @property
    def seconds(self) -> float:
        """What the resumed folds took when they were computed."""
        return sum(fold.seconds for fold in self._resumed.values())

    def describe(self) -> dict[str, Any]:
        """For result.json: the resumed folds and their threads; nothing where all were computed at once."""
        threads = {id: {"threads": fold.threads} for id, fold in self._resumed.items()}
        return {"resumed_folds": threads} if threads else {}
