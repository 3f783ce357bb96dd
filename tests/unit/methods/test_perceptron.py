"""Training with derivatives written out: what PyTorch's own machinery gives, bit for bit."""

from __future__ import annotations

import pytest
import torch

from fairfr.methods._perceptron import FusedAdam, Perceptron, PlainAdam


def made(inputs: int, hidden: int, outputs: int) -> torch.nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, outputs))


@pytest.mark.parametrize("fused", [False, True])
def test_steps_are_those_of_pytorchs_adam(fused: bool) -> None:
    draw = torch.Generator().manual_seed(0)
    starts = [torch.randn(shape, generator=draw) for shape in ((40, 33), (33,))]
    theirs = [torch.nn.Parameter(start.clone()) for start in starts]
    ours, gradients = ([start.clone() for start in starts] for _ in range(2))
    reference = torch.optim.Adam(theirs, lr=1e-3, fused=fused)
    own = (FusedAdam if fused else PlainAdam)(ours, gradients, lr=1e-3)
    for _ in range(25):
        for a, gradient in zip(theirs, gradients, strict=True):
            a.grad = torch.randn(a.shape, generator=draw)
            gradient.copy_(a.grad)
        with torch.no_grad():
            reference.step()
            own.step()
    assert all(torch.equal(a, b) for a, b in zip(theirs, ours, strict=True))
    assert not torch.equal(ours[0], starts[0])


@pytest.mark.parametrize("fused", [False, True])
def test_training_is_that_of_automatic_differentiation(fused: bool) -> None:
    """Batches of several sizes: the room of a larger one serves a smaller one."""
    draw = torch.Generator().manual_seed(1)
    ours, theirs = made(48, 32, 1), made(48, 32, 1)
    network = Perceptron(ours, 1e-2, fused=fused)
    optimiser = torch.optim.Adam(theirs.parameters(), lr=1e-2, fused=fused)
    for size in (16, 64, 64, 7, 64):
        x, wanted = torch.randn(size, 48, generator=draw), torch.randn(size, generator=draw)
        optimiser.zero_grad()
        ((theirs(x).squeeze(1) - wanted) ** 2).sum().backward()
        optimiser.step()
        with torch.no_grad():
            hidden, out = network.forward(x)
            network.step(x, hidden, 2 * (out - wanted[:, None]))
    with torch.no_grad():
        network.finish()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
