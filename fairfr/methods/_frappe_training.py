"""Training of FRAPPE's additive network against an adversary that guesses pseudo-groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fairfr.core.types import F32, F64, I64, Bool
from fairfr.methods._perceptron import Perceptron, cross_entropy_slope
from fairfr.methods._standardise import unit_scale
from fairfr.methods._torch import tensor_of
from fairfr.pairs.design import PairDesign

if TYPE_CHECKING:
    import torch

# Standardised midpoints of all training pairs are kept where they fit into this many bytes, else made per batch.
KEEP_INPUTS = 200_000_000
PREDICT_BATCH = 8192


@dataclass(frozen=True, slots=True)
class Training:
    """How the two networks are trained; the fields are those of ``Frappe``."""

    strength: float
    criterion: Literal["eo", "dp"]
    discrepancy: Literal["kl", "bce"]
    learning_rate: float
    adversary_learning_rate: float
    hidden: int
    adversary_hidden: int
    batch: int
    epochs: int
    max_steps: int


class TrainingPairs(NamedTuple):
    """``base`` (p,): frozen logits. ``group`` (p,): pseudo-group codes below ``n_groups``.

    ``order`` (p,): positions of the pairs in the order in which batches are drawn over them.
    """

    inputs: StandardisedMidpoints
    base: F64
    same: Bool
    group: I64
    n_groups: int
    order: I64


class StandardisedMidpoints:
    """(m - mean) / scale of pairs in float32, a batch at a time."""

    def __init__(self, design: PairDesign, mean: F64, scale: F64, keep: bool = False) -> None:
        import torch

        self._design, self._mean, self._scale = design, mean, scale
        self.width = design.shape[1]
        self._kept: torch.Tensor | None = None
        if keep and 4 * design.shape[0] * self.width <= KEEP_INPUTS:
            kept = torch.empty(design.shape)
            for index in blocks(design.shape[0]):
                self._make(index, kept.numpy()[index[0] : index[-1] + 1])
            self._kept = kept

    def rows(self, index: I64, room: torch.Tensor | None = None) -> torch.Tensor:
        """Inputs of some pairs, (len(index), d); in the first rows of ``room`` (>= len(index), d) if there is one."""
        import torch

        out = torch.empty(len(index), self.width) if room is None else room[: len(index)]
        if self._kept is None:
            self._make(index, out.numpy())
        else:
            torch.index_select(self._kept, 0, torch.from_numpy(index), out=out)
        return out

    def _make(self, index: I64, out: F32) -> None:
        self._design.standardised(index, self._mean, self._scale, out)


def moments(design: PairDesign) -> tuple[F64, F64]:
    """Mean and population std of each midpoint coordinate, (d,) each; a constant coordinate is scaled by 1."""
    p = design.shape[0]
    mean = design.rmatvec(np.ones(p)) / p
    return mean, unit_scale(mean, np.diag(design.gram()) / p - mean**2)[0]


def train(pairs: TrainingPairs, how: Training, seed: int, shuffle: np.random.Generator) -> tuple[torch.nn.Module, int]:
    """The additive network T after training, and the number of steps taken."""
    import torch

    width = {"eo": 3, "dp": 1}[how.criterion]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        additive = network(pairs.inputs.width, how.hidden, 1, zero_last=True)
        adversary = network(width, how.adversary_hidden, pairs.n_groups)
    base, same = (tensor_of(a.astype(np.float32)) for a in (pairs.base, pairs.same))
    group = tensor_of(pairs.group)
    steps = 0
    with torch.no_grad():
        step = Step(additive, adversary, how, float(pairs.base.std()) or 1.0)
        room = torch.empty(how.batch, pairs.inputs.width)
        for index in _batches(pairs.order, how, shuffle):
            at = torch.from_numpy(index)
            step(pairs.inputs.rows(index, room), base[at], same[at], group[at])
            steps += 1
        step.finish()
    return additive, steps


class Step:
    """One step on a batch: first the adversary improves its guess, then T moves against it.

    ``spread`` divides the logit before the adversary sees it. The networks have their weights after ``finish``.
    """

    def __init__(self, additive: torch.nn.Module, adversary: torch.nn.Module, how: Training, spread: float) -> None:
        self.how, self.spread = how, spread
        self._additive = Perceptron(additive, how.learning_rate, fused=True)
        self._adversary = Perceptron(adversary, how.adversary_learning_rate, fused=True)

    def __call__(self, x: torch.Tensor, base: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> None:
        hidden, correction = self._additive.forward(x)
        logit = base + correction.squeeze(1)
        self.improve_guess(logit, same, group)
        self._additive.step(x, hidden, self.slope(logit, base, same, group)[:, None])

    def finish(self) -> None:
        self._additive.finish()
        self._adversary.finish()

    def improve_guess(self, logit: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> None:
        """The adversary's step: down the cross-entropy of its guess of each pair's group."""
        seen = self._seen(logit, same)
        hidden, outputs = self._adversary.forward(seen)
        self._adversary.step(seen, hidden, cross_entropy_slope(outputs, group))

    def slope(self, logit: torch.Tensor, base: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
        """Derivative of T's loss by the logits, (batch,).

        KL(p_base || p_fair) and BCE(same, p_fair) have the derivative p_fair - wanted: exactly 0 while T is 0.
        """
        import torch

        wanted = torch.sigmoid(base) if self.how.discrepancy == "kl" else same
        out = (torch.sigmoid(logit) - wanted) / len(logit)
        if self.how.strength:
            hidden, outputs = self._adversary.forward(self._seen(logit, same))
            at_seen = self._adversary.at_inputs(hidden, cross_entropy_slope(outputs, group))
            out = out - self.how.strength * self._from_seen(at_seen, same)
        return out

    def _seen(self, logit: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
        """What the adversary sees of each pair: its logit, for equalised odds with its label."""
        import torch

        f = logit / self.spread
        return torch.stack([f * same, f * (1 - same), same] if self.how.criterion == "eo" else [f], dim=1)

    def _from_seen(self, slope: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
        """A derivative by what is seen as one by the logit."""
        f = slope[:, 0] * same + slope[:, 1] * (1 - same) if self.how.criterion == "eo" else slope[:, 0]
        return f / self.spread


def network(inputs: int, hidden: int, outputs: int, zero_last: bool = False) -> torch.nn.Module:
    """inputs -> hidden ReLU -> outputs with He weights and zero biases; ``zero_last`` makes it the zero function."""
    import torch

    first, last = torch.nn.Linear(inputs, hidden), torch.nn.Linear(hidden, outputs)
    for layer in (first, last):
        torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        torch.nn.init.zeros_(layer.bias)
    if zero_last:
        torch.nn.init.zeros_(last.weight)
    return torch.nn.Sequential(first, torch.nn.ReLU(), last)


def blocks(n: int) -> Iterator[I64]:
    """Indices below n, a block (up to PREDICT_BATCH,) at a time."""
    return (np.arange(start, min(start + PREDICT_BATCH, n)) for start in range(0, n, PREDICT_BATCH))


def _batches(order: I64, how: Training, shuffle: np.random.Generator) -> Iterator[I64]:
    """Shuffled batches, epoch after epoch; the last one of an epoch may be short."""
    steps = 0
    for _ in range(how.epochs):
        shuffled = shuffle.permutation(order)
        for start in range(0, len(order), how.batch):
            if steps == how.max_steps:
                return
            steps += 1
            yield shuffled[start : start + how.batch]
