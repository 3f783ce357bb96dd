"""The tables of the last cell: the next cell of a sweep, if it is on the same data, reads and checks nothing again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fairfr.data.locate import LocatedData

if TYPE_CHECKING:
    from fairfr.pairs.table import PairTable


class _Kept(NamedTuple):
    located: LocatedData
    threads: int
    table: PairTable


class TableCache:
    """Tables of one cell's data, at most the set to test and the set to fit on.

    What the next cell does not need is let go before anything is loaded: no process needs more memory than one cell. A
    file that has changed has another digest, and is read again.
    """

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    def of(self, wanted: Sequence[LocatedData], threads: int) -> Iterator[PairTable]:
        """A table of each set, kept or loaded; ``threads`` counts, because it decides how sums are split up."""
        self._kept = [kept for kept in self._kept if kept.threads == threads and kept.located in wanted]
        for located in wanted:
            yield self._kept_table(located) or self._load(located, threads)

    def clear(self) -> None:
        self._kept = []

    def _kept_table(self, located: LocatedData) -> PairTable | None:
        table = next((kept.table for kept in self._kept if kept.located == located), None)
        if table is not None:
            table.clear_neighbours()
        return table

    def _load(self, located: LocatedData, threads: int) -> PairTable:
        from fairfr.data.validation import reversed_cosines
        from fairfr.pairs.table import PairTable

        table = PairTable(located.load(), threads)
        if table.data.embeddings is not None:  # of a column of scores, reading it has said so already
            found = reversed_cosines(table.data, table.cosine)
            table.data = replace(table.data, warnings=(*table.data.warnings, *found))
        self._kept.append(_Kept(located, threads, table))
        return table


table_cache = TableCache()
"""Of this process, which runs one cell at a time."""
