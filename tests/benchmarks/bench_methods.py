"""The slow methods' own work, at the size of one RFW fold, each against the plain way to write it."""

from __future__ import annotations

from time import thread_time

import numpy as np
from measured import Measured, seconds

from fairfr.core.types import F32, F64, I32, I64, Pairs

N_IMAGES, WIDTH, K, SUPPORT, STEPS = 37_000, 512, 100, 6_000, 100
EPOCHS = 5  # of AC-MLP, as it is trained: what happens once in a fit has its true share
ITERATIONS = 10


def made() -> F32:
    """Unit vectors in crowds, most of their variance in few directions, as faces have it."""
    rng = np.random.default_rng(0)
    spread = np.exp(-6 * np.arange(WIDTH) / WIDTH)
    places = rng.normal(size=(400, WIDTH))
    rows = (places[rng.integers(400, size=N_IMAGES)] + 1.5 * rng.normal(size=(N_IMAGES, WIDTH))) * spread
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def rate(flops: float, time: float) -> str:
    return f"{flops / 1e9:.0f} GFlop, {flops / time / 1e9:.0f} GFlop/s reached"


def clusters(vectors: F32) -> Measured:
    """Lloyd steps of one start, by one thread: starts are what threads share."""
    from fairfr.methods import _kmeans
    from fairfr.methods._lloyd import Steps
    from fairfr.pairs.blas import one_blas_thread

    first = _kmeans._faiss(vectors, K, 0, 1)[1]
    with one_blas_thread():
        steps = Steps.where_they_pay(vectors)
        assert steps is not None
        steps.step(first)  # compile
        ours = seconds(lambda: _kmeans._lloyd(vectors, K, 0, ITERATIONS, first, steps), 2)
    plain = seconds(lambda: _kmeans._faiss(vectors, K, 0, ITERATIONS, first), 2)
    flops = 2.0 * N_IMAGES * WIDTH * K * ITERATIONS
    return Measured(
        "k-means (FairCal, FSN): ten Lloyd steps, 37k images, K = 100, against faiss.Kmeans on one thread",
        ours,
        plain,
        f"every image with every centre would be {rate(flops, ours)}; bounds leave a part of it",
        "2x, the same centres in every bit",
    )


