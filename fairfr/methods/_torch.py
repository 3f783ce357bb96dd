"""What networks hand to torch, so that a fit does not depend on what ran before it in the process.

Two things may change the last bits of a product, and training carries them on: where in memory an array of numpy's
happens to lie, and the number of threads, which a library, or another method, may have left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

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
