"""Training of a network with one hidden ReLU layer, its derivatives written out.

Batches are small: what automatic differentiation adds to their products (graphs, allocations, Python) costs as much as
the products. The kernels called here are those that it would call, on the same numbers: the same weights, bit for bit.
Whatever is as large as a batch or the weights has its room for the whole training: memory that the system hands out and
takes back at each step costs more than what is done in it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

ALIGNMENT = 16  # float32 numbers in 64 bytes


def aligned(width: int) -> int:
    """Columns from one row to the next, so that each starts at a multiple of 64 bytes: products of rows of 513 take a
    quarter longer otherwise."""
    return -(-width // ALIGNMENT) * ALIGNMENT


def batch_buffer(rows: int, width: int) -> torch.Tensor:
    """Room for a batch, (rows, aligned(width)); the columns beyond ``width`` are 0."""
    import torch

    return torch.zeros(rows, aligned(width))


class Perceptron:
    """A ``torch.nn.Sequential`` of linear, ReLU and linear while it is trained with Adam.

    Only ``finish`` gives it the trained weights. Call everything under ``torch.no_grad()``. A hidden layer is valid
    until the next call of ``forward``.
    """

    def __init__(self, network: Any, learning_rate: float, fused: bool = False) -> None:
        import torch

        self._network = network
        first, _, last = network
        weight = torch.zeros(first.out_features, aligned(first.in_features), dtype=first.weight.dtype)
        weight[:, : first.in_features] = first.weight.detach()
        self._parameters = [torch.nn.Parameter(p) for p in (weight, first.bias, last.weight, last.bias)]
        for parameter in self._parameters:
            parameter.grad = torch.zeros_like(parameter)
        gradients: list[Any] = [parameter.grad for parameter in self._parameters]
        self._first_weight, self._first_gradient = (m[:, : first.in_features] for m in (weight, gradients[0]))
        self._gradients = [self._first_gradient, *gradients[1:]]
        make = partial(torch.optim.Adam, fused=True) if fused else PlainAdam
        self._optimiser = make(self._parameters, lr=learning_rate)
        self._hidden, self._at_hidden_room = torch.empty(2, 0, first.out_features, dtype=weight.dtype)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The hidden layer and the outputs of a batch (b, inputs)."""
        import torch

        _, first_bias, last_weight, last_bias = self._parameters
        if len(self._hidden) < len(x):
            self._hidden, self._at_hidden_room = self._hidden.new_empty(2, len(x), self._hidden.shape[1])
        hidden = torch.addmm(first_bias, x, self._first_weight.t(), out=self._hidden[: len(x)]).relu_()
        return hidden, torch.addmm(last_bias, hidden, last_weight.t())

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
        trained = (self._first_weight, *self._parameters[1:])
        for own, weights in zip((first.weight, first.bias, last.weight, last.bias), trained, strict=True):
            own.data.copy_(weights)

    def _at_hidden(self, hidden: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        import torch

        out = torch.mm(slope, self._parameters[2], out=self._at_hidden_room[: len(slope)])
        backward: Any = torch.ops.aten.threshold_backward
        result: torch.Tensor = backward.grad_input(out, hidden, 0, grad_input=out)
        return result


class PlainAdam:
    """The steps of ``torch.optim.Adam`` as it takes them when it is not fused, without its temporaries."""

    BETAS, EPS = (0.9, 0.999), 1e-8

    def __init__(self, parameters: list[torch.nn.Parameter], lr: float) -> None:
        import torch

        self._parameters, self._lr, self._steps = parameters, lr, 0
        self._mean, self._square, self._room = ([torch.zeros_like(p) for p in parameters] for _ in range(3))

    def step(self) -> None:
        """Along the gradients ``grad`` of the parameters; under ``torch.no_grad()``."""
        import torch

        self._steps += 1
        fast, slow = self.BETAS
        length = self._lr / (1 - fast**self._steps)
        unbias = (1 - slow**self._steps) ** 0.5
        for parameter, mean, square, room in zip(self._parameters, self._mean, self._square, self._room, strict=True):
            gradient: Any = parameter.grad
            mean.lerp_(gradient, 1 - fast)
            square.mul_(slow).addcmul_(gradient, gradient, value=1 - slow)
            torch.sqrt(square, out=room).div_(unbias).add_(self.EPS)
            parameter.addcdiv_(mean, room, value=-length)


def cross_entropy_slope(outputs: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    """Derivative of the mean cross-entropy of softmax(outputs) (b, k) to ``group`` (b,) by the outputs."""
    import torch

    log_share = torch.log_softmax(outputs, 1)
    picked = torch.zeros_like(log_share).scatter_(1, group[:, None], -1 / len(group))
    backward: Any = torch.ops.aten._log_softmax_backward_data
    result: torch.Tensor = backward(picked, log_share, 1, log_share.dtype)
    return result
