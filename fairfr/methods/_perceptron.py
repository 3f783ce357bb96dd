"""Training of a network with one hidden ReLU layer, its derivatives written out.

Batches are small: what automatic differentiation adds to their products (graphs, allocations, Python) costs as much as
the products. The kernels called here are those that it would call, on the same numbers: the same weights, bit for bit.
Whatever is as large as a batch or the weights has its room for the whole training: memory that the system hands out and
takes back at each step costs more than what is done in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch

ALIGNMENT = 16  # float32 numbers in 64 bytes
BETAS, EPS = (0.9, 0.999), 1e-8  # of Adam, as PyTorch has them


def aligned(width: int) -> int:
    """Columns from one row to the next, so that each starts at a multiple of 64 bytes: products of rows of 513 take a
    quarter longer otherwise."""
    return -(-width // ALIGNMENT) * ALIGNMENT


def batch_buffer(rows: int, width: int) -> torch.Tensor:
    """Room for a batch, (rows, aligned(width)); the columns beyond ``width`` are 0."""
    import torch

    return torch.zeros(rows, aligned(width))


class _Room(NamedTuple):
    """Where the numbers of a batch are written, always in the same place."""

    hidden: torch.Tensor
    at_hidden: torch.Tensor
    outputs: torch.Tensor


class Perceptron:
    """A ``torch.nn.Sequential`` of linear, ReLU and linear while it is trained with Adam.

    Only ``finish`` gives it the trained weights. Call everything under ``torch.no_grad()``. What ``forward`` returns is
    valid until its next call. Views are made once and not at each step: for a batch of 512 and few units a call costs
    as much as what it computes.
    """

    def __init__(self, network: Any, learning_rate: float, fused: bool = False) -> None:
        import torch

        self._network = network
        first, _, last = network
        weight = torch.zeros(first.out_features, aligned(first.in_features), dtype=first.weight.dtype)
        weight[:, : first.in_features] = first.weight.detach()
        parameters = [weight, *(p.detach().clone() for p in (first.bias, last.weight, last.bias))]
        gradients = [torch.zeros_like(p) for p in parameters]
        self._first_weight, self._first_gradient = (m[:, : first.in_features] for m in (weight, gradients[0]))
        self._weights = [self._first_weight, *parameters[1:]]
        self._gradients = [self._first_gradient, *gradients[1:]]
        self._first_turned, self._last_turned = self._first_weight.t(), parameters[2].t()
        self._optimiser = (FusedAdam if fused else PlainAdam)(parameters, gradients, learning_rate)
        self._rooms: dict[int, _Room] = {}

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The hidden layer and the outputs of a batch (b, inputs)."""
        import torch

        _, first_bias, _, last_bias = self._weights
        room = self._room(len(x))
        hidden = torch.addmm(first_bias, x, self._first_turned, out=room.hidden).relu_()
        return hidden, torch.addmm(last_bias, hidden, self._last_turned, out=room.outputs)

    def step(self, x: torch.Tensor, hidden: torch.Tensor, slope: torch.Tensor) -> None:
        """One step of Adam; ``slope`` (b, outputs): derivative of the loss by the outputs."""
        import torch

        at_hidden = self._at_hidden(hidden, slope)
        first_weight, first_bias, last_weight, last_bias = self._gradients
        torch.mm(at_hidden.t(), x, out=first_weight)
        torch.sum(at_hidden, 0, out=first_bias)
        torch.mm(slope.t(), hidden, out=last_weight)
        torch.sum(slope, 0, out=last_bias)
        self._optimiser.step()

    def at_inputs(self, hidden: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        """Derivative of the loss by the inputs, (b, inputs)."""
        return self._at_hidden(hidden, slope) @ self._first_weight

    def finish(self) -> None:
        """Hand the weights to the network."""
        first, _, last = self._network
        for own, weights in zip((first.weight, first.bias, last.weight, last.bias), self._weights, strict=True):
            own.data.copy_(weights)

    def _at_hidden(self, hidden: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        import torch

        out = torch.mm(slope, self._weights[2], out=self._room(len(slope)).at_hidden)
        backward: Any = torch.ops.aten.threshold_backward.grad_input
        result: torch.Tensor = backward(out, hidden, 0, grad_input=out)
        return result

    def _room(self, size: int) -> _Room:
        """For batches of this ``size``: there are two, that of most and that of an epoch's last."""
        if size not in self._rooms:
            units = len(self._weights[1])
            hidden, at_hidden = self._first_weight.new_empty(2, size, units)
            self._rooms[size] = _Room(hidden, at_hidden, hidden.new_empty(size, len(self._weights[3])))
        return self._rooms[size]


class FusedAdam:
    """The steps of ``torch.optim.Adam(fused=True)``, by its own kernel: what stands around that takes five times as
    long for a small network."""

    def __init__(self, parameters: list[torch.Tensor], gradients: list[torch.Tensor], lr: float) -> None:
        import torch

        mean, square = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
        self._steps = torch.zeros(())
        self._state: tuple[list[torch.Tensor], ...] = (
            parameters,
            gradients,
            mean,
            square,
            [],
            [self._steps] * len(parameters),
        )
        self._options: dict[str, Any] = {"lr": lr, "beta1": BETAS[0], "beta2": BETAS[1], "eps": EPS}
        self._options |= {"weight_decay": 0.0, "amsgrad": False, "maximize": False}

    def step(self) -> None:
        """Along the gradients, as they are now; under ``torch.no_grad()``."""
        import torch

        self._steps += 1
        kernel: Any = torch._fused_adam_
        kernel(*self._state, **self._options)


class PlainAdam:
    """The steps of ``torch.optim.Adam`` as it takes them when it is not fused, without its temporaries."""

    def __init__(self, parameters: list[torch.Tensor], gradients: list[torch.Tensor], lr: float) -> None:
        import torch

        self._parameters, self._gradients, self._lr, self._steps = parameters, gradients, lr, 0
        self._mean, self._square, self._room = ([torch.zeros_like(p) for p in parameters] for _ in range(3))

    def step(self) -> None:
        """Along the gradients, as they are now; under ``torch.no_grad()``."""
        import torch

        self._steps += 1
        fast, slow = BETAS
        length = self._lr / (1 - fast**self._steps)
        unbias = (1 - slow**self._steps) ** 0.5
        state = zip(self._parameters, self._gradients, self._mean, self._square, self._room, strict=True)
        for parameter, gradient, mean, square, room in state:
            mean.lerp_(gradient, 1 - fast)
            square.mul_(slow).addcmul_(gradient, gradient, value=1 - slow)
            torch.sqrt(square, out=room).div_(unbias).add_(EPS)
            parameter.addcdiv_(mean, room, value=-length)


def cross_entropy_slope(outputs: torch.Tensor, picked: torch.Tensor) -> torch.Tensor:
    """Derivative of the mean cross-entropy of softmax(outputs) (b, k) to the groups of ``picked`` by the outputs."""
    import torch

    log_share = torch.log_softmax(outputs, 1)
    backward: Any = torch.ops.aten._log_softmax_backward_data
    result: torch.Tensor = backward(picked, log_share, 1, log_share.dtype)
    return result


def pick(group: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """-1 / b at the group of each of b pairs, else 0, into ``out`` (b, k): derivative of the mean cross-entropy by the
    logarithms of the shares."""
    return out.zero_().scatter_(1, group[:, None], -1 / len(group))
