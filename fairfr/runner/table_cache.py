"""The tables of the last cell: the next cell of a sweep, if it is on the same data, reads and checks nothing again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fairfr.core.findings import Finding
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
        from fairfr.pairs.table import PairTable

        table = PairTable(located.load(), threads)
        table.data = replace(table.data, warnings=(*table.data.warnings, *_reversed(table)))
        self._kept.append(_Kept(located, threads, table))
        return table


def _reversed(table: PairTable) -> list[Finding]:
    """Vectors that say the opposite of the labels; of a column of scores, reading it has said so already."""
    from fairfr.numerics.direction import reversed_auroc

    data = table.data
    if data.embeddings is None:
        return []
    area = reversed_auroc(table.cosine, data.same, len(data.images))
    if area is None:
        return []
    text = (
        f"{data.id}, {data.backbone}: the cosines of the vectors are lower for pairs of one person than for others "
        f"(AUROC {area:.3f}). Are the labels swapped, or do the vectors belong to other images?"
    )
    return [Finding("reversed-cosines", "serious", text)]


table_cache = TableCache()
"""Of this process, which runs one cell at a time."""
