"""AC-MLP: a small network on [normalised midpoint, cosine] (paper, section 3.2).

p = sigmoid(W2 relu(W1 [m / norm(m), s] + b1) + b2), 1024 hidden units (527,361 parameters at d = 512), binary
cross-entropy, Adam with lr 1e-3, batches of 512, 5 epochs. A zero midpoint stays zero.

Source: the Adaptive Calibration paper. Needs embeddings. Emits a probability, which is also its score.

Five epochs are few steps where pairs are few: 55 on LFW, where real faces reach an AUROC of .961 in the first fold
after them and .985 after 20 epochs (MobileFace; the cosine alone .982). ``min_steps`` adds whole epochs until there
are that many steps; 0, the default, is the paper's form, ``method=ablation/ac_mlp_long`` takes 500. ``steps`` is in
the fit report.

Deviations: none. The paper is silent on what follows: pairs are shuffled each epoch, the last short batch is kept,
weights start as PyTorch's default.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.types import F32, F64, I64, Bool, Need, Prediction
from fairfr.methods._networks import Network, seeded_torch, to_tensor, torch_thread_limit
from fairfr.numerics.regression import sigmoid
from fairfr.pairs.design import PairDesign
from fairfr.pairs.view import PairView

if TYPE_CHECKING:
    import torch

PREDICT_BATCH = 8192
LENGTH_BATCH = 512


@dataclass
class ACMLP:
    """p = sigmoid(MLP([m / |m|, s])).

    Parameters
    ----------
    hidden : int, default 1024
        Units of the hidden layer.
    epochs : int, default 5
        How often training goes through all pairs.
    batch : int, default 512
        Pairs in one optimiser step.
    learning_rate : float, default 0.001
        Of Adam.
    min_steps : int, default 0
        Add whole epochs until there are this many optimiser steps.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True
    # torch.optim imports torch._dynamo when it is first used
    imports: ClassVar[tuple[str, ...]] = ("torch", "torch._dynamo")

    hidden: int = 1024
    epochs: int = 5
    batch: int = 512
    learning_rate: float = 1e-3
    min_steps: int = 0

    def __post_init__(self) -> None:
        check_min(1, hidden=self.hidden, epochs=self.epochs, batch=self.batch)
        check_min(0, min_steps=self.min_steps)
        check_above(0, learning_rate=self.learning_rate)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        design = view.midpoints().append(view.cosine)
        network = _network(design.shape[1], self.hidden, ctx.seed_for("weights"))
        steps_per_epoch = math.ceil(view.n_pairs / self.batch)
        epochs = max(self.epochs, math.ceil(self.min_steps / steps_per_epoch))
        shuffle = ctx.rng("batches")
        pairs = view.order_by_id()
        with torch_thread_limit(ctx.threads):
            loss = self._train(network, design, same, (shuffle.permutation(pairs) for _ in range(epochs)))
        self.network_ = Network.of(network)
        ctx.report.update(
            parameters=self.network_.n_parameters,
            epochs=epochs,
            steps=epochs * steps_per_epoch,
            last_batch_loss=loss,
        )
        return self

    def _train(self, network: torch.nn.Module, design: PairDesign, same: Bool, orders: Iterable[I64]) -> float:
        """One epoch for each order of the pairs (p,); the loss of the last batch."""
        import torch

        target = to_tensor(same.astype(np.float32))
        buffer = torch.empty(self.batch, design.shape[1])
        inputs = _Inputs(design, buffer.numpy())
        optimiser = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        for order in orders:
            for start in range(0, len(order), self.batch):
                index = order[start : start + self.batch]
                inputs.rows(index)
                logit = network(buffer[: len(index)]).squeeze(1)
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, target[torch.from_numpy(index)])
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
        return float(loss.detach())

    def predict(self, view: PairView) -> Prediction:
        design = view.midpoints().append(view.cosine)
        buffer = np.empty((min(PREDICT_BATCH, view.n_pairs), design.shape[1]), dtype=np.float32)
        inputs = _Inputs(design, buffer)
        logit = np.empty(view.n_pairs)
        for start in range(0, view.n_pairs, PREDICT_BATCH):
            index = np.arange(start, min(start + PREDICT_BATCH, view.n_pairs))
            logit[index] = self.network_.outputs(inputs.rows(index))[:, 0]
        probability = sigmoid(logit)
        return Prediction(score=probability, probability=probability)


def _network(inputs: int, hidden: int, seed: int) -> torch.nn.Module:
    """Two linear layers with PyTorch's default weights, drawn without touching the global random state."""
    import torch

    with seeded_torch(seed):
        return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))


class _Inputs:
    """[m / |m|, s] of pairs in float32, written into the first rows of one buffer (batch, d + 1)."""

    def __init__(self, design: PairDesign, buffer: F32) -> None:
        self._design = design
        self._length = _lengths(design)
        self._cosine = design.extra()[:, 0].astype(np.float32)
        self._buffer = buffer

    def rows(self, index: I64) -> F32:
        """Of some pairs, (len(index), d + 1); valid until the next call."""
        out = self._buffer[: len(index)]
        self._design.directions(index, self._length[index], out)
        out[:, -1] = self._cosine[index]
        return out


def _lengths(design: PairDesign) -> F64:
    """|m| of each pair, (p,); 1 for a midpoint of length 0, which stays 0."""
    p = design.shape[0]
    out = np.empty(p)
    for start in range(0, p, LENGTH_BATCH):
        rows = design.rows(np.arange(start, min(start + LENGTH_BATCH, p)))
        out[start : start + len(rows)] = np.linalg.norm(rows[:, :-1], axis=1)
    return np.where(out > 0, out, 1.0)
