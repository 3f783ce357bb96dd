"""Nearest reference midpoints of query midpoints, found by one of three engines and measured in float64.

``scan`` factors the search through images (see ``_scan``). ``faiss`` builds all midpoints and searches them in float32;
it is faster where images barely repeat. ``product`` is a plain matrix product in float64: for a few queries, and for
those that the scan is not certain about. Distances to what was found are measured in float64, so that neither the
engine nor the other pairs of a table show in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64, I32, I64, Pairs

Engine: TypeAlias = Literal["auto", "scan", "faiss"]
Way: TypeAlias = Literal["scan", "faiss", "product"]

FAISS_BLOCK = 16_384  # queries at a time
MAX_PRODUCT_QUERIES = 128  # queries: with more, one of the other engines is faster
QUERY_BLOCK = 1024
REFERENCE_BLOCK = 4096
CENTRE_OF = 1024  # references


@serializable("Midpoints")
@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Midpoints:
    """Midpoints of ``pairs`` over image ``vectors`` (n, d), never built all at once."""

    vectors: F32
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def n_images(self) -> int:
        """How many different images they are of."""
        return len(self.pairs.compact(len(self.vectors))[0])

    def compact(self) -> Midpoints:
        """The same midpoints over a copy of the vectors that they use, and of no others."""
        used, pairs = self.pairs.compact(len(self.vectors))
        return Midpoints(self.vectors[used], pairs)

    def take(self, rows: I64) -> Midpoints:
        """Some of them, over the same vectors."""
        return Midpoints(self.vectors, self.pairs.take(rows))

    def dense(self, start: int, stop: int) -> F32:
        """Some of them in float32, (stop - start, d)."""
        pairs = self.pairs.take(np.arange(start, stop))
        return (self.vectors[pairs.left] + self.vectors[pairs.right]) / np.float32(2)

    def dense_rows(self, rows: I64) -> F64:
        """Some of them in float64, (r, d)."""
        pairs = self.pairs.take(rows)
        out: F64 = self.vectors[pairs.left].astype(np.float64)
        out += self.vectors[pairs.right]
        out /= 2
        return out

    def centre(self) -> F64:
        """A place near all of them, (d,): the mean of some, in float32 numbers."""
        some = np.linspace(0, len(self) - 1, min(CENTRE_OF, len(self))).astype(np.int64)
        mean: F64 = self.dense_rows(some).mean(axis=0).astype(np.float32).astype(np.float64)
        return mean


class Neighbours(NamedTuple):
    """``position`` (q, k): places in the reference list, nearest first. ``distance`` (q, k): Euclidean."""

    position: I32 | I64
    distance: F64


def nearest_midpoints(
    queries: Midpoints, references: Midpoints, k: int, engine: Engine = "auto", threads: int = 1
) -> Neighbours:
    """The k nearest reference midpoints of each query midpoint (k is capped at the number of references)."""
    from fairfr.pairs._scan import measured

    k = min(k, len(references))
    way: Way = engine if engine != "auto" else _quickest(queries)
    if way == "scan":
        return _search_scan(queries, references, k, threads)
    if way == "faiss":
        position = _search_faiss(queries, references, k, threads)
    else:
        position = _search_product(queries, references, k)
    return Neighbours(position, measured(queries, references, position, threads))


def _quickest(queries: Midpoints) -> Way:
    """By dot products for each reference: one per image by the scan, one per query by faiss.

    For a few queries, faiss would take longer to add the references to its index than to search them.
    """
    if 2 * queries.n_images < len(queries):
        return "scan"
    if len(queries) <= MAX_PRODUCT_QUERIES:
        return "product"
    return "faiss"


def _search_scan(queries: Midpoints, references: Midpoints, k: int, threads: int) -> Neighbours:
    from fairfr.pairs._scan import measured, scan

    position, distance, certain = scan(queries, references, k, threads)
    again = np.flatnonzero(~certain)
    for start in range(0, len(again), QUERY_BLOCK):
        rows = again[start : start + QUERY_BLOCK]
        found = _search_product(queries.take(rows), references, k)
        distance[rows] = measured(queries.take(rows), references, found, threads)
        position[rows] = found
    return Neighbours(position, distance)


def _search_faiss(queries: Midpoints, references: Midpoints, k: int, threads: int) -> I64:
    """Places (q, k) of the nearest references."""
    import faiss

    faiss.omp_set_num_threads(threads)
    lookup = faiss.IndexFlatL2(references.vectors.shape[1])
    lookup.add(references.dense(0, len(references)))
    position = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), FAISS_BLOCK):
        stop = min(start + FAISS_BLOCK, len(queries))
        position[start:stop] = lookup.search(queries.dense(start, stop), k)[1]
    return position


def _search_product(queries: Midpoints, references: Midpoints, k: int) -> I64:
    """Places (q, k) of the nearest references R, those with the largest m.R - |R|^2 / 2, about a centre of them."""
    centre = references.centre()
    own = queries.dense_rows(np.arange(len(queries))) - centre
    nearness = np.empty((len(queries), 0))
    position = np.empty((len(queries), 0), dtype=np.int64)
    for start in range(0, len(references), REFERENCE_BLOCK):
        rows = np.arange(start, min(start + REFERENCE_BLOCK, len(references)))
        others = references.dense_rows(rows) - centre
        new = own @ others.T - np.einsum("ij,ij->i", others, others) / 2
        nearness = np.concatenate([nearness, new], axis=1)
        position = np.concatenate([position, np.broadcast_to(rows, new.shape)], axis=1)
        if nearness.shape[1] > k:
            best = np.argpartition(nearness, -k, axis=1)[:, -k:]
            nearness = np.take_along_axis(nearness, best, axis=1)
            position = np.take_along_axis(position, best, axis=1)
    return position
