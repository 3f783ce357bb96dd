"""The inner loop of the logistic loss of millions of pairs, compiled: apart, since importing numba costs half a second.

numpy's exponential takes one number at a time on processors without AVX-512; this one is written so that the compiler
takes four.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from fairfr.core.types import F64

ROOM = 4096  # pairs at a time: what lies between two loops stays in the first cache
COLUMNS = 64  # of the room: ROOM / COLUMNS factors of at most 2 are multiplied before a logarithm, without overflow

# e^x = 2^n e^r with n whole and |r| <= log(2) / 2. Adding MAGIC leaves n in the last bits of a float.
MAGIC = 1.5 * 2.0**52
ONE = np.int64(1023 << 52)  # the bits of 1.0
LOG2_HIGH, LOG2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
LOWEST = -708.0  # below, e^x is no normal number; 1 + e^x is 1 long before
TAYLOR = tuple(1 / math.factorial(i) for i in range(14))

# No reassociation here: it would take MAGIC out again. It is welcome in sums.
_exact = numba.njit(nogil=True, cache=True, fastmath={"contract"})
_summed = numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})


@_exact  # type: ignore[untyped-decorator]
def block_loss(logit: F64, target: F64, slope: F64) -> float:
    """Sum of log(1 + e^x) - t x over some pairs; sigmoid(x) - t goes into ``slope``."""
    small, shifted = np.empty(ROOM), np.empty(ROOM)
    loss = 0.0
    for start in range(0, len(logit), ROOM):
        stop = min(start + ROOM, len(logit))
        x, t = logit[start:stop], target[start:stop]
        _exponentials(x, small, shifted)
        _slopes(x, t, small, slope[start:stop])
        loss += _log_of_products(small[: len(x)]) + _linear_part(x, t)
    return loss


@_exact  # type: ignore[untyped-decorator]
def loss_and_gradient(
    columns: F64, target: F64, begin: int, end: int, weights: F64, intercept: float, gradient: F64
) -> float:
    """As ``block_loss`` for the pairs from ``begin`` to ``end`` with few features ``columns`` (c, p), without a pass
    through the memory for each step.

    The sums of slope times feature, and of the slope itself, go into ``gradient`` (c + 1,).
    """
    logit, slope, small, shifted = np.empty(ROOM), np.empty(ROOM), np.empty(ROOM), np.empty(ROOM)
    gradient[:] = 0.0
    loss = 0.0
    for start in range(begin, end, ROOM):
        stop = min(start + ROOM, end)
        x, s, t = logit[: stop - start], slope[: stop - start], target[start:stop]
        x[:] = intercept
        for c in range(len(weights)):
            _add_multiple(x, columns[c][start:stop], weights[c])
        _exponentials(x, small, shifted)
        _slopes(x, t, small, s)
        loss += _log_of_products(small[: len(x)]) + _linear_part(x, t)
        for c in range(len(weights)):
            gradient[c] += _product(s, columns[c][start:stop])
        gradient[-1] += _total(s)
    return loss


@_exact  # type: ignore[untyped-decorator]
def _add_multiple(x: F64, column: F64, weight: float) -> None:
    for i in range(len(x)):
        x[i] += weight * column[i]


@_summed  # type: ignore[untyped-decorator]
def _product(a: F64, b: F64) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@_summed  # type: ignore[untyped-decorator]
def _total(a: F64) -> float:
    total = 0.0
    for value in a:
        total += value
    return total


@_exact  # type: ignore[untyped-decorator]
def _exponentials(x: F64, out: F64, shifted: F64) -> None:
    """e^-|x|, within two units in the last place; ``shifted`` is room."""
    n = len(x)
    for i in range(n):
        negative = max(-abs(x[i]), LOWEST)
        shifted[i] = negative * 1.4426950408889634 + MAGIC
        whole = shifted[i] - MAGIC
        out[i] = _small_exponential((negative - whole * LOG2_HIGH) - whole * LOG2_LOW)
    bits = shifted.view(np.int64)
    for i in range(n):
        bits[i] = (bits[i] << 52) + ONE
    for i in range(n):
        out[i] *= shifted[i]


@_exact  # type: ignore[untyped-decorator]
def _small_exponential(r: float) -> float:
    """e^r for |r| <= log(2) / 2."""
    total = TAYLOR[13]
    for i in range(12, -1, -1):
        total = total * r + TAYLOR[i]
    return total


@_exact  # type: ignore[untyped-decorator]
def _slopes(x: F64, t: F64, small: F64, slope: F64) -> None:
    for i in range(len(x)):
        slope[i] = (1.0 if x[i] >= 0 else small[i]) / (1.0 + small[i]) - t[i]


@_exact  # type: ignore[untyped-decorator]
def _log_of_products(small: F64) -> float:
    """Sum of log(1 + small): the product of many is taken before the logarithm."""
    products = np.ones(COLUMNS)
    whole = len(small) // COLUMNS * COLUMNS
    for start in range(0, whole, COLUMNS):
        row = small[start : start + COLUMNS]
        for c in range(COLUMNS):
            products[c] *= 1.0 + row[c]
    for i in range(whole, len(small)):
        products[i - whole] *= 1.0 + small[i]
    total = 0.0
    for product in products:
        total += np.log(product)
    return total


@_summed  # type: ignore[untyped-decorator]
def _linear_part(x: F64, t: F64) -> float:
    total = 0.0
    for i in range(len(x)):
        total += max(x[i], 0.0) - t[i] * x[i]
    return total
