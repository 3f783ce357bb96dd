"""The inner loops of Lloyd's steps, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, F64, I64


# reassoc lets sums be vectorised: the same inputs still give the same bits
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def _closeness(x: F32, centre: F32, half_norm: float) -> float:
    total = 0.0
    for c in range(len(x)):
        total += np.float64(x[c]) * np.float64(centre[c])
    return total - half_norm


# nnan and nsz let the maximum be vectorised
@numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})  # type: ignore[untyped-decorator]
def assign(
    short: F32, reach: F32, vectors: F32, centre_reach: F32, centres: F32, half_norms: F64, margins: F64, out: I64
) -> bool:
    """The nearest centre of each of some vectors, (b,), where the answer is beyond doubt; elsewhere the likeliest.

    ``short`` (b, K): closeness without the product of the parts that ``reach`` (b,) and ``centre_reach`` (K,) bound.
    ``margins``: rounding of ``short``, and what the closeness of the two nearest centres must differ by. Whether some
    answer is in doubt is returned.
    """
    doubt = False
    K = len(centres)
    upper = np.empty(K, dtype=np.float32)
    margin = np.float32(margins[0])
    for i in range(len(out)):
        row = short[i]
        lowest = np.float32(-np.inf)
        for k in range(K):
            lowest = max(lowest, row[k] - reach[i] * centre_reach[k])
        lowest -= margin
        candidates = 0
        for k in range(K):
            upper[k] = row[k] + reach[i] * centre_reach[k]
            candidates += upper[k] >= lowest
        first = 0
        while upper[first] < lowest:
            first += 1
        if candidates == 1:
            out[i] = first
            continue
        best, second = -np.inf, -np.inf
        for k in range(first, K):
            if upper[k] < lowest:
                continue
            value = _closeness(vectors[i], centres[k], half_norms[k])
            if value > best:
                best, second, first = value, best, k
            elif value > second:
                second = value
        out[i] = first
        doubt = doubt or best - second < margins[1]
    return doubt


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def means(vectors: F32, assigned: I64, K: int) -> tuple[F32, F32]:
    """Mean of each cluster (K, d) and its size (K,): summed in float32, in the order of the vectors, as faiss does."""
    centres = np.zeros((K, vectors.shape[1]), dtype=np.float32)
    size = np.zeros(K, dtype=np.float32)
    for i in range(len(vectors)):
        x, centre = vectors[i], centres[assigned[i]]
        size[assigned[i]] += np.float32(1)
        for c in range(len(x)):
            centre[c] += x[c]
    for k in range(K):
        if size[k] > 0:
            share = np.float32(1) / size[k]
            for c in range(vectors.shape[1]):
                centres[k, c] *= share
    return centres, size


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def maybe_nearer(shadows: F32, squares: F32, to: int, nearest: F64, margin: float) -> I64:
    """Rows whose shadow (n, m) is not too far from that of row ``to`` for a squared distance below ``nearest`` (n,).

    ``squares`` (n,): squared lengths of the shadows.
    """
    found = np.empty(len(shadows), dtype=np.int64)
    count = 0
    centre, own = shadows[to], squares[to]
    for i in range(len(shadows)):
        row = shadows[i]
        product = np.float32(0)
        for c in range(len(centre)):
            product += row[c] * centre[c]
        if squares[i] + own - 2 * product <= nearest[i] + margin:
            found[count] = i
            count += 1
    return found[:count]
