"""AC-MLP: a small network on [normalised midpoint, cosine] (paper, section 3.2).

p = sigmoid(W2 relu(W1 [m / |m|, s] + b1) + b2), 1024 hidden units (527,361 parameters at d = 512), binary cross-
entropy, Adam with lr 1e-3, batches of 512, 5 epochs. A zero midpoint stays zero.

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
from fairfr.core.conform import above, at_least
from fairfr.core.types import I64, Bool, Need, Prediction
from fairfr.methods._logistic import sigmoid
from fairfr.methods._torch import tensor_of, torch_threads
from fairfr.pairs.design import PairDesign
from fairfr.pairs.view import PairView

if TYPE_CHECKING:
    import torch

PREDICT_BATCH = 8192


@dataclass
class ACMLP:
    """p = sigmoid(MLP([m / |m|, s]))."""

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    hidden: int = 1024
    epochs: int = 5
    batch: int = 512
    learning_rate: float = 1e-3
    min_steps: int = 0

    def __post_init__(self) -> None:
        at_least(1, hidden=self.hidden, epochs=self.epochs, batch=self.batch)
        at_least(0, min_steps=self.min_steps)
        above(0, learning_rate=self.learning_rate)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        design = view.midpoints().append(view.cosine)
        self.network_ = _network(design.shape[1], self.hidden, ctx.seed_for("weights"))
        steps_per_epoch = math.ceil(view.n_pairs / self.batch)
        epochs = max(self.epochs, math.ceil(self.min_steps / steps_per_epoch))
        shuffle, pairs = ctx.rng("batches"), view.by_id()
        with torch_threads(ctx.threads):
            loss = self._train(design, same, (shuffle.permutation(pairs) for _ in range(epochs)))
        ctx.report.update(
            parameters=sum(weights.numel() for weights in self.network_.parameters()),
            epochs=epochs,
            steps=epochs * steps_per_epoch,
            last_batch_loss=loss,
        )
        return self

    def _train(self, design: PairDesign, same: Bool, orders: Iterable[I64]) -> float:
        """One epoch for each order of the pairs (p,); the loss of the last batch."""
        import torch

        target = tensor_of(same.astype(np.float32))
        optimiser = torch.optim.Adam(self.network_.parameters(), lr=self.learning_rate)
        loss_of = torch.nn.BCEWithLogitsLoss()
        for order in orders:
            for start in range(0, len(order), self.batch):
                index = order[start : start + self.batch]
                optimiser.zero_grad()
                loss = loss_of(self.network_(_inputs(design, index)).squeeze(1), target[torch.from_numpy(index)])
                loss.backward()
                optimiser.step()
        return float(loss.detach())

    def predict(self, view: PairView) -> Prediction:
        import torch

        design = view.midpoints().append(view.cosine)
        logit = np.empty(view.n_pairs)
        with torch.inference_mode():
            for start in range(0, view.n_pairs, PREDICT_BATCH):
                index = np.arange(start, min(start + PREDICT_BATCH, view.n_pairs))
                logit[index] = self.network_(_inputs(design, index)).squeeze(1).numpy()
        probability = sigmoid(logit)
        return Prediction(score=probability, probability=probability)


def _network(inputs: int, hidden: int, seed: int) -> torch.nn.Module:
    """Two linear layers with PyTorch's default weights, drawn without touching the global random state."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))


def _inputs(design: PairDesign, index: I64) -> torch.Tensor:
    """[m / |m|, s] of some pairs, (batch, d + 1) float32."""
    rows = design.rows(index)
    length = np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
    rows[:, :-1] /= np.where(length > 0, length, 1.0)
    return tensor_of(rows.astype(np.float32))
