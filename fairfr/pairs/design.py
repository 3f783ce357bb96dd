"""Midpoints of pairs as a linear operator, so that pairs are never materialised.

``PairDesign`` is the matrix M (p, d) whose rows are the midpoints m = (z_left + z_right) / 2, optionally with dense
columns appended. It keeps whichever is smaller: the image vectors (every product is then factored through images) or,
where images barely repeat, the midpoints themselves. Both forms give the same numbers to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NoReturn, Protocol

import numpy as np

from fairfr.core.errors import MethodError
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
        return _weighted(self._columns, weights).T @ self._columns


class PairDesign:
    """Midpoints of pairs as a matrix that is never built, with dense columns to their right.

    The matrix is X = [M, E] of shape (n_pairs, d + e). Row i of M is the midpoint (z_left + z_right) / 2 of pair i.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, d)
        Unit image vectors; only the rows that the pairs use are kept, in float64.
    pairs : Pairs
        Row numbers into ``vectors``, two for each of the n_pairs pairs.
    extra : ndarray of float64, shape (n_pairs, e), optional
        The dense columns E; none by default.
    midpoint_gram : callable, optional
        Supplies M.T @ M, of shape (d, d), if the caller already has it (grams of folds add up).
    dense : bool, optional
        Whether to keep the midpoints themselves and not the image vectors. By default, whichever has fewer rows.

    Examples
    --------
    >>> vectors = np.eye(3, dtype=np.float32)
    >>> design = PairDesign(vectors, Pairs(np.array([0, 1]), np.array([1, 2])))
    >>> design.matvec(np.array([2.0, 4.0, 6.0]))
    array([3., 5.])
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
        if dense is None:
            dense = p <= len(used)
        if extra is None:
            extra = np.empty((p, 0))
        self.dense = dense
        self._left = compact.left.astype(np.int64)
        self._right = compact.right.astype(np.int64)
        if dense:
            self._rows = _midpoints(vectors, pairs)
        else:
            self._rows = vectors[used].astype(np.float64)
        self._extra = extra
        self._midpoint_gram = midpoint_gram

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """What numpy and scikit-learn ask for: all midpoints would not fit into memory."""
        raise MethodError(
            f"midpoints() is an operator of shape {self.shape}, not an array. Use matvec(weights), rmatvec(values) and "
            "gram(weights), or rows(index) for the midpoints of some pairs."
        )

    __getitem__ = __array__
    __matmul__ = __array__

    def append(self, *columns: F64) -> PairDesign:
        """Return the same midpoints with more columns to their right; the image vectors are shared.

        Parameters
        ----------
        *columns : ndarray of float64, shape (n_pairs,)
            What to append, in this order.

        Returns
        -------
        PairDesign
            Of shape (n_pairs, d + e + len(columns)).
        """
        other = object.__new__(PairDesign)
        other.dense = self.dense
        other._left = self._left
        other._right = self._right
        other._rows = self._rows
        other._midpoint_gram = self._midpoint_gram
        other._extra = np.column_stack([self._extra, *columns])
        return other

    def extra(self) -> F64:
        """Return the columns to the right of the midpoints, (n_pairs, e)."""
        return self._extra

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of pairs and of columns, (n_pairs, d + e)."""
        return len(self._left), self._rows.shape[1] + self._extra.shape[1]

    def matvec(self, weights: F64) -> F64:
        """Return X @ weights: one number for each pair.

        Parameters
        ----------
        weights : ndarray of float64, shape (d + e,)

        Returns
        -------
        ndarray of float64, shape (n_pairs,)
        """
        d = self._rows.shape[1]
        out: F64 = self._rows @ weights[:d]
        if not self.dense:
            out = (out[self._left] + out[self._right]) / 2
        if self._extra.shape[1] == 0:
            return out
        return out + self._extra @ weights[d:]

    def rmatvec(self, values: F64) -> F64:
        """Return X.T @ values: one number for each column.

        Parameters
        ----------
        values : ndarray of float64, shape (n_pairs,)

        Returns
        -------
        ndarray of float64, shape (d + e,)
        """
        per_row = values
        if not self.dense:
            per_row = self._per_image(values) / 2
        out: F64 = per_row @ self._rows
        if self._extra.shape[1] == 0:
            return out
        return np.concatenate([out, values @ self._extra])

    def gram(self, weights: F64 | None = None) -> F64:
        """Return X.T @ diag(weights) @ X.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_pairs,), optional
            1 for every pair by default.

        Returns
        -------
        ndarray of float64, shape (d + e, d + e)
        """
        if weights is None and self._midpoint_gram is not None:
            top = self._midpoint_gram()
        elif self.dense:
            top = _weighted(self._rows, weights).T @ self._rows
        else:
            top = self._gram_factored(weights)
        if self._extra.shape[1] == 0:
            return top
        weighted = _weighted(self._extra, weights)
        d = len(top)
        side = np.column_stack([self.rmatvec(column)[:d] for column in weighted.T])
        return np.block([[top, side], [side.T, weighted.T @ self._extra]])

    def rows(self, index: I64) -> F64:
        """Build some rows of X. This is the only gather: ask for a minibatch at a time.

        Parameters
        ----------
        index : ndarray of int64, shape (n_chosen,)
            Positions of pairs.

        Returns
        -------
        ndarray of float64, shape (n_chosen, d + e)
        """
        return np.concatenate([self._built(index), self._extra[index]], axis=1)

    def standardised(self, index: I64, mean: F64, scale: F64, out: F32) -> None:
        """Write (midpoint - mean) / scale of pairs ``index`` (k,) into the first d columns of ``out`` (k, >= d)."""
        # a damaged file may have shorter ones, which numpy would stretch
        if mean.shape != (self.shape[1],) or scale.shape != mean.shape:
            raise ValueError(f"mean and scale must have {self.shape[1]} entries, not {mean.shape} and {scale.shape}")
        midpoints = self._built(index)
        midpoints -= mean
        midpoints /= scale
        out[:, : len(mean)] = midpoints

    def directions(self, index: I64, length: F64, out: F32) -> None:
        """Write midpoint / ``length`` (k,) of pairs ``index`` (k,) into the first d columns of ``out`` (k, >= d)."""
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

    def _gram_factored(self, weights: F64 | None) -> F64:
        from scipy import sparse

        n = len(self._rows)
        values = weights
        if values is None:
            values = np.ones(len(self._left))
        cross = sparse.coo_array((values, (self._left, self._right)), shape=(n, n)).tocsr()
        neighbours = cross @ self._rows + cross.T @ self._rows + self._per_image(values)[:, None] * self._rows
        out: F64 = self._rows.T @ neighbours / 4
        return out


def _weighted(rows: F64, weights: F64 | None) -> F64:
    """Each row times its weight; the rows themselves without weights."""
    if weights is None:
        return rows
    return rows * weights[:, None]


def _midpoints(vectors: F32, pairs: Pairs) -> F64:
    out = vectors[pairs.left].astype(np.float64)
    out += vectors[pairs.right]
    out /= 2
    return out
