"""AC-MLP: a small network on [normalised midpoint, cosine] (paper, section 3.2).

p = sigmoid(W2 relu(W1 [m / |m|, s] + b1) + b2), 1024 hidden units (527,361 parameters at d = 512), binary cross-
entropy, Adam with lr 1e-3, batches of 512, 5 epochs. A zero midpoint stays zero.

Source: the Adaptive Calibration paper. Needs embeddings. Emits a probability, which is also its score.

Deviations: none. The paper is silent on what follows: pairs are shuffled each epoch, the last short batch is kept,
weights start as PyTorch's default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairfr.core.calibrator import FitContext
from fairfr.core.conform import above, at_least
from fairfr.core.types import I64, Bool, Need, Prediction
from fairfr.methods._logistic import sigmoid
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

    def __post_init__(self) -> None:
        at_least(1, hidden=self.hidden, epochs=self.epochs, batch=self.batch)
        above(0, learning_rate=self.learning_rate)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        import torch

        torch.set_num_threads(ctx.threads)
        design = view.midpoints().append(view.cosine)
        self.network_ = _network(design.shape[1], self.hidden, ctx.seed_for("weights"))
        ctx.report["parameters"] = sum(w.numel() for w in self.network_.parameters())
        target = torch.from_numpy(same.astype(np.float32))
        optimiser = torch.optim.Adam(self.network_.parameters(), lr=self.learning_rate)
        loss_of = torch.nn.BCEWithLogitsLoss()
        shuffle, pairs = ctx.rng("batches"), view.by_id()
        for _ in range(self.epochs):
            order = shuffle.permutation(pairs)
            for start in range(0, view.n_pairs, self.batch):
                index = order[start : start + self.batch]
                optimiser.zero_grad()
                loss = loss_of(self.network_(_inputs(design, index)).squeeze(1), target[torch.from_numpy(index)])
                loss.backward()
                optimiser.step()
        ctx.report["last_batch_loss"] = float(loss.detach())
        return self

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
    import torch

    rows = design.rows(index)
    length = np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
    rows[:, :-1] /= np.where(length > 0, length, 1.0)
    return torch.from_numpy(rows.astype(np.float32))
