"""Midpoints of pairs as a linear operator, so that pairs are never materialised.

``PairDesign`` is the matrix M (p, d) whose rows are the midpoints m = (z_left + z_right) / 2, optionally with dense
columns appended. It keeps whichever is smaller: the image vectors (every product is then factored through images) or,
where images barely repeat, the midpoints themselves. Both forms give the same numbers to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from fairfr.core.types import F32, F64, I64, Pairs


class Design(Protocol):
    """What a linear model needs to know about its features X (p, c)."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def matvec(self, weights: F64) -> F64:
        """X @ weights, (p,)."""
        ...

    def rmatvec(self, values: F64) -> F64:
        """X.T @ values, (c,)."""
        ...

    def gram(self, weights: F64 | None = None) -> F64:
        """X.T @ diag(weights) @ X, (c, c); weights are 1 by default."""
        ...


class DenseDesign:
    """A small dense design: a few columns, such as the cosine alone."""

    def __init__(self, columns: F64) -> None:
        self._given = np.asarray(columns, dtype=np.float64).reshape(len(columns), -1)

    @property
    def shape(self) -> tuple[int, int]:
        p, c = self._given.shape
        return p, c

    @cached_property
    def _columns(self) -> F64:
        """Row by row: the layout decides how BLAS adds up, and so the last digits."""
        return np.ascontiguousarray(self._given)

    def matvec(self, weights: F64) -> F64:
        if len(weights) == 1:  # BLAS takes three times as long for a single column
            out: F64 = self._columns[:, 0] * weights[0]
            return out
        return self._columns @ weights

    def rmatvec(self, values: F64) -> F64:
        return self._columns.T @ values

    def gram(self, weights: F64 | None = None) -> F64:
        weighted = self._columns if weights is None else self._columns * weights[:, None]
        return weighted.T @ self._columns


class PairDesign:
    """Midpoints of ``pairs`` over image ``vectors`` (n, d), with ``extra`` columns (p, e) appended.

    Parameters
    ----------
    vectors : (n, d)
        Unit image vectors; only the rows that the pairs use are kept, in float64.
    pairs : Pairs
        Row numbers into ``vectors``.
    extra : (p, e), optional
        Dense columns to the right of the midpoints.
    midpoint_gram : callable, optional
        Supplies the unweighted gram of the midpoints if the caller already has it (grams of folds add up).
    """

    def __init__(
        self,
        vectors: F32,
        pairs: Pairs,
        extra: F64 | None = None,
        midpoint_gram: Callable[[], F64] | None = None,
        dense: bool | None = None,
    ) -> None:
        used, compact = pairs.compact(len(vectors))
        p = len(pairs)
        self.dense = p <= len(used) if dense is None else dense
        self._left, self._right = (side.astype(np.int64) for side in (compact.left, compact.right))
        self._rows = _midpoints(vectors, pairs) if self.dense else vectors[used].astype(np.float64)
        self._extra = np.empty((p, 0)) if extra is None else extra
        self._midpoint_gram = midpoint_gram

    def append(self, *columns: F64) -> PairDesign:
        """The same midpoints with more columns (p,) to their right; the image vectors are shared."""
        other = object.__new__(PairDesign)
        other.dense, other._left, other._right, other._rows = self.dense, self._left, self._right, self._rows
        other._midpoint_gram = self._midpoint_gram
        other._extra = np.column_stack([self._extra, *columns])
        return other

    def extra(self) -> F64:
        """The columns to the right of the midpoints, (p, e)."""
        return self._extra

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._left), self._rows.shape[1] + self._extra.shape[1]

    def matvec(self, weights: F64) -> F64:
        """[M, extra] @ weights, (p,)."""
        d = self._rows.shape[1]
        out: F64 = self._rows @ weights[:d]
        if not self.dense:
            out = (out[self._left] + out[self._right]) / 2
        return out + self._extra @ weights[d:] if self._extra.shape[1] else out

    def rmatvec(self, values: F64) -> F64:
        """[M, extra].T @ values, (d + e,)."""
        per_row = values if self.dense else self._per_image(values) / 2
        out: F64 = per_row @ self._rows
        return np.concatenate([out, values @ self._extra]) if self._extra.shape[1] else out

    def gram(self, weights: F64 | None = None) -> F64:
        """[M, extra].T @ diag(weights) @ [M, extra], (d + e, d + e)."""
        if weights is None and self._midpoint_gram is not None:
            top = self._midpoint_gram()
        else:
            top = self._gram_dense(weights) if self.dense else self._gram_factored(weights)
        if not self._extra.shape[1]:
            return top
        weighted = self._extra if weights is None else self._extra * weights[:, None]
        d = len(top)
        side = np.column_stack([self.rmatvec(column)[:d] for column in weighted.T])
        return np.block([[top, side], [side.T, weighted.T @ self._extra]])

    def rows(self, index: I64) -> F64:
        """Rows of the matrix, (len(index), d + e): the only gather; ask for a minibatch at a time."""
        return np.concatenate([self._built(index), self._extra[index]], axis=1)

    def standardised(self, index: I64, mean: F64, scale: F64, out: F32) -> None:
        """(midpoint - mean) / scale of some pairs into the first d columns of ``out`` (len(index), >= d)."""
        # a damaged file may have shorter ones, which numpy would stretch
        if mean.shape != (self.shape[1],) or scale.shape != mean.shape:
            raise ValueError(f"mean and scale must have {self.shape[1]} entries, not {mean.shape} and {scale.shape}")
        midpoints = self._built(index)
        midpoints -= mean
        midpoints /= scale
        out[:, : len(mean)] = midpoints

    def directions(self, index: I64, length: F64, out: F32) -> None:
        """midpoint / length of some pairs into the first d columns of ``out``; ``length`` (len(index),)."""
        midpoints = self._built(index)
        midpoints /= length[:, None]
        out[:, : midpoints.shape[1]] = midpoints

    def _built(self, index: I64) -> F64:
        """The midpoints of some pairs, (len(index), d), to be overwritten."""
        if self.dense:
            return self._rows[index]
        midpoints = self._rows[self._left[index]]
        midpoints += self._rows[self._right[index]]
        midpoints /= 2
        return midpoints

    def _per_image(self, values: F64) -> F64:
        n = len(self._rows)
        return np.bincount(self._left, values, n) + np.bincount(self._right, values, n)  # type: ignore[return-value]

    def _gram_dense(self, weights: F64 | None) -> F64:
        weighted = self._rows if weights is None else self._rows * weights[:, None]
        return weighted.T @ self._rows

    def _gram_factored(self, weights: F64 | None) -> F64:
        from scipy import sparse

        p, n = len(self._left), len(self._rows)
        values = np.ones(p) if weights is None else weights
        cross = sparse.coo_array((values, (self._left, self._right)), shape=(n, n)).tocsr()
        neighbours = cross @ self._rows + cross.T @ self._rows + self._per_image(values)[:, None] * self._rows
        out: F64 = self._rows.T @ neighbours / 4
        return out


def _midpoints(vectors: F32, pairs: Pairs) -> F64:
    out = vectors[pairs.left].astype(np.float64)
    out += vectors[pairs.right]
    out /= 2
    return out
