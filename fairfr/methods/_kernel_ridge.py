"""Kernel ridge regression without intercept on image vectors, in its dual form: (K + ridge I) a = target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64

Kernel: TypeAlias = Literal["linear", "poly2", "poly3", "rbf"]

BLOCK = 1024
# float32 halves the cost of the cubic term; used only where its rounding cannot reach this much.
ROUNDING = 1e-8


class KernelRidge(Protocol):
    """A fitted function of one vector."""

    def value(self, vectors: F32) -> F64:
        """Predicted target of each row, (q,)."""
        ...


def fit_kernel_ridge(vectors: F32, target: F64, kernel: Kernel, ridge: float, gamma: float) -> tuple[KernelRidge, F64]:
    """Minimise sum of squared residuals + ridge |f|^2 over the kernel's functions f, as scikit-learn's KernelRidge.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, d)
        Unit vectors to fit on.
    target : ndarray of float64, shape (n_images,)
        What to predict from them.
    kernel : {"linear", "poly2", "poly3", "rbf"}
        z.x, (gamma z.x + 1)^2, (gamma z.x + 1)^3, or exp(-gamma |z - x|^2).
    ridge : float
        Strength of the penalty.
    gamma : float
        As in the formulas of the kernels.

    Returns
    -------
    model : KernelRidge
        The fitted function.
    fitted : ndarray of float64, shape (n_images,)
        Its values at ``vectors``.
    """
    support = vectors.astype(np.float64)
    if kernel == "rbf":
        dual = _solve(_rbf(support, support, gamma), target, ridge)
        return RadialRidge(support, dual, gamma), target - ridge * dual
    powers = _powers(kernel, gamma)
    dual = _solve(_polynomial(support @ support.T, powers), target, ridge)
    # the dual system says K a = target - ridge a, so the fitted values need no second product
    return PowerRidge.of(support, dual, powers), target - ridge * dual


@serializable("RadialRidge")
@dataclass(frozen=True, slots=True)
class RadialRidge:
    """f(z) = sum_j a_j exp(-gamma |z - x_j|^2)."""

    support: F64
    dual: F64
    gamma: float

    def value(self, vectors: F32) -> F64:
        out = np.empty(len(vectors))
        for part in _blocks(len(vectors)):
            out[part] = _rbf(vectors[part].astype(np.float64), self.support, self.gamma) @ self.dual
        return out


@serializable("PowerRidge")
@dataclass(frozen=True, slots=True)
class PowerRidge:
    """f(z) = sum_j a_j (c0 + c1 z.x_j + c2 (z.x_j)^2 + c3 (z.x_j)^3).

    Up to the square the sum over j is taken once, into ``constant``, ``linear`` (d,) and ``square`` (d, d): a vector
    then costs d^2 and not n d. Only the cubic term (``cubic`` = c3 a, (n,); None without one) meets every x_j.
    """

    constant: float
    linear: F64
    square: F64
    cubic: npt.NDArray[Any] | None
    support: npt.NDArray[Any]

    @classmethod
    def of(cls, support: F64, dual: F64, powers: tuple[float, float, float, float]) -> PowerRidge:
        c0, c1, c2, c3 = powers
        # rounding of (z.x_j)^3 in float32 is below 4 eps for unit vectors, whatever its sign
        bound = 4 * float(np.finfo(np.float32).eps) * c3 * float(np.abs(dual).sum())
        constant = c0 * float(dual.sum())
        linear = c1 * (dual @ support)
        square = c2 * (support.T @ (dual[:, None] * support))
        if c3 == 0:
            return cls(constant, linear, square, None, support[:0])
        precision: type = np.float64
        if bound < ROUNDING:
            precision = np.float32
        return cls(constant, linear, square, (c3 * dual).astype(precision), support.astype(precision))

    def value(self, vectors: F32) -> F64:
        out = np.empty(len(vectors))
        for part in _blocks(len(vectors)):
            z = vectors[part].astype(np.float64)
            out[part] = self.constant + z @ self.linear + np.einsum("ij,ij->i", z @ self.square, z)
            if self.cubic is not None:
                inner = vectors[part].astype(self.support.dtype) @ self.support.T
                out[part] += np.einsum("ij,j->i", inner * inner * inner, self.cubic, dtype=np.float64)
        return out


def _powers(kernel: Kernel, gamma: float) -> tuple[float, float, float, float]:
    """The kernel as a polynomial in z.x: coefficients of its powers 0 to 3."""
    if kernel == "linear":
        return 0.0, 1.0, 0.0, 0.0
    if kernel == "poly2":
        return 1.0, 2 * gamma, gamma**2, 0.0
    return 1.0, 3 * gamma, 3 * gamma**2, gamma**3


def _polynomial(inner: F64, powers: tuple[float, float, float, float]) -> F64:
    """c0 + c1 x + c2 x^2 + c3 x^3 of each entry, (n, n), a block of rows at a time and in place."""
    c0, c1, c2, c3 = powers
    for part in _blocks(len(inner)):
        x = inner[part]
        inner[part] = ((c3 * x + c2) * x + c1) * x + c0
    return inner


def _rbf(left: F64, right: F64, gamma: float) -> F64:
    squared = np.einsum("ij,ij->i", left, left)[:, None] + np.einsum("ij,ij->i", right, right)
    squared -= 2 * (left @ right.T)
    np.maximum(squared, 0.0, out=squared)
    squared *= -gamma
    out: F64 = np.exp(squared, out=squared)
    return out


def _solve(matrix: F64, target: F64, ridge: float) -> F64:
    """a of (matrix + ridge I) a = target; ``matrix`` is overwritten."""
    from scipy.linalg import cho_factor, cho_solve

    if not len(target):
        return target
    matrix[np.diag_indices_from(matrix)] += ridge
    # symmetric, so its transpose is the same matrix in the order that LAPACK overwrites without a copy
    factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    out: F64 = cho_solve(factor, target, check_finite=False)
    return out


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, n, BLOCK))
