"""Networks with one hidden layer: what they hand to torch, and how they are kept without it.

A fit must not depend on what ran before it in the process. Two things may change the last bits of a product, and
training carries them on: where in memory an array of numpy's happens to lie, and the number of threads, which a
library, or another method, may have left behind.

A trained network is plain arrays: it predicts, is saved and is loaded without torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError
from fairfr.core.serialization import serializable
from fairfr.core.types import F32

if TYPE_CHECKING:
    import torch


def to_tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    """A copy in torch's own memory, which starts at a multiple of 64 bytes; numpy's starts anywhere."""
    import torch

    out = torch.empty_like(torch.from_numpy(array), memory_format=torch.contiguous_format)
    out.numpy()[...] = array  # not by torch, whose threads would wait for each other over so little
    return out


_drawing = Lock()  # torch's random state belongs to the process, and a program may fit in several threads


@contextmanager
def seeded_torch(seed: int) -> Iterator[None]:
    """Inside, torch draws from ``seed``; after, its random state is as before."""
    import torch

    with _drawing, torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


@contextmanager
def torch_thread_limit(threads: int) -> Iterator[None]:
    """Inside, torch runs on so many threads, whatever was set before; after, on as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


if TYPE_CHECKING:
    import torch


@serializable("Network")
@dataclass(frozen=True)
class Network:
    """W2 relu(W1 x + b1) + b2, in float32.

    Parameters
    ----------
    hidden_weight : (hidden, inputs)
    hidden_bias : (hidden,)
    output_weight : (outputs, hidden)
    output_bias : (outputs,)
    """

    hidden_weight: F32
    hidden_bias: F32
    output_weight: F32
    output_bias: F32

    def __post_init__(self) -> None:
        layers = ((self.hidden_weight, self.hidden_bias), (self.output_weight, self.output_bias))
        for weight, bias in layers:
            if np.ndim(weight) != 2 or np.shape(bias) != np.shape(weight)[:1]:
                raise DataError("the layers of a network do not fit each other")
            if weight.dtype != np.float32 or bias.dtype != np.float32:
                raise DataError("the layers of a network are not in float32")
        if self.output_weight.shape[1] != self.hidden_weight.shape[0]:
            raise DataError("the layers of a network do not fit each other")

    @classmethod
    def of(cls, trained: torch.nn.Module) -> Network:
        """The weights of a ``torch.nn.Sequential`` of linear, ReLU and linear."""
        return cls(*(weights.detach().numpy().copy() for weights in trained.parameters()))

    def outputs(self, inputs: F32) -> F32:
        """Outputs (b, outputs) of a batch of inputs (b, inputs)."""
        takes = self.hidden_weight.shape[1]
        if inputs.shape[1] != takes:
            raise ValueError(f"the network takes {takes} inputs, not {inputs.shape[1]}")
        hidden: F32 = inputs @ self.hidden_weight.T
        hidden += self.hidden_bias
        np.maximum(hidden, 0, out=hidden)
        out: F32 = hidden @ self.output_weight.T
        out += self.output_bias
        return out

    @property
    def n_parameters(self) -> int:
        """How many numbers were trained."""
        return self.hidden_weight.size + self.hidden_bias.size + self.output_weight.size + self.output_bias.size
