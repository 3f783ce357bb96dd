"""Training of FRAPPE's additive network against an adversary that guesses pseudo-groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from fairfr.core.types import F32, F64, I64, Bool
from fairfr.methods._perceptron import Perceptron, cross_entropy_slope, pick
from fairfr.methods._standardise import unit_scale
from fairfr.methods._torch import tensor_of, torch_seed
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
    with torch_seed(seed):
        additive = network(pairs.inputs.width, how.hidden, 1, zero_last=True)
        adversary = network(width, how.adversary_hidden, pairs.n_groups)
    base, same = (tensor_of(a.astype(np.float32)) for a in (pairs.base, pairs.same))
    values = PairValues.of(base, same, tensor_of(pairs.group))
    steps = 0
    with torch.no_grad():
        step = Step(additive, adversary, how, float(pairs.base.std()) or 1.0)
        room = torch.empty(how.batch, pairs.inputs.width)
        for index, batch in _batches(pairs.order, values, how, shuffle):
            step(pairs.inputs.rows(index, room), batch)
            steps += 1
        step.finish()
    return additive, steps


class PairValues(NamedTuple):
    """What a step needs to know of each pair besides its inputs, (b,) each: ``other`` is 1 - same, ``near`` the
    probability of the frozen base."""

    base: torch.Tensor
    same: torch.Tensor
    group: torch.Tensor
    other: torch.Tensor
    near: torch.Tensor

    @classmethod
    def of(cls, base: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> PairValues:
        return cls(base, same, group, 1 - same, base.sigmoid())

    def take(self, at: torch.Tensor | slice) -> PairValues:
        return PairValues(*(values[at] for values in self))


class Step:
    """One step on a batch: first the adversary improves its guess, then T moves against it.

    ``spread`` divides the logit before the adversary sees it. The networks have their weights after ``finish``.
    """

    def __init__(self, additive: torch.nn.Module, adversary: Any, how: Training, spread: float) -> None:
        self.how, self.spread = how, spread
        self._groups = adversary[-1].out_features
        self._additive = Perceptron(additive, how.learning_rate, fused=True)
        self._adversary = Perceptron(adversary, how.adversary_learning_rate, fused=True)

    def __call__(self, x: torch.Tensor, batch: PairValues) -> None:
        hidden, correction = self._additive.forward(x)
        logit = batch.base + correction.squeeze(1)
        seen, picked = self._seen(logit, batch), pick(batch.group, logit.new_empty(len(logit), self._groups))
        self.improve_guess(seen, picked)
        self._additive.step(x, hidden, self.slope(logit, batch, seen, picked)[:, None])

    def finish(self) -> None:
        self._additive.finish()
        self._adversary.finish()

    def improve_guess(self, seen: torch.Tensor, picked: torch.Tensor) -> None:
        """The adversary's step: down the cross-entropy of its guess of each pair's group."""
        hidden, outputs = self._adversary.forward(seen)
        self._adversary.step(seen, hidden, cross_entropy_slope(outputs, picked))

    def slope(self, logit: torch.Tensor, batch: PairValues, seen: torch.Tensor, picked: torch.Tensor) -> torch.Tensor:
        """Derivative of T's loss by the logits, (batch,).

        KL(p_base || p_fair) and BCE(same, p_fair) have the derivative p_fair - wanted: exactly 0 while T is 0.
        """
        wanted = batch.near if self.how.discrepancy == "kl" else batch.same
        out = logit.sigmoid().sub_(wanted).div_(len(logit))
        if self.how.strength:
            hidden, outputs = self._adversary.forward(seen)
            at_seen = self._adversary.at_inputs(hidden, cross_entropy_slope(outputs, picked))
            out -= self._from_seen(at_seen, batch).mul_(self.how.strength)
        return out

    def _seen(self, logit: torch.Tensor, batch: PairValues) -> torch.Tensor:
        """What the adversary sees of each pair: its logit, for equalised odds with its label."""
        import torch

        f = logit / self.spread
        return torch.stack([f * batch.same, f * batch.other, batch.same] if self.how.criterion == "eo" else [f], dim=1)

    def _from_seen(self, slope: torch.Tensor, batch: PairValues) -> torch.Tensor:
        """A derivative by what is seen as one by the logit."""
        first = slope[:, 0]
        f = first * batch.same + slope[:, 1] * batch.other if self.how.criterion == "eo" else first
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


def _batches(
    order: I64, values: PairValues, how: Training, shuffle: np.random.Generator
) -> Iterator[tuple[I64, PairValues]]:
    """Shuffled batches, epoch after epoch, with their values; the last one of an epoch may be short."""
    import torch

    steps = 0
    for _ in range(how.epochs):
        shuffled = shuffle.permutation(order)
        of_epoch = values.take(torch.from_numpy(shuffled))
        for start in range(0, len(order), how.batch):
            if steps == how.max_steps:
                return
            steps += 1
            part = slice(start, start + how.batch)
            yield shuffled[part], of_epoch.take(part)
