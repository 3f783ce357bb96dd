"""Kernel ridge regression without intercept on image vectors, in its dual form: (K + ridge I) a = target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from fairfr.core.state import piece
from fairfr.core.types import F32, F64, I64
from fairfr.pairs.blas import one_blas_thread
from fairfr.pairs.unit import marks

Matrix = TypeVar("Matrix", F32, F64)
Kernel: TypeAlias = Literal["linear", "poly2", "poly3", "rbf"]

BLOCK = 1024
TOGETHER_BLOCK = 256  # of rows that meet what supports any of several models
# float32 halves the cost of the cubic term; used only where its rounding cannot reach this much.
ROUNDING = 1e-8
MIN_ITERATIVE = 1000  # below, a Cholesky factor is a matter of milliseconds
MAX_STEPS = 60
RESIDUAL = 1e-12  # of the preconditioned residual, relative to that of the start


class KernelRidge(Protocol):
    """A fitted function of one vector."""

    def value(self, vectors: F32) -> F64:
        """Predicted target of each row, (q,)."""
        ...


def fit_kernel_ridge(vectors: F32, target: F64, kernel: Kernel, ridge: float, gamma: float) -> tuple[KernelRidge, F64]:
    """Minimise sum of squared residuals + ridge |f|^2 over the kernel's functions f, as scikit-learn's KernelRidge.

    Parameters
    ----------
    vectors : (n, d)
    target : (n,)
    kernel : Kernel
        ``linear`` z.x, ``poly2`` and ``poly3`` (gamma z.x + 1)^degree, ``rbf`` exp(-gamma |z - x|^2).

    Returns
    -------
    The fitted function, and the fitted values of ``target`` (n,).
    """
    support = vectors.astype(np.float64)
    if kernel == "rbf":
        dual = _solve(_rbf(support, support, gamma), target, ridge)
        return RadialRidge(support, dual, gamma), target - ridge * dual
    powers = _powers(kernel, gamma)
    found = _solve_nearly_affine(vectors, target, powers, ridge)
    dual = _solve(_polynomial(support @ support.T, powers), target, ridge) if found is None else found
    # the dual system says K a = target - ridge a, so the fitted values need no second product
    return PowerRidge.of(support, dual, powers), target - ridge * dual


@piece
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


@piece
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
        precision = np.float32 if bound < ROUNDING else np.float64
        return cls(
            constant=c0 * float(dual.sum()),
            linear=c1 * (dual @ support),
            square=c2 * (support.T @ (dual[:, None] * support)),
            cubic=(c3 * dual).astype(precision) if c3 else None,
            support=support.astype(precision) if c3 else support[:0],
        )

    def value(self, vectors: F32) -> F64:
        from fairfr.methods._falcon_loops import add_cubes

        out = np.empty(len(vectors))
        for part in _blocks(len(vectors)):
            out[part] = self.up_to_square(vectors[part].astype(np.float64))
            if self.cubic is not None:
                add_cubes(vectors[part].astype(self.support.dtype) @ self.support.T, self.cubic, out[part])
        return out

    @property
    def is_cubic_in_float32(self) -> bool:
        return self.cubic is not None and self.support.dtype == np.float32

    def up_to_square(self, z: F64) -> F64:
        """f without its cubic term."""
        out: F64 = self.constant + z @ self.linear + np.einsum("ij,ij->i", z @ self.square, z)
        return out


def values_together(models: Sequence[KernelRidge], vectors: F32, threads: int) -> list[F64]:
    """``value(vectors)`` of each model, to rounding. Where a vector supports several, it meets ``vectors`` once."""
    cubic = [model for model in models if isinstance(model, PowerRidge) and model.is_cubic_in_float32]
    if len(cubic) < len(models):
        with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda model: model.value(vectors), models))
    from fairfr.methods._falcon_loops import add_cubes_of

    support, columns, weights = _common_support(cubic)
    out = np.empty((len(cubic), len(vectors)))

    def fill(part: slice) -> None:
        inner, z = vectors[part] @ support.T, vectors[part].astype(np.float64)
        for i, model in enumerate(cubic):
            out[i, part] = model.up_to_square(z)
            add_cubes_of(inner, columns[i], weights[i], out[i, part])

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, _blocks(len(vectors), TOGETHER_BLOCK)))
    return list(out)


def _common_support(models: Sequence[PowerRidge]) -> tuple[F32, list[I64], list[npt.NDArray[Any]]]:
    """What supports any of the models, (n, d), and for each the rows that are its own, ascending, with their weights:
    to walk through memory in one direction takes a third of the time."""
    known, places = np.unique(np.concatenate([marks(model.support) for model in models]), return_inverse=True)
    support = np.empty((len(known), models[0].support.shape[1]), dtype=np.float32)
    columns, weights = [], []
    for model, own in zip(models, np.split(places, np.cumsum([len(model.support) for model in models])), strict=False):
        assert model.cubic is not None
        support[own] = model.support
        order = np.argsort(own)
        columns.append(own[order])
        weights.append(model.cubic[order])
    return support, columns, weights


def _powers(kernel: Kernel, gamma: float) -> tuple[float, float, float, float]:
    """The kernel as a polynomial in z.x: coefficients of its powers 0 to 3."""
    if kernel == "linear":
        return 0.0, 1.0, 0.0, 0.0
    if kernel == "poly2":
        return 1.0, 2 * gamma, gamma**2, 0.0
    return 1.0, 3 * gamma, 3 * gamma**2, gamma**3


def _polynomial(inner: Matrix, powers: tuple[float, float, float, float]) -> Matrix:
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


def _solve_nearly_affine(
    vectors: F32, target: F64, powers: tuple[float, float, float, float], ridge: float
) -> F64 | None:
    """a of (K + ridge I) a = target by conjugate gradients; None where they are not the way.

    A polynomial kernel whose square and cube weigh less than the ridge is an affine kernel, of rank d + 1 and solved at
    once, plus little: so little that float32 holds it. With the affine part as preconditioner some twenty steps reach
    rounding, at 2 n^2 flops each; a Cholesky factor takes n^3 / 3.
    """
    from scipy.linalg import cho_factor, cho_solve

    c0, c1, c2, c3 = powers
    if len(target) < MIN_ITERATIVE or c2 + c3 > ridge:
        return None
    from fairfr.methods._falcon_loops import matvec

    little = _polynomial(vectors @ vectors.T, (0.0, 0.0, c2, c3))
    affine = np.column_stack([np.full(len(vectors), np.sqrt(c0)), np.sqrt(c1) * vectors.astype(np.float64)])
    diagonal = ridge + c2 + c3  # what a unit row's own entry has besides the affine part
    factor = cho_factor(affine.T @ affine + diagonal * np.eye(affine.shape[1]))

    def apply(a: F64) -> F64:
        out: F64 = affine @ (affine.T @ a) + matvec(little, a) + ridge * a
        return out

    def precondition(residual: F64) -> F64:
        out: F64 = (residual - affine @ cho_solve(factor, affine.T @ residual)) / diagonal
        return out

    return _conjugate_gradients(apply, precondition, target)


def _conjugate_gradients(apply: Callable[[F64], F64], precondition: Callable[[F64], F64], target: F64) -> F64 | None:
    """x of apply(x) = target; None where ``MAX_STEPS`` do not suffice."""
    x = np.zeros_like(target)
    residual = target.copy()
    step = direction = precondition(residual)
    size = first = float(residual @ step)
    for _ in range(MAX_STEPS):
        if size <= RESIDUAL**2 * first:
            return x
        applied = apply(direction)
        length = size / float(direction @ applied)
        x += length * direction
        residual -= length * applied
        step = precondition(residual)
        before, size = size, float(residual @ step)
        direction = step + (size / before) * direction
    return None


def _blocks(n: int, size: int | None = None) -> Iterator[slice]:
    size = size or BLOCK
    return (slice(start, start + size) for start in range(0, n, size))
