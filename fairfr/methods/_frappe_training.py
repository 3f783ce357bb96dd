"""Training of FRAPPE's additive network against an adversary that guesses pseudo-groups, found by Ward clustering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fairfr.core.types import F32, F64, I64, Bool
from fairfr.methods._networks import seeded_torch, to_tensor
from fairfr.numerics.regression import safe_std
from fairfr.pairs.design import PairDesign

if TYPE_CHECKING:
    import torch

# Standardised midpoints of all training pairs are kept where they fit into this many bytes, else made per batch.
KEEP_INPUTS = 200_000_000
PREDICT_BATCH = 8192

ROW_BLOCK = 256


@dataclass(frozen=True, slots=True)
class TrainingSettings:
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

    def __init__(self, design: PairDesign, mean: F64, scale: F64) -> None:
        import torch

        self._design = design
        self._mean = mean
        self._scale = scale
        self.width = design.shape[1]
        self._kept: torch.Tensor | None = None
        if 4 * design.shape[0] * self.width <= KEEP_INPUTS:
            kept = torch.empty(design.shape)
            for index in index_blocks(design.shape[0]):
                self._make(index, kept.numpy()[index[0] : index[-1] + 1])
            self._kept = kept

    def rows(self, index: I64, room: torch.Tensor | None = None) -> torch.Tensor:
        """Inputs of some pairs, (len(index), d); in the first rows of ``room`` (>= len(index), d) if there is one."""
        import torch

        if room is None:
            room = torch.empty(len(index), self.width)
        out = room[: len(index)]
        if self._kept is None:
            self._make(index, out.numpy())
        else:
            torch.index_select(self._kept, 0, torch.from_numpy(index), out=out)
        return out

    def _make(self, index: I64, out: F32) -> None:
        self._design.standardised(index, self._mean, self._scale, out)


def midpoint_moments(design: PairDesign) -> tuple[F64, F64]:
    """Mean and population std of each midpoint coordinate, (d,) each; a constant coordinate is scaled by 1."""
    p = design.shape[0]
    mean = design.rmatvec(np.ones(p)) / p
    return mean, safe_std(mean, np.diag(design.gram()) / p - mean**2)[0]


def train(
    pairs: TrainingPairs, how: TrainingSettings, seed: int, shuffle: np.random.Generator
) -> tuple[torch.nn.Module, int]:
    """The additive network T after training, and the number of steps taken."""
    import torch

    width = {"eo": 3, "dp": 1}[how.criterion]
    with seeded_torch(seed):
        additive = two_layer_network(pairs.inputs.width, how.hidden, 1, zero_last=True)
        adversary = two_layer_network(width, how.adversary_hidden, pairs.n_groups)
    base = to_tensor(pairs.base.astype(np.float32))
    same = to_tensor(pairs.same.astype(np.float32))
    values = BatchValues(base, same, to_tensor(pairs.group))
    step = TrainingStep(additive, adversary, how, float(pairs.base.std()) or 1.0)
    room = torch.empty(how.batch, pairs.inputs.width)
    steps = 0
    for index, batch in _batches(pairs.order, values, how, shuffle):
        step(pairs.inputs.rows(index, room), batch)
        steps += 1
    return additive, steps


class BatchValues(NamedTuple):
    """What a step needs to know of each pair besides its inputs, (b,) each."""

    base: torch.Tensor
    same: torch.Tensor
    group: torch.Tensor

    def take(self, at: torch.Tensor | slice) -> BatchValues:
        return BatchValues(self.base[at], self.same[at], self.group[at])


class TrainingStep:
    """One step on a batch: first the adversary improves its guess, then T moves against it.

    ``spread`` divides the logit before the adversary sees it.
    """

    def __init__(
        self, additive: torch.nn.Module, adversary: torch.nn.Module, how: TrainingSettings, spread: float
    ) -> None:
        import torch

        self.how = how
        self.spread = spread
        self._additive = additive
        self._adversary = adversary
        self._weights = list(additive.parameters())
        self._additive_optimiser = torch.optim.Adam(self._weights, lr=how.learning_rate, fused=True)
        self._adversary_optimiser = torch.optim.Adam(adversary.parameters(), lr=how.adversary_learning_rate, fused=True)

    def __call__(self, x: torch.Tensor, batch: BatchValues) -> None:
        import torch

        logit = batch.base + self._additive(x).squeeze(1)
        self._adversary_optimiser.zero_grad()
        torch.autograd.backward(self.guess_loss(logit.detach(), batch))
        self._adversary_optimiser.step()
        self._additive_optimiser.zero_grad()
        # the adversary's weights need no derivative of T's loss
        torch.autograd.backward(self.loss(logit, batch), inputs=self._weights)
        self._additive_optimiser.step()

    def guess_loss(self, logit: torch.Tensor, batch: BatchValues) -> torch.Tensor:
        """Cross-entropy of the adversary's guess of each pair's group."""
        import torch

        # the logit, for equalised odds with the label
        f = logit / self.spread
        seen = [f]
        if self.how.criterion == "eo":
            seen = [f * batch.same, f * (1 - batch.same), batch.same]
        return torch.nn.functional.cross_entropy(self._adversary(torch.stack(seen, dim=1)), batch.group)

    def loss(self, logit: torch.Tensor, batch: BatchValues) -> torch.Tensor:
        """T's loss: KL(p_base || p_fair) up to a constant, or BCE(same, p_fair), less what the adversary is to lose.

        Both have the derivative p_fair - wanted: exactly 0 while T is 0 and the base is wanted.
        """
        import torch

        wanted = batch.same
        if self.how.discrepancy == "kl":
            # of the batch, not of all pairs once: torch rounds a sigmoid by where in an array the number stands
            wanted = batch.base.sigmoid()
        out = torch.nn.functional.binary_cross_entropy_with_logits(logit, wanted)
        if self.how.strength:
            out = out - self.how.strength * self.guess_loss(logit, batch)
        return out


def two_layer_network(inputs: int, hidden: int, outputs: int, zero_last: bool = False) -> torch.nn.Module:
    """inputs -> hidden ReLU -> outputs with He weights and zero biases; ``zero_last`` makes it the zero function."""
    import torch

    first = torch.nn.Linear(inputs, hidden)
    last = torch.nn.Linear(hidden, outputs)
    for layer in (first, last):
        torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        torch.nn.init.zeros_(layer.bias)
    if zero_last:
        torch.nn.init.zeros_(last.weight)
    return torch.nn.Sequential(first, torch.nn.ReLU(), last)


def index_blocks(n: int) -> Iterator[I64]:
    """Indices below n, a block (up to PREDICT_BATCH,) at a time."""
    return (np.arange(start, min(start + PREDICT_BATCH, n)) for start in range(0, n, PREDICT_BATCH))


def _batches(
    order: I64, values: BatchValues, how: TrainingSettings, shuffle: np.random.Generator
) -> Iterator[tuple[I64, BatchValues]]:
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


def ward_means(design: PairDesign, cosine: F64, chosen: I64, k: int) -> F64:
    """Means of the k Ward clusters of the ``chosen`` pairs' normalised midpoints, (k, d).

    Fewer than k where merges tie in height, as they do among repeated points.
    """
    from scipy.cluster.hierarchy import fcluster, ward

    points = design.rows(chosen) * inverse_lengths(cosine[chosen])[:, None]
    labels = fcluster(ward(_condensed_distances(points)), k, criterion="maxclust")
    return np.stack([points[labels == cluster].mean(axis=0) for cluster in np.unique(labels)])


def _condensed_distances(points: F64) -> F64:
    """Euclidean distances of all pairs of rows in scipy's condensed order: row i holds those to i + 1, i + 2, ...

    By matrix products, a block of rows at a time; taken one by one they cost more than the clustering itself.
    """
    n = len(points)
    squared = np.einsum("ij,ij->i", points, points)
    out = np.empty(n * (n - 1) // 2)
    filled = 0
    for start in range(0, n, ROW_BLOCK):
        block = points[start : start + ROW_BLOCK]
        products = block @ points[start:].T
        for i, row in enumerate(products):
            stop = filled + len(row) - i - 1
            np.multiply(row[i + 1 :], -2, out=out[filled:stop])
            out[filled:stop] += squared[start + i] + squared[start + i + 1 :]
            filled = stop
    np.maximum(out, 0.0, out=out)
    return np.sqrt(out, out=out)


def nearest_cluster_mean(design: PairDesign, cosine: F64, means: F64) -> I64:
    """The mean (k, d) nearest to each pair's normalised midpoint, (p,): the largest z.c - |c|^2 / 2."""
    length = inverse_lengths(cosine)
    closeness = [length * design.matvec(mean) - mean @ mean / 2 for mean in means]
    out: I64 = np.argmax(closeness, axis=0)
    return out


def inverse_lengths(cosine: F64) -> F64:
    """1 / |m| = sqrt(2 / (1 + s)) of each pair, (p,); 0 for opposite images, whose midpoint has no direction."""
    squared = (1 + cosine) / 2
    return np.divide(1.0, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
