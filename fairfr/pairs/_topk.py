"""The inner loops of the neighbour search, compiled: apart, because importing numba costs half a second."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F32, F64, I16, I32, I64
from fairfr.pairs._cosines import dot
from fairfr.pairs.compiled import compiled

# A lane is eight references, as far apart in their block as they can be: the maximum over a lane then runs down columns
# that lie side by side, 16 lanes at a time, and references that are alike (of one person, say) meet in few lanes.
LANE = 8
MULTIPLE = 16 * LANE  # what the width of a block must be a multiple of, so that no lane is left over
LARGEST = 16_383  # of a rounded product: the sum of two fits 16 bits
# A rounded sum is within 1 of the true one, and so is the one that it is compared with. What float32 itself rounds off
# is far less: vectors are taken about their mean.
SLACK = 2

# reassoc lets counts and sums be vectorised: the same inputs still give the same bits, wherever they stand
_compiled = compiled(fastmath={"reassoc", "contract"})


@_compiled
def round_products(products: F32, scale: np.float32, out: I16, order: I64) -> None:
    """``products`` in units of 1 / ``scale``, to the nearest whole number, of the rows in ``order``."""
    for i in order:
        for j in range(products.shape[1]):
            out[i, j] = np.int16(np.rint(products[i, j] * scale))


@_compiled
def merge_block(
    rounded: I16,
    start: int,
    stop: int,
    scale: float,
    centred: F32,
    query_vectors: F32,
    left: I64,
    right: I64,
    vectors: F32,
    ends: I64,
    sums: F64,
    index: I32,
    distance: F64,
    order: I64,
) -> None:
    """Merge a block of references into the k nearest of the queries in ``order``.

    ``rounded`` (images, references of the block, filled up to whole lanes) are RoundedProducts of ``centred``, the
    images ``query_vectors`` about a mean: ``rounded[left] + rounded[right]`` is |m|^2 - |m - R|^2 of the midpoint m in
    units of 1 / ``scale``, and grows as the reference R comes nearer. Most of the work is one vectorised maximum over
    lanes: k lanes that reach a bar are k references that do, so whatever stays below the bar by more than rounding can
    be passed over. What is left is measured in float64.

    ``index`` and ``distance`` (q, k) are updated in place, nearest first; the block holds the references from ``start``
    to ``stop``. ``ends``, ``vectors`` and ``sums`` are as in ``measure``.
    """
    k, d, width = index.shape[1], query_vectors.shape[1], rounded.shape[1]
    lanes = width // LANE
    highest, folded = np.empty(lanes, dtype=np.int16), np.empty(lanes, dtype=np.int16)
    hits, values = np.empty(lanes + 1, dtype=np.int64), np.empty(width + 1, dtype=np.int16)
    # some queries are scanned, then measured: the two would drive each other's rows out of the cache
    candidates = np.empty(2 * width + 1, dtype=np.int64)
    bounds = np.zeros(width + 1, dtype=np.int64)
    gaps, doubled, built = np.empty(width), np.empty(d), np.empty((4, d))
    done = 0
    while done < len(order):
        scanned = 0
        while done + scanned < len(order) and bounds[scanned] <= width and scanned < width:
            query = order[done + scanned]
            a, b = rounded[left[query]], rounded[right[query]]
            _lane_maxima(a, b, highest)
            columns = _fold(highest, folded, 3 * k)
            bar = _bar(folded[:columns], k)
            if start > 0:
                square = _squared_midpoint(centred[left[query]], centred[right[query]], d)
                needed = (square - distance[query, k - 1] ** 2) * scale
                bar = max(bar, int(np.floor(max(needed, -2.0 * LARGEST))))
            reached = candidates[bounds[scanned] :]
            n = _reaching(a, b, highest, folded[:columns], bar - SLACK, hits, values, reached)
            n = _keep(values, reached, n, _bar(values[:n], k) - SLACK, stop - start)
            scanned += 1
            bounds[scanned] = bounds[scanned - 1] + n
        for i in range(scanned):
            query = order[done + i]
            where = candidates[bounds[i] : bounds[i + 1]]
            where += start
            _add(query_vectors[left[query]], query_vectors[right[query]], doubled)
            _measure(doubled, where, vectors, ends, sums, built, gaps)
            _merge(gaps, where, distance[query], index[query])
        done += scanned


@_compiled
def _reaching(a: I16, b: I16, highest: I16, folded: I16, bar: int, hits: I64, values: I16, candidates: I64) -> int:
    """Sums ``a + b`` that reach the bar, into ``values``, and where they stand, into ``candidates``; how many.

    No branches: where hits are cannot be predicted, so everything is written down and overwritten if it is none.
    """
    lanes, columns, n_hits, n = len(highest), len(folded), 0, 0
    for column in range(columns):
        hits[n_hits] = column
        n_hits += 1 if folded[column] >= bar else 0
    for column in hits[:n_hits]:
        for j in range(column, lanes, columns):
            if highest[j] < bar:
                continue
            for s in range(LANE):
                r = s * lanes + j
                value = np.int16(a[r] + b[r])
                values[n], candidates[n] = value, r
                n += 1 if value >= bar else 0
    return n


@_compiled
def _squared_midpoint(a: F32, b: F32, d: int) -> float:
    total = 0.0
    for c in range(d):
        total += (np.float64(a[c]) + np.float64(b[c])) ** 2
    return total / 4


@_compiled
def squared_midpoints(vectors: F32, left: I64, right: I64, out: F64, rows: I64) -> None:
    """Squared lengths of some midpoints, into ``out`` (p,)."""
    for row in rows:
        out[row] = _squared_midpoint(vectors[left[row]], vectors[right[row]], vectors.shape[1])


@_compiled
def image_products(midpoints: F64, images: F32, out: F64, rows: I64) -> None:
    """Products of ``midpoints`` (q, d) with the ``images`` (n, d) at some rows, into ``out`` (q, n)."""
    for row in rows:
        for query in range(len(midpoints)):
            out[query, row] = dot(midpoints[query], images[row])


@_compiled
def _lane_maxima(a: I16, b: I16, highest: I16) -> None:
    """Maximum of ``a + b`` over each lane."""
    lanes = len(highest)
    for j in range(lanes):
        largest = np.int16(a[j] + b[j])
        for s in range(1, LANE):
            largest = max(largest, np.int16(a[s * lanes + j] + b[s * lanes + j]))
        highest[j] = largest


@_compiled
def _fold(highest: I16, folded: I16, least: int) -> int:
    """Maxima over several lanes each, at the start of ``folded``; how many they are: ``least`` or more if possible."""
    columns = len(highest)
    for j in range(columns):
        folded[j] = highest[j]
    while columns % 2 == 0 and columns // 2 >= least:
        columns //= 2
        for j in range(columns):
            folded[j] = max(folded[j], folded[j + columns])
    return columns


@_compiled
def _bar(values: I16, k: int) -> int:
    """A bar that at least k of ``values`` reach, and few more; one that all numbers reach if there are fewer."""
    if len(values) < k:
        return -2 * LARGEST
    least, most = values[0], values[0]
    for value in values:
        least, most = min(least, value), max(most, value)
    low, high, reached = int(least), int(most), len(values)
    while reached > k + k // 8 and high - low > 1:
        middle = (low + high) >> 1
        n = int(_count(values, np.int16(middle)))
        if n >= k:
            low, reached = middle, n
        else:
            high = middle
    return low


@_compiled
def _count(values: I16, bar: np.int16) -> np.int16:
    n = np.int16(0)  # a count in 16 bits stays in the vector unit
    for value in values:
        n = np.int16(n + (np.int16(1) if value >= bar else np.int16(0)))
    return n


@_compiled
def _keep(values: I16, candidates: I64, n: int, bar: int, n_references: int) -> int:
    """Candidates that are references, and whose value reaches the bar, move to the front; how many they are."""
    kept = 0
    for i in range(n):
        candidates[kept] = candidates[i]
        kept += 1 if values[i] >= bar and candidates[i] < n_references else 0
    return kept


@_compiled
def _merge(gaps: F64, candidates: I64, row: F64, where: I32) -> None:
    """Candidates into the nearest of one query; of equally near ones, the first in the list of references."""
    last = len(row) - 1
    for i in range(len(candidates)):
        gap, candidate = gaps[i], candidates[i]
        if gap > row[last] or (gap == row[last] and candidate > where[last]):
            continue
        slot = last
        while slot > 0 and (row[slot - 1] > gap or (row[slot - 1] == gap and where[slot - 1] > candidate)):
            row[slot], where[slot] = row[slot - 1], where[slot - 1]
            slot -= 1
        row[slot], where[slot] = gap, candidate


@_compiled
def measure(
    query_vectors: F32, left: I64, right: I64, vectors: F32, ends: I64, sums: F64, index: I64, distance: F64, order: I64
) -> None:
    """Distances of the midpoints of the queries in ``order`` to their references, in float64, rows sorted by them.

    ``index`` and ``distance`` (q, k) are written in place; ``ends`` (r, 2) are the references' rows of ``vectors``,
    ``sums`` (r, d) the sums of the two, or empty where they would take too much room.
    """
    doubled = np.empty(vectors.shape[1])
    built = np.empty((4, vectors.shape[1]))
    for query in order:
        _add(query_vectors[left[query]], query_vectors[right[query]], doubled)
        _measure(doubled, index[query], vectors, ends, sums, built, distance[query])
        _sort(distance[query], index[query])


@_compiled
def _measure(doubled: F64, where: I64, vectors: F32, ends: I64, sums: F64, built: F64, distance: F64) -> None:
    """Distances of one midpoint, given ``doubled``, to the references at ``where``. ``built`` (4, d) is room."""
    n = len(where)
    for start in range(0, n, 4):  # four at a time: the query is read once for all of them
        w, x = where[start], where[min(start + 1, n - 1)]
        y, z = where[min(start + 2, n - 1)], where[min(start + 3, n - 1)]
        if len(sums):
            squares = _squared_gaps(doubled, sums[w], sums[x], sums[y], sums[z])
        else:
            for i, reference in enumerate((w, x, y, z)):
                _add(vectors[ends[reference, 0]], vectors[ends[reference, 1]], built[i])
            squares = _squared_gaps(doubled, built[0], built[1], built[2], built[3])
        for i in range(min(4, n - start)):
            distance[start + i] = np.sqrt(squares[i]) / 2


@_compiled
def _add(a: F32, b: F32, out: F64) -> None:
    for c in range(len(out)):
        out[c] = np.float64(a[c]) + np.float64(b[c])


@_compiled
def _squared_gaps(a: F64, b: F64, c: F64, d: F64, e: F64) -> tuple[float, float, float, float]:
    """Squared distances of ``a`` to the four others."""
    to_b, to_c, to_d, to_e = 0.0, 0.0, 0.0, 0.0
    for i in range(len(a)):
        to_b += (a[i] - b[i]) ** 2
        to_c += (a[i] - c[i]) ** 2
        to_d += (a[i] - d[i]) ** 2
        to_e += (a[i] - e[i]) ** 2
    return to_b, to_c, to_d, to_e


@_compiled
def _sort(values: F64, labels: I64) -> None:
    """Both by ``values``, ascending, in place: they are few."""
    for i in range(1, len(values)):
        value, label = values[i], labels[i]
        slot = i
        while slot > 0 and values[slot - 1] > value:
            values[slot], labels[slot] = values[slot - 1], labels[slot - 1]
            slot -= 1
        values[slot], labels[slot] = value, label
