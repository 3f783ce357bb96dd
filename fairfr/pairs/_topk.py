"""The inner loops of the neighbour search, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numba
import numpy as np

from fairfr.core.types import F32, F64, I64

# A lane is 16 references, as far apart in their block as they can be: the maximum over a lane then runs down columns
# that lie side by side, eight lanes at a time, and references that are alike (of one person, say) meet in few lanes.
LANE = 16
MULTIPLE = 8 * LANE  # what the width of a block must be a multiple of, so that no lane is left over
BISECTIONS = 12

# nnan and nsz let the maximum be vectorised, reassoc the count; full fastmath would also rule out the infinities that
# best starts with and that fill a block
_fast = numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "reassoc"})


@_fast  # type: ignore[untyped-decorator]
def update_top_k(sums: F32, left: I64, right: I64, order: I64, offset: int, best: F32, index: I64) -> None:
    """Merge a block of references into the k largest ``sums[left] + sums[right]`` of the queries in ``order``.

    ``best`` and ``index`` (q, k) are updated in place, in no particular order; ``offset`` is the position of the
    block's first reference. Most of the work is one vectorised maximum over lanes: k lanes that reach a bar are k
    references that do, so whatever stays below the bar can be passed over.
    """
    k = best.shape[1]
    lanes = sums.shape[1] // LANE
    highest = np.empty(lanes, dtype=np.float32)
    folded = np.empty(lanes, dtype=np.float32)
    hits = np.empty(lanes + 1, dtype=np.int64)
    for query in order:
        a, b = sums[left[query]], sums[right[query]]
        _lane_maxima(a, b, highest)
        columns = _fold(highest, folded, 3 * k)
        top, where = best[query], index[query]
        filled = min(k, offset)
        worst = _argmin(top)
        lowest = top[worst]
        bar = _raised_bar(folded[:columns], lowest, k)
        n_hits = 0
        for j in range(columns):  # no branch: where the hits are cannot be predicted
            hits[n_hits] = j
            n_hits += folded[j] >= bar
        for column in hits[:n_hits]:
            for j in range(column, lanes, columns):
                if highest[j] < bar:
                    continue
                for s in range(LANE):
                    r = s * lanes + j
                    value = a[r] + b[r]
                    if value < bar or value <= lowest:
                        continue
                    slot = filled if filled < k else worst
                    top[slot] = value
                    where[slot] = offset + r
                    filled += 1
                    if filled >= k:
                        worst = _argmin(top)
                        lowest = top[worst]


@_fast  # type: ignore[untyped-decorator]
def _lane_maxima(a: F32, b: F32, highest: F32) -> None:
    """Maximum of ``a + b`` over each lane."""
    lanes = len(highest)
    for j in range(lanes):
        largest = a[j] + b[j]
        for s in range(1, LANE):
            largest = max(largest, a[s * lanes + j] + b[s * lanes + j])
        highest[j] = largest


@_fast  # type: ignore[untyped-decorator]
def _fold(highest: F32, folded: F32, least: int) -> int:
    """Maxima over several lanes each, at the start of ``folded``; how many they are: ``least`` or more if possible."""
    columns = len(highest)
    for j in range(columns):
        folded[j] = highest[j]
    while columns % 2 == 0 and columns // 2 >= least:
        columns //= 2
        for j in range(columns):
            folded[j] = max(folded[j], folded[j + columns])
    return columns


@_fast  # type: ignore[untyped-decorator]
def _raised_bar(values: F32, bar: np.float32, k: int) -> np.float32:
    """A bar, no lower than ``bar``, that at least k of ``values`` reach, and few more; ``bar`` if fewer reach it."""
    low: np.float32 = values[0]
    high = low
    for value in values:
        low, high = min(low, value), max(high, value)
    low = max(low, bar)
    reached = _count(values, low)
    if low == -np.inf or reached < k:
        return bar
    for _ in range(BISECTIONS):
        if reached <= k + k // 8:
            break
        middle = (low + high) / np.float32(2)
        n = _count(values, middle)
        if n >= k:
            low, reached = middle, n
        else:
            high = middle
    return low


@_fast  # type: ignore[untyped-decorator]
def _count(values: F32, bar: np.float32) -> np.float32:
    n = np.float32(0)  # a count in float32 stays in the vector unit
    for value in values:
        n += np.float32(1) if value >= bar else np.float32(0)
    return n


@_fast  # type: ignore[untyped-decorator]
def _argmin(values: F32) -> int:
    at = 0
    for i in range(1, len(values)):
        if values[i] < values[at]:
            at = i
    return at


# reassoc lets the sums be vectorised: the same inputs still give the same bits, wherever they stand
_exact = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})


@_exact  # type: ignore[untyped-decorator]
def measure(
    query_vectors: F32, left: I64, right: I64, order: I64, vectors: F32, ends: I64, sums: F64, index: I64, distance: F64
) -> None:
    """Distances of the midpoints of the queries in ``order`` to their references, in float64, rows sorted by them.

    ``index`` and ``distance`` (q, k) are written in place; ``ends`` (r, 2) are the references' rows of ``vectors``,
    ``sums`` (r, d) the sums of the two, or empty where they would take too much room.
    """
    d, k = vectors.shape[1], index.shape[1]
    summed = len(sums) > 0
    doubled = np.empty(d)
    built = np.empty((4, d))
    for query in order:
        _add(query_vectors[left[query]], query_vectors[right[query]], doubled)
        row, where = distance[query], index[query]
        for start in range(0, k, 4):  # four at a time: the query is read once for all of them
            w, x = where[start], where[min(start + 1, k - 1)]
            y, z = where[min(start + 2, k - 1)], where[min(start + 3, k - 1)]
            if summed:
                squares = _squared_gaps(doubled, sums[w], sums[x], sums[y], sums[z])
            else:
                for i, reference in enumerate((w, x, y, z)):
                    _add(vectors[ends[reference, 0]], vectors[ends[reference, 1]], built[i])
                squares = _squared_gaps(doubled, built[0], built[1], built[2], built[3])
            for i in range(min(4, k - start)):
                row[start + i] = np.sqrt(squares[i]) / 2
        _sort(row, where)


@_exact  # type: ignore[untyped-decorator]
def _add(a: F32, b: F32, out: F64) -> None:
    for c in range(len(out)):
        out[c] = np.float64(a[c]) + np.float64(b[c])


@_exact  # type: ignore[untyped-decorator]
def _squared_gaps(a: F64, b: F64, c: F64, d: F64, e: F64) -> tuple[float, float, float, float]:
    """Squared distances of ``a`` to the four others."""
    to_b, to_c, to_d, to_e = 0.0, 0.0, 0.0, 0.0
    for i in range(len(a)):
        to_b += (a[i] - b[i]) ** 2
        to_c += (a[i] - c[i]) ** 2
        to_d += (a[i] - d[i]) ** 2
        to_e += (a[i] - e[i]) ** 2
    return to_b, to_c, to_d, to_e


@_exact  # type: ignore[untyped-decorator]
def _sort(values: F64, labels: I64) -> None:
    """Both by ``values``, ascending, in place: they are few."""
    for i in range(1, len(values)):
        value, label = values[i], labels[i]
        slot = i
        while slot > 0 and values[slot - 1] > value:
            values[slot], labels[slot] = values[slot - 1], labels[slot - 1]
            slot -= 1
        values[slot], labels[slot] = value, label
