"""Pickles whose parts lie about the memory they need: refused before anything is reserved or read."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pandas as pd
import pytest
from pandas._libs.internals import _unpickle_block
from pandas.core.internals.managers import BlockManager

Refusal: TypeAlias = Callable[[bytes], str]


class Reduces:
    """Pickles as a call of anything."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __reduce__(self) -> tuple[object, ...]:
        return self.parts


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


@pytest.mark.parametrize(
    ("length", "offset", "ends", "there"),
    [
        (2, 0, (0, 1, 99), None),
        (2, 0, (0, 3, 1), None),
        (2, 0, (-5, 1, 2), None),
        (2, 1, (0, 1, 2), None),
        (2**62, 2**62, (0, 1, 2), None),
        (-1, 0, (0, 1, 2), None),
        (2, 0, (0, 1, 2), b""),
        (2, 0, (0, 1, 3), None),
    ],
)
def test_texts_outside_their_buffer_are_refused(
    refusal: Refusal, length: int, offset: int, ends: tuple[int, ...], there: bytes | None
) -> None:
    """As pandas 3 keeps text; the characters are 'x', 'y' and a byte that is no UTF-8."""
    import pyarrow as pa

    state = ("large_string", length, 0, offset, [there, np.array(ends, "<i8").tobytes(), b"xy\xff"], [], None)
    content = pickle.dumps({"_pa_array": Reduces(pa.lib._restore_array, (state,))}, 3)[2:-1]
    data = b"\x80\x04\x8c\rpandas.arrays\x8c\x10ArrowStringArray\x93)\x81" + content + b"b."
    assert "an arrow array" in refusal(data)


@pytest.mark.parametrize("where", [slice(10**6, 10**6 + 1), slice(-5, -4), np.array([10**6]), np.array([-3])])
def test_blocks_outside_their_table_are_refused(refusal: Refusal, where: object) -> None:
    """pandas itself follows what the block says, and the process ends."""
    block = Reduces(_unpickle_block, (np.arange(6.0).reshape(1, 6), where, 2))
    manager = Reduces(BlockManager, ((block,), [pd.Index(["a"]), pd.RangeIndex(6)]))
    content = pickle.dumps({"_mgr": manager, "_typ": "dataframe"}, 3)[2:-1]
    data = b"\x80\x04\x8c\x06pandas\x8c\x09DataFrame\x93)\x81" + content + b"b."
    assert "a pandas.DataFrame" in refusal(data)


def test_tensor_outside_its_storage_is_refused(refusal: Refusal) -> None:
    import torch

    storage = torch.ones(4).__reduce_ex__(4)[1][0].__reduce__()
    for size, stride in (((8,), (1,)), ((4,), (2,)), ((10**9, 10**9), (0, 0))):
        rebuild = torch._utils._rebuild_tensor_v2
        value = Reduces(rebuild, (Reduces(*storage), 0, size, stride, False, {}))
        assert "a torch tensor of size" in refusal(pickle.dumps(value))
