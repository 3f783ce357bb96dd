"""What networks hand to torch, so that a fit does not depend on what ran before it in the process; how they are saved.

Two things may change the last bits of a product, and training carries them on: where in memory an array of numpy's
happens to lie, and the number of threads, which a library, or another method, may have left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError
from fairfr.core.state import Foreign, admit

if TYPE_CHECKING:
    import torch


def tensor_of(array: npt.NDArray[Any]) -> torch.Tensor:
    """A copy in torch's own memory, which starts at a multiple of 64 bytes; numpy's starts anywhere."""
    import torch

    out = torch.empty_like(torch.from_numpy(array), memory_format=torch.contiguous_format)
    out.numpy()[...] = array  # not by torch, whose threads would wait for each other over so little
    return out


_drawing = Lock()  # torch's random state belongs to the process, and fits may stand side by side


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Inside, torch draws from ``seed``; after, its random state is as before."""
    import torch

    with _drawing, torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Inside, torch runs on so many threads, whatever was set before; after, on as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _is_network(value: object) -> bool:
    """Linear layers with ReLU between them. Asked of anything: torch is not imported for it."""
    if type(value).__module__ != "torch.nn.modules.container":
        return False
    import torch

    layers = list(value) if type(value) is torch.nn.Sequential else []
    plain = [torch.nn.ReLU if i % 2 else torch.nn.Linear for i in range(len(layers))]
    return len(layers) % 2 == 1 and [type(layer) for layer in layers] == plain


def _layers(network: Any) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Weight and bias of each linear layer."""
    return [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in list(network)[::2]]


def _network_of(layers: Any) -> torch.nn.Module:
    shapes = [tuple(np.shape(a) for a in layer) for layer in layers if isinstance(layer, tuple)]
    fits = len(shapes) > 0 and all(len(s) == 2 and len(s[0]) == 2 and s[1] == s[0][:1] for s in shapes)
    if not fits or any(lower[0][0] != upper[0][1] for lower, upper in pairwise(shapes)):
        raise DataError("the layers of a network do not fit each other")
    import torch

    stack: list[torch.nn.Module] = []
    for weight, bias in layers:
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0], device="meta")  # no weights drawn only to go
        linear.weight, linear.bias = (torch.nn.Parameter(tensor_of(a)) for a in (weight, bias))
        stack += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*stack[:-1])


admit("network", Foreign(_is_network, _layers, _network_of))
