"""Pairs sorted by their values once, for all folds and groups, and the thread that does it beside other work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from fairfr.core.types import F64, I16, I64, Bool, ScoreFrame
from fairfr.metrics.catalogue import On
from fairfr.numerics.roc import RocCurve, descending_order, roc_curve

KINDS: tuple[On, ...] = ("score", "probability")

Made = TypeVar("Made")


class SortedColumn:
    """One kind of value of the pairs ``rows`` (q,), largest first: sorted once, and every subset keeps the order."""

    def __init__(self, rows: I64, same: Bool, values: F64) -> None:
        self.rows = rows
        self.same = same
        self.values = values
        self._curve: RocCurve | None = None

    @classmethod
    def of(cls, same: Bool, values: F64) -> SortedColumn:
        rows = descending_order(values)
        return cls(rows, same[rows], values[rows])

    def parts(self, codes: I16, n_codes: int) -> Iterator[SortedColumn]:
        """The column of each code in turn, still sorted by value (the sort by code is stable).

        ``codes`` (p,) are those of all pairs; -1 belongs to none.
        """
        of_pairs = codes[self.rows]
        order = np.argsort(of_pairs, kind="stable")
        cuts = np.searchsorted(of_pairs[order], np.arange(n_codes + 1, dtype=codes.dtype))
        for start, stop in pairwise(cuts):
            at = order[start:stop]
            yield SortedColumn(self.rows[at], self.same[at], self.values[at])

    @property
    def curve(self) -> RocCurve:
        """No cached_property: before Python 3.12 threads would wait for each other's."""
        if self._curve is None:
            self._curve = roc_curve(self.same, self.values)
        return self._curve

    def forget_curve(self) -> None:
        """It takes more room than the column."""
        self._curve = None


SortedColumns: TypeAlias = Mapping[On, SortedColumn]
"""Where the probability is the score, both are the same object, and nothing is computed twice."""


class Background(ExitStack):
    """One background thread; without it, work is done when its result is asked for."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._pool: ThreadPoolExecutor | None = None
        if threads > 1:
            self._pool = self.enter_context(ThreadPoolExecutor(1))

    def start(self, work: Callable[[], Made]) -> Callable[[], Made]:
        """Begin ``work`` if there is a thread for it; the function returned gives its result."""
        if self._pool is None:
            return work
        return self._pool.submit(work).result


def sort_columns(frame: ScoreFrame, background: Background) -> SortedColumns:
    if np.array_equal(frame.score, frame.probability):
        return dict.fromkeys(KINDS, SortedColumn.of(frame.same, frame.score))
    probability = background.start(lambda: SortedColumn.of(frame.same, frame.probability))
    return {"score": SortedColumn.of(frame.same, frame.score), "probability": probability()}


def split_columns(columns: SortedColumns, codes: I16, n_codes: int) -> Iterator[SortedColumns]:
    """The columns of each code in turn: see ``SortedColumn.parts``."""
    score = columns["score"]
    probability = columns["probability"]
    if probability is score:
        for part in score.parts(codes, n_codes):
            yield {"score": part, "probability": part}
        return
    both = zip(score.parts(codes, n_codes), probability.parts(codes, n_codes), strict=True)
    for score_part, probability_part in both:
        yield {"score": score_part, "probability": probability_part}
