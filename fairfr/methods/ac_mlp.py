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
from fairfr.core.types import F64, I64, Bool, Need, Prediction
from fairfr.methods._logistic import sigmoid
from fairfr.methods._perceptron import Perceptron, batch_buffer
from fairfr.methods._torch import tensor_of, torch_seed, torch_threads
from fairfr.pairs.design import PairDesign
from fairfr.pairs.view import PairView

if TYPE_CHECKING:
    import torch

PREDICT_BATCH = 8192
LENGTH_BATCH = 512


@dataclass
class ACMLP:
    """p = sigmoid(MLP([m / |m|, s]))."""

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = True

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

        target, inputs = tensor_of(same.astype(np.float32)), _Inputs(design, self.batch)
        with torch.no_grad():
            network = Perceptron(self.network_, self.learning_rate)
            for order in orders:
                for start in range(0, len(order), self.batch):
                    index = order[start : start + self.batch]
                    x, wanted = inputs.rows(index), target[torch.from_numpy(index)]
                    hidden, logit = network.forward(x)
                    # the derivative of the mean cross-entropy
                    slope = (torch.sigmoid(logit.squeeze(1)) - wanted) / len(index)
                    network.step(x, hidden, slope[:, None])
            network.finish()
            return float(torch.nn.functional.binary_cross_entropy_with_logits(logit.squeeze(1), wanted))

    def predict(self, view: PairView) -> Prediction:
        import torch

        inputs = _Inputs(view.midpoints().append(view.cosine), min(PREDICT_BATCH, view.n_pairs))
        logit = np.empty(view.n_pairs)
        with torch.inference_mode():
            for start in range(0, view.n_pairs, PREDICT_BATCH):
                index = np.arange(start, min(start + PREDICT_BATCH, view.n_pairs))
                logit[index] = self.network_(inputs.rows(index)).squeeze(1).numpy()
        probability = sigmoid(logit)
        return Prediction(score=probability, probability=probability)


def _network(inputs: int, hidden: int, seed: int) -> torch.nn.Module:
    """Two linear layers with PyTorch's default weights, drawn without touching the global random state."""
    import torch

    with torch_seed(seed):
        return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))


class _Inputs:
    """[m / |m|, s] of pairs in float32, at most ``batch`` at a time and always in the same place."""

    def __init__(self, design: PairDesign, batch: int) -> None:
        self._design, self._width = design, design.shape[1]
        self._length = _lengths(design)
        self._cosine = design.extra()[:, 0].astype(np.float32)
        self._room = batch_buffer(batch, self._width)

    def rows(self, index: I64) -> torch.Tensor:
        """Of some pairs, (len(index), d + 1); valid until the next call."""
        room = self._room.numpy()[: len(index)]
        self._design.directions(index, self._length[index], room)
        room[:, self._width - 1] = self._cosine[index]
        return self._room[: len(index), : self._width]


def _lengths(design: PairDesign) -> F64:
    """|m| of each pair, (p,); 1 for a midpoint of length 0, which stays 0."""
    p = design.shape[0]
    out = np.empty(p)
    for start in range(0, p, LENGTH_BATCH):
        rows = design.rows(np.arange(start, min(start + LENGTH_BATCH, p)))
        out[start : start + len(rows)] = np.linalg.norm(rows[:, :-1], axis=1)
    return np.where(out > 0, out, 1.0)
