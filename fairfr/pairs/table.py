"""A verification set together with what is computed from it once and shared by every fold."""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from fairfr.core.types import F32, F64, I64, UNKNOWN, Bool, StrArray, VerificationSet
from fairfr.pairs.design import PairDesign
from fairfr.pairs.neighbours import Engine, Midpoints, Neighbours, nearest_midpoints
from fairfr.pairs.overlap import pair_keys
from fairfr.pairs.vectors import pair_cosines

SPARE_NEIGHBOURS = 8
QUERIES_AT_ONCE = 2**15
FOLDS_WITH_GRAMS = 64  # 2 MB each at 512 dimensions; to add up more of them takes longer than a gram of all rows


class PairTable:
    """Pairs of one data set, with cosines, fold grams and a neighbour graph made on first use.

    Nothing here depends on labels, and whatever serves a training split is a sum or a selection over its own rows:
    sharing between folds saves time and cannot leak.
    """

    def __init__(self, data: VerificationSet, threads: int = 1) -> None:
        self.data = data
        self.threads = threads
        self._fold_grams: dict[int, F64] = {}
        self._graph: Neighbours | None = None
        self._reference_rows: WeakKeyDictionary[Midpoints, I64] = WeakKeyDictionary()

    @property
    def vectors(self) -> F32:
        assert self.data.embeddings is not None
        return self.data.embeddings.vectors

    @cached_property
    def cosine(self) -> F64:
        """Cosine of every pair, (p,)."""
        if self.data.cosine is not None:
            return self.data.cosine
        return pair_cosines(self.vectors, self.data.pairs)

    @cached_property
    def image_rank(self) -> I64:
        """Place of every image among their sorted ids, (n,)."""
        rank = np.empty(len(self.data.images), dtype=np.int64)
        rank[np.argsort(self.data.images, kind="stable")] = np.arange(len(rank))
        return rank

    @cached_property
    def pair_rank(self) -> I64:
        """A number for every pair, (p,), that sorts pairs by the ids of their two images, whichever is left."""
        rank = self.image_rank
        pairs = self.data.pairs
        return pair_keys(rank[pairs.left], rank[pairs.right], len(rank))

    @cached_property
    def identity_names(self) -> StrArray:
        """The name of every image's identity, (n,); blank where it is unknown."""
        codes, people = self.data.identity, self.data.people
        if people is not None:
            return np.array([*people, ""], dtype=np.str_)[codes]
        return np.where(codes == UNKNOWN, "", codes.astype(np.str_))

    def midpoints(self, rows: I64) -> PairDesign:
        """The midpoints of some pairs, as an operator."""
        return PairDesign(self.vectors, self.data.pairs.take(rows), midpoint_gram=lambda: self._gram(rows))

    def _gram(self, rows: I64) -> F64:
        """Unweighted midpoint gram. Whole folds add up, in a fixed order: never total minus fold, whose rounding
        would depend on the held-out pairs."""
        fold = self.data.fold
        counts = np.bincount(fold[rows], minlength=len(self.data.fold_labels))
        present = np.flatnonzero(counts)
        if len(counts) > FOLDS_WITH_GRAMS or np.any(counts[present] != np.bincount(fold)[present]):
            return PairDesign(self.vectors, self.data.pairs.take(rows)).gram()
        total = np.zeros((self.vectors.shape[1],) * 2)
        for code in present:
            total += self._fold_gram(int(code))
        return total

    def _fold_gram(self, code: int) -> F64:
        if code not in self._fold_grams:
            rows = np.flatnonzero(self.data.fold == code)
            self._fold_grams[code] = PairDesign(self.vectors, self.data.pairs.take(rows)).gram()
        return self._fold_grams[code]

    def clear_neighbours(self) -> None:
        """Before another cell uses the table: how wide a graph is must not depend on which cells were there before."""
        self._graph = None

    def references(self, rows: I64) -> Midpoints:
        """The midpoints of some pairs with vectors of their own, for others to measure their distance to.

        They can leave this table; while they are used with it, the table knows them as its own rows.
        """
        out = self._midpoints_of(rows).compact()
        self._reference_rows[out] = rows
        return out

    def rows_of(self, references: Midpoints) -> I64 | None:
        """The rows of this table that ``references`` were made from; None if they come from elsewhere."""
        return self._reference_rows.get(references)

    def mean_knn_distance(self, references: Midpoints, queries: I64, k: int, engine: Engine = "auto") -> F64:
        """Mean distance of the midpoints of some rows to their k nearest references, wherever these are from, (q,).

        For references of this table the neighbour graph, where it pays, saves the search: the same numbers.
        """
        rows = self.rows_of(references)
        if rows is not None:
            return self.mean_knn_distance_within(queries, rows, k, True, engine)
        out: F64 = nearest_midpoints(self._midpoints_of(queries), references, k, engine, self.threads).distance.mean(
            axis=1
        )
        return out

    def mean_knn_distance_within(
        self, queries: I64, references: I64, k: int, include_self: bool, engine: Engine = "auto"
    ) -> F64:
        """Mean distance of each query pair's midpoint to its k nearest reference midpoints, (q,).

        ``queries`` and ``references`` are rows of this table. With ``include_self`` a query that is itself a
        reference counts as its own neighbour at distance 0; without, it is left out. Where there are fewer than k
        references the mean is over what there is (NaN over none).
        """
        is_reference = np.zeros(self.data.n_pairs, dtype=bool)
        is_reference[references] = True
        available = np.full(len(queries), len(references))
        if not include_self:
            available -= is_reference[queries]
        wanted = np.minimum(k, available)
        if 2 * len(references) <= self.data.n_pairs:
            return self._search(queries, references, k, include_self, engine)
        graph = self._neighbour_graph(k, len(references) / self.data.n_pairs, engine)
        everyone = np.arange(self.data.n_pairs)
        mean, found = _mean_of_first(graph, queries, everyone, queries, is_reference, k, include_self)
        short = np.flatnonzero(found < wanted)
        if len(short):
            mean[short] = self._search(queries[short], references, k, include_self, engine)
        return mean

    def _search(self, queries: I64, references: I64, k: int, include_self: bool, engine: Engine) -> F64:
        query_midpoints = self._midpoints_of(queries)
        reference_midpoints = self._midpoints_of(references)
        if include_self:
            found = nearest_midpoints(query_midpoints, reference_midpoints, k, engine, self.threads)
            mean: F64 = found.distance.mean(axis=1)
            return mean
        # one more, in place of the query itself
        found = nearest_midpoints(query_midpoints, reference_midpoints, k + 1, engine, self.threads)
        everything = np.ones(self.data.n_pairs, dtype=bool)
        return _mean_of_first(found, np.arange(len(queries)), references, queries, everything, k, include_self)[0]

    def _neighbour_graph(self, k: int, kept: float, engine: Engine) -> Neighbours:
        """Nearest pairs of every pair among all pairs, enough of them that k are usually left after the held-out
        ones are dropped: one search serves every fold."""
        width = min(int(np.ceil((k + 1) / kept)) + SPARE_NEIGHBOURS, self.data.n_pairs)
        if self._graph is None or self._graph.position.shape[1] < width:
            everything = Midpoints(self.vectors, self.data.pairs)
            self._graph = nearest_midpoints(everything, everything, width, engine, self.threads)
        return self._graph

    def _midpoints_of(self, rows: I64) -> Midpoints:
        return Midpoints(self.vectors, self.data.pairs.take(rows))


def _mean_of_first(
    near: Neighbours, at: I64, rows: I64, queries: I64, is_reference: Bool, k: int, include_self: bool
) -> tuple[F64, I64]:
    """Mean over the first k admissible candidates of each query (q,), and how many there were.

    ``at`` (q,) is where ``near`` has a query's candidates, ``rows`` the row of the table of each place that it names.
    Some queries at a time: of all together the candidates would take more room than anything else.
    """
    mean = np.full(len(queries), np.nan)
    found = np.zeros(len(queries), dtype=np.int64)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        part = slice(start, start + QUERIES_AT_ONCE)
        candidates = rows[near.position[at[part]]]
        admissible = is_reference[candidates]
        if not include_self:
            admissible &= candidates != queries[part, None]
        admissible &= np.cumsum(admissible, axis=1) <= k
        found[part] = admissible.sum(axis=1)
        total = np.where(admissible, near.distance[at[part]], 0.0).sum(axis=1)
        np.divide(total, found[part], out=mean[part], where=found[part] > 0)
    return mean, found