def kernel_ridge(vectors: F32) -> Measured:
    from sklearn.kernel_ridge import KernelRidge

    from fairfr.methods._kernel_ridge import fit_kernel_ridge

    chosen, rng = vectors[:SUPPORT], np.random.default_rng(1)
    target: F64 = 0.3 + 0.1 * np.tanh(3 * chosen[:, 0]) + 0.01 * rng.normal(size=SUPPORT)
    fit_kernel_ridge(chosen[:1200], target[:1200], "poly3", 1e-4, 1 / WIDTH)  # compile
    ours = seconds(lambda: fit_kernel_ridge(chosen, target, "poly3", 1e-4, 1 / WIDTH))
    plain_model = KernelRidge(kernel="poly", degree=3, coef0=1, alpha=1e-4)
    plain = seconds(lambda: plain_model.fit(chosen.astype(np.float64), target))
    return Measured(
        "FALCON: kernel ridge on 6,000 images, against scikit-learn's KernelRidge",
        ours,
        plain,
        f"cosines of 6,000 images, {rate(2.0 * SUPPORT**2 * WIDTH, ours)}; then 25 passes over 144 MB",
        "2x",
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

    local_thresholds(vectors[:100], identity[:100], np.arange(5), 1e-3)  # compile
    ours = seconds(lambda: local_thresholds(vectors, identity, chosen, 1e-3))
    return Measured(
        f"FALCON: local thresholds of {len(chosen):,} images among 37k, against one cosine matrix and its partition",
        ours,
        seconds(plain),
        rate(2.0 * len(chosen) * N_IMAGES * WIDTH, ours),
    )


def networks(vectors: F32) -> list[Measured]:
    import torch

    from fairfr.methods._frappe_training import StandardisedMidpoints, Training, TrainingPairs, network, train
    from fairfr.methods._torch import torch_threads
    from fairfr.methods.ac_mlp import ACMLP, _network
    from fairfr.pairs.design import PairDesign

    rng = np.random.default_rng(2)
    p = 512 * STEPS
    left, right = rng.integers(0, N_IMAGES, (2, p)).astype(np.int32)
    design, same, order = PairDesign(vectors, Pairs(left, right)), rng.random(p) < 0.5, np.arange(p)
    how = Training(1.0, "eo", "kl", 5e-5, 1e-3, 64, 32, 512, 1, STEPS)
    inputs = StandardisedMidpoints(design, np.zeros(WIDTH), np.ones(WIDTH), keep=True)
    pairs = TrainingPairs(inputs, rng.normal(size=p), same, rng.integers(0, 20, p), 20, order)
    with torch_threads(1):
        frappe = seconds(lambda: train(pairs, how, 0, np.random.default_rng(0)), 2)
        plain_frappe = seconds(
            lambda: _frappe_by_autograd(network(WIDTH, 64, 1, zero_last=True), network(3, 32, 20), pairs), 2
        )
    mlp, midpoints_and_cosine = ACMLP(), design.append(rng.normal(size=p))
    target, orders = torch.from_numpy(same.astype(np.float32)), [rng.permutation(p) for _ in range(EPOCHS)]

    def ours() -> None:
        mlp.network_ = _network(WIDTH + 1, 1024, 0)
        mlp._train(midpoints_and_cosine, same, orders)

    def plain() -> None:
        _mlp_by_autograd(_network(WIDTH + 1, 1024, 0), midpoints_and_cosine, target, orders)

    with torch_threads(1):  # as folds stand side by side
        measured = [(_products_seconds(512, WIDTH + 1, 1024), seconds(ours, clock=thread_time)) for _ in range(3)]
        plain_mlp = seconds(plain, clock=thread_time)
    floor, ac_mlp = map(min, zip(*measured, strict=True))
    per_step = ac_mlp / (EPOCHS * STEPS)
    return [
        Measured(
            f"FRAPPE: {STEPS} steps, batches of 512, against automatic differentiation (one thread)",
            frappe,
            plain_frappe,
            rate(4.0 * p * WIDTH * 64, frappe),
            "2x",
        ),
        Measured(
            f"AC-MLP: {EPOCHS * STEPS} steps, batches of 512, against automatic differentiation (processor time)",
            ac_mlp,
            plain_mlp,
            f"two products of 512 x 513 x 1024: {1000 * floor:.1f} of {1000 * per_step:.1f} ms a step "
            f"({per_step / floor:.2f}x)",
            "1.3x of its products",
        ),
    ]


def _products_seconds(batch: int, inputs: int, hidden: int) -> float:
    """The best that torch does for the two products of a step, rows padded to 64 bytes: the layer and its gradient."""
    import torch

    x, w, gradient = (torch.randn(rows, 528)[:, :inputs] for rows in (batch, hidden, hidden))
    layer, slope = torch.randn(2, batch, hidden)
    forward = seconds(lambda: torch.mm(x, w.t(), out=layer), 40, thread_time)
    return forward + seconds(lambda: torch.mm(slope.t(), x, out=gradient), 40, thread_time)


def _frappe_by_autograd(additive: object, adversary: object, pairs: object) -> None:
    import torch

    t, a, given = additive, adversary, pairs
    moves = [torch.optim.Adam(net.parameters(), lr=lr) for net, lr in ((t, 5e-5), (a, 1e-3))]  # type: ignore[attr-defined]
    base, same = (torch.from_numpy(v.astype(np.float32)) for v in (given.base, given.same))  # type: ignore[attr-defined]
    group = torch.from_numpy(given.group)  # type: ignore[attr-defined]

    def guess_loss(f: torch.Tensor, y: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(a(torch.stack([f * y, f * (1 - y), y], 1)), g)  # type: ignore[operator]

    for start in range(0, len(base), 512):
        index = np.arange(start, start + 512)
        x, b, y, g = given.inputs.rows(index), base[index], same[index], group[index]  # type: ignore[attr-defined]
        fair = b + t(x).squeeze(1)  # type: ignore[operator]
        moves[1].zero_grad()
        guess_loss(fair.detach(), y, g).backward()
        moves[1].step()
        moves[0].zero_grad()
        kept = torch.nn.functional.binary_cross_entropy_with_logits(fair, torch.sigmoid(b))
        (kept - guess_loss(fair, y, g)).backward()
        moves[0].step()


def _mlp_by_autograd(network: object, design: object, target: object, orders: list[I64]) -> None:
    import torch

    move = torch.optim.Adam(network.parameters(), lr=1e-3)  # type: ignore[attr-defined]
    for index in (order[start : start + 512] for order in orders for start in range(0, len(order), 512)):
        rows = design.rows(index)  # type: ignore[attr-defined]
        rows[:, :-1] /= np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
        move.zero_grad()
        logit = network(torch.from_numpy(rows.astype(np.float32))).squeeze(1)  # type: ignore[operator]
        torch.nn.functional.binary_cross_entropy_with_logits(logit, target[index]).backward()  # type: ignore[index]
        move.step()


def measure(threads: int) -> list[Measured]:
    """Every row of this topic."""
    vectors = made()
    return [clusters(vectors), kernel_ridge(vectors), thresholds(vectors), *networks(vectors)]
