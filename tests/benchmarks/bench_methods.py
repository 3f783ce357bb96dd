"""The slow methods' own work, at the size of one RFW fold, each against the plain way to write it."""

from __future__ import annotations

import numpy as np
from measured import Measured, seconds

from fairfr.core.types import F32, F64, I32, I64

N_IMAGES, WIDTH, SUPPORT = 37_000, 512, 6_000


def made() -> F32:
    """Unit vectors in crowds, most of their variance in few directions, as faces have it."""
    rng = np.random.default_rng(0)
    spread = np.exp(-6 * np.arange(WIDTH) / WIDTH)
    places = rng.normal(size=(400, WIDTH))
    rows = (places[rng.integers(400, size=N_IMAGES)] + 1.5 * rng.normal(size=(N_IMAGES, WIDTH))) * spread
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def rate(flops: float, time: float) -> str:
    return f"{flops / 1e9:.0f} GFlop, {flops / time / 1e9:.0f} GFlop/s reached"


def kernel_ridge(vectors: F32) -> Measured:
    from sklearn.kernel_ridge import KernelRidge

    from fairfr.methods._kernel_ridge import fit_kernel_ridge

    chosen, rng = vectors[:SUPPORT], np.random.default_rng(1)
    target: F64 = 0.3 + 0.1 * np.tanh(3 * chosen[:, 0]) + 0.01 * rng.normal(size=SUPPORT)
    ours = seconds(lambda: fit_kernel_ridge(chosen, target, "poly3", 1e-4, 1 / WIDTH))
    plain_model = KernelRidge(kernel="poly", degree=3, coef0=1, alpha=1e-4)
    plain = seconds(lambda: plain_model.fit(chosen.astype(np.float64), target))
    return Measured(
        "FALCON: kernel ridge on 6,000 images, against scikit-learn's KernelRidge",
        ours,
        plain,
        f"cosines of 6,000 images and a Cholesky factor: {rate(2.0 * SUPPORT**2 * WIDTH + SUPPORT**3 / 3, ours)}",
    )


def thresholds(vectors: F32) -> Measured:
    from fairfr.methods.falcon import local_thresholds

    identity: I32 = (np.arange(N_IMAGES) // 4).astype(np.int32)
    chosen: I64 = np.arange(0, N_IMAGES, 12)

    def plain() -> F64:
        cosine = vectors[chosen] @ vectors.T
        cosine[identity[chosen][:, None] == identity] = -2
        out: F64 = np.partition(cosine, N_IMAGES - 37, axis=1)[:, -37]
        return out

    ours = seconds(lambda: local_thresholds(vectors, identity, chosen, 1e-3))
    return Measured(
        f"FALCON: local thresholds of {len(chosen):,} images among 37k, against one cosine matrix and its partition",
        ours,
        seconds(plain),
        rate(2.0 * len(chosen) * N_IMAGES * WIDTH, ours),
    )


def measure(threads: int) -> list[Measured]:
    """Every row of this topic."""
    vectors = made()
    return [kernel_ridge(vectors), thresholds(vectors)]
