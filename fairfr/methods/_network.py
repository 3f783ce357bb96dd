"""A trained network with one hidden layer, as plain arrays: it predicts, is saved and is loaded without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.serialization import serializable
from fairfr.core.types import F32

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
