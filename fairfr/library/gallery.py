"""The best matches of each probe in a gallery: found by cosine, which is what a gallery is searched by; then scored.

Of its ``top`` matches by cosine each probe's are ranked by the calibrated score, which may order them otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairfr.core.types import F32, I64, UNKNOWN
from fairfr.data.pairs_file import index_of
from fairfr.library.scored_embeddings import ScoredEmbeddings, Scorer, result_columns


class Gallery:
    """Probes ``left`` against ``right``, ``probes`` at a time. An image is never matched with itself (by its id)."""

    def __init__(
        self,
        left: ScoredEmbeddings,
        right: ScoredEmbeddings,
        scorer: Scorer,
        top: int,
        probes: int,
        prior: float | None,
    ) -> None:
        import faiss

        self._left, self._right, self.scorer, self._top, self._probes = left, right, scorer, top, probes
        self._prior = prior
        self._itself = index_of(left.ids, right.ids)
        self._lookup = faiss.IndexFlatIP(right.unit.shape[1])
        self._lookup.add(right.unit)
        self.n_blocks = -(-len(left.ids) // probes)

    def tables(self, skip: int) -> Iterator[Any]:
        for start in range(skip * self._probes, len(self._left.ids), self._probes):
            yield self._table(np.arange(start, min(start + self._probes, len(self._left.ids))))

    def _table(self, probes: I64) -> Any:
        import pyarrow as pa

        probe, match, cosine = self._matches(probes)
        n_left = len(self._left.ids)
        score, probability = self.scorer(probe.astype(np.int32), (n_left + match).astype(np.int32))
        order = np.lexsort((-cosine, -score, probe))
        probe = probe[order]
        rank = np.arange(len(probe)) - np.searchsorted(probe, probe) + 1
        columns = result_columns(self.scorer.model, score[order], probability[order], self._prior)
        return pa.table(
            {
                "left": pa.array(self._left.ids, pa.string()).take(pa.array(probe)),
                "right": pa.array(self._right.ids, pa.string()).take(pa.array(match[order])),
                "rank": rank,
                "cosine": cosine[order].astype(np.float64),
                **columns,
            }
        )

    def _matches(self, probes: I64) -> tuple[I64, I64, F32]:
        """Probe, match and cosine of the best of each, (q,) in all."""
        itself = self._itself[probes]
        spare = int((itself != UNKNOWN).any())
        k = min(self._top + spare, len(self._right.ids))
        cosine, match = self._lookup.search(self._left.unit[probes], k)
        other = match != itself[:, None]
        kept = other & (np.cumsum(other, axis=1) <= self._top)
        return np.repeat(probes, kept.sum(axis=1)), match[kept], cosine[kept]
