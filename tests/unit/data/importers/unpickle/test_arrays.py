"""Pickles whose parts lie about the memory they need: refused before anything is reserved or read."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

Refusal: TypeAlias = Callable[[bytes], str]


def _array_state(spec: str, flags: int, shape: tuple[int, ...], content: object) -> bytes:
    class Dtype:
        def __reduce__(self) -> tuple[object, ...]:
            return np.dtype, (spec, False, True), (3, "|", None, None, None, -1, -1, flags)

    class Array:
        def __reduce__(self) -> tuple[object, ...]:
            made = np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b")
            return *made, (1, shape, Dtype(), False, content)

    # without memory of a real dtype, so that the state is taken as written
    return pickle.dumps(Array())


@pytest.mark.parametrize(
    ("spec", "flags", "shape", "content"),
    [
        ("O8", 0, (2,), b"\x01" * 16),
        ("f4", 0, (10**12,), b""),
        ("f4", 0, (-1,), b"\0" * 4),
        ("f4", 0, (2,), b"\0" * 4),
        ("V8", 0, (1,), b"\0" * 8),
        ("f4,O", 0, (1,), b"\0" * 12),
    ],
)
def test_states_that_lie_about_memory_are_refused(
    refusal: Refusal, spec: str, flags: int, shape: tuple[int, ...], content: bytes
) -> None:
    assert "refused" in refusal(_array_state(spec, flags, shape, content))


def test_tensor_outside_its_storage_is_refused(refusal: Refusal, reduces: type[Any]) -> None:
    import torch

    storage = torch.ones(4).__reduce_ex__(4)[1][0].__reduce__()
    for size, stride in (((8,), (1,)), ((4,), (2,)), ((10**9, 10**9), (0, 0))):
        rebuild = torch._utils._rebuild_tensor_v2
        value = reduces(rebuild, (reduces(*storage), 0, size, stride, False, {}))
        assert "a torch tensor of size" in refusal(pickle.dumps(value))
