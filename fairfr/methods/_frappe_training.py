"""Training of FRAPPE's additive network against an adversary that guesses pseudo-groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fairfr.core.types import F32, F64, I64, Bool
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
        self._design, self._mean, self._scale = design, mean, scale
        self._kept: F32 | None = None
        if keep and 4 * design.shape[0] * design.shape[1] <= KEEP_INPUTS:
            self._kept = np.empty(design.shape, dtype=np.float32)
            for index in blocks(design.shape[0]):
                self._kept[index] = self._make(index)

    def rows(self, index: I64) -> torch.Tensor:
        """Inputs of some pairs, (len(index), d)."""
        return tensor_of(self._make(index) if self._kept is None else self._kept[index])

    def _make(self, index: I64) -> F32:
        return ((self._design.rows(index) - self._mean) / self._scale).astype(np.float32)


def moments(design: PairDesign) -> tuple[F64, F64]:
    """Mean and population std of each midpoint coordinate, (d,) each; a constant coordinate is scaled by 1."""
    p = design.shape[0]
    mean = design.rmatvec(np.ones(p)) / p
    return mean, unit_scale(mean, np.diag(design.gram()) / p - mean**2)[0]


def train(pairs: TrainingPairs, how: Training, seed: int, shuffle: np.random.Generator) -> tuple[torch.nn.Module, int]:
    """The additive network T after training, and the number of steps taken."""
    import torch

    width = {"eo": 3, "dp": 1}[how.criterion]
    d = pairs.inputs.rows(np.arange(1)).shape[1]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        additive = network(d, how.hidden, 1, zero_last=True)
        adversary = network(width, how.adversary_hidden, pairs.n_groups)
    step = Step(additive, adversary, how, float(pairs.base.std()) or 1.0)
    base, same = (tensor_of(a.astype(np.float32)) for a in (pairs.base, pairs.same))
    group = tensor_of(pairs.group)
    steps = 0
    for index in _batches(pairs.order, how, shuffle):
        at = torch.from_numpy(index)
        step(pairs.inputs.rows(index), base[at], same[at], group[at])
        steps += 1
    return additive, steps


class Step:
    """One step on a batch: first the adversary improves its guess, then T moves against it.

    ``spread`` divides the logit before the adversary sees it.
    """

    def __init__(self, additive: torch.nn.Module, adversary: torch.nn.Module, how: Training, spread: float) -> None:
        import torch

        self.additive, self.adversary, self.how, self.spread = additive, adversary, how, spread
        self._of_additive = torch.optim.Adam(additive.parameters(), lr=how.learning_rate, fused=True)
        self._of_adversary = torch.optim.Adam(adversary.parameters(), lr=how.adversary_learning_rate, fused=True)

    def __call__(self, x: torch.Tensor, base: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> None:
        from torch.autograd import backward

        fair = base + self.additive(x).squeeze(1)
        logit = fair.detach().requires_grad_()
        self._of_adversary.zero_grad()
        backward(self.guess_loss(logit.detach(), same, group))
        self._of_adversary.step()
        self._of_additive.zero_grad()
        backward(fair, self.slope(logit, base, same, group))
        self._of_additive.step()

    def guess_loss(self, logit: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of the adversary's guess of each pair's group from its logit (eo: and its label)."""
        import torch

        f = logit / self.spread
        seen = [f * same, f * (1 - same), same] if self.how.criterion == "eo" else [f]
        return torch.nn.functional.cross_entropy(self.adversary(torch.stack(seen, dim=1)), group)

    def slope(self, logit: torch.Tensor, base: torch.Tensor, same: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
        """Derivative of T's loss by the logits, (batch,).

        KL(p_base || p_fair) and BCE(same, p_fair) have the derivative p_fair - wanted. Written out, it is exactly 0
        while T is 0; automatic differentiation would leave rounding there, and Adam would blow it up.
        """
        import torch

        wanted = torch.sigmoid(base) if self.how.discrepancy == "kl" else same
        out = (torch.sigmoid(logit.detach()) - wanted) / len(logit)
        if self.how.strength:
            (guess,) = torch.autograd.grad(self.guess_loss(logit, same, group), logit)
            out = out - self.how.strength * guess
        return out


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
