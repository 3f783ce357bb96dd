"""Rebuild numpy arrays and torch tensors from their pickled state, as numpy arrays and without torch."""

from __future__ import annotations

import io
import math
import pickle
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.data.importers.unpickle.stand_ins import Call, Name, Pending, Refused, Sealed

_PLAIN = re.compile(r"[biufSU]\d{1,9}|O8?|O4")
_TORCH_TYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "?",
    "BFloat16Storage": "bfloat16",
}
TORCH_MAGIC = 0x1950A86A20F9469CFC6C


class Dtype(Pending):
    """``numpy.dtype``: numbers, text and objects; nothing structured, whose state could lie about the memory."""

    __slots__ = ("_spec",)
    _spec: str

    def __init__(self, spec: object = "", *_: object) -> None:
        super().__init__()
        if not isinstance(spec, str) or not _PLAIN.fullmatch(spec):
            raise Refused(f"numpy.dtype({spec!r:.40})")
        self._spec = spec

    def real(self) -> np.dtype[Any]:
        if self._spec.startswith("O"):
            return np.dtype(object)
        state = self.state
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else "="
        if order not in ("<", ">", "|", "="):
            raise Refused(f"a numpy.dtype of byte order {order!r:.20}")
        return np.dtype(str(order) + self._spec)

    def finished(self, finish: Callable[[Any], Any]) -> np.dtype[Any]:
        return self.real()


class Array(Pending):
    """``numpy.ndarray``: its state is (version, shape, dtype, whether in Fortran order, bytes or list)."""

    __slots__ = ()

    def finished(self, finish: Callable[[Any], Any]) -> npt.NDArray[Any]:
        if not isinstance(self.state, tuple) or len(self.state) != 5:
            raise Refused("a numpy.ndarray without content")
        _, shape, dtype, fortran, content = self.state
        if isinstance(content, list):
            # most are text or numbers, by the million in a table
            content = [item if type(item) in (str, int, float, bool) else finish(item) for item in content]
        return _array(content, _dtype(dtype), shape, "F" if fortran else "C")


def _dtype(dtype: object) -> np.dtype[Any]:
    if not isinstance(dtype, Dtype):
        raise Refused(f"a numpy.ndarray of {type(dtype).__name__}")
    return dtype.real()


def _array(content: object, dtype: np.dtype[Any], shape: Any, order: Any) -> npt.NDArray[Any]:
    """The array of ``shape``; sizes are checked before anything is reserved."""
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape) or order not in ("C", "F"):
        raise Refused(f"a numpy.ndarray of shape {shape!r:.60}")
    count = math.prod(shape)
    if dtype.hasobject:
        if not isinstance(content, list) or len(content) != count:
            raise Refused("a numpy.ndarray of objects that does not list them")
        return np.fromiter(content, dtype=object, count=count).reshape(shape, order=order)
    if isinstance(content, str):  # bytes that Python 2 wrote
        content = content.encode("latin1")
    if not isinstance(content, bytes | bytearray) or len(content) != count * dtype.itemsize:
        raise Refused(f"a numpy.ndarray of shape {shape!r:.60} without the bytes for it")
    if not len(content):
        return np.empty(shape, dtype)
    return np.frombuffer(bytes(content), dtype).reshape(shape, order=order)


def _from_buffer(content: object, dtype: object, shape: object, order: object, *_: object) -> npt.NDArray[Any]:
    return _array(content, _dtype(dtype), shape, order)


def _scalar(dtype: object, content: object = b"") -> Any:
    return _array(content, _dtype(dtype), (), "C")[()]


class _StorageReader(pickle.Unpickler):
    """Reads the parts of one pickled torch storage: they name the storage's type and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in _TORCH_TYPES:
            return Name(name)
        raise Refused(repr(f"{module}.{name}"[:200]))

    def persistent_load(self, pid: Any) -> Any:
        return pid


def _storage(content: object) -> npt.NDArray[Any]:
    """The values (n,) of a storage: five pickles, then n as 8 bytes, then the values."""
    if not isinstance(content, bytes | bytearray):
        raise Refused("a torch storage without bytes")
    stream = io.BytesIO(content)
    magic, _, system, described, _ = (_StorageReader(stream).load() for _ in range(5))
    if magic != TORCH_MAGIC or not isinstance(system, dict) or system.get("little_endian") is not True:
        raise Refused("a torch storage in a form other than torch's own for pickles")
    if not isinstance(described, tuple) or len(described) < 5 or not isinstance(described[1], Name):
        raise Refused("a torch storage without a type")
    numpy_type = _TORCH_TYPES[described[1].text]  # type: ignore[attr-defined]
    dtype = np.dtype("<u2" if numpy_type == "bfloat16" else numpy_type)
    count = int.from_bytes(stream.read(8), "little")
    values = np.frombuffer(stream.read(), dtype)
    if count != described[4] or len(values) != count:
        raise Refused(f"a torch storage of {count} values with {len(values)} of them")
    return (values.astype(np.uint32) << 16).view(np.float32) if numpy_type == "bfloat16" else values


def _tensor(storage: object, offset: object, size: object, stride: object, *_: object) -> npt.NDArray[Any]:
    """A tensor as an array; what lies outside its storage, or repeats it beyond its size, is refused."""
    numbers = (offset, *_whole(size), *_whole(stride))
    if not isinstance(storage, np.ndarray) or storage.ndim != 1 or not all(type(n) is int and n >= 0 for n in numbers):
        raise Refused("a torch tensor without its storage, size and stride")
    shape, steps, start = _whole(size), _whole(stride), int(numbers[0])
    last = start + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    count = math.prod(shape)
    if count and (last >= len(storage) or count > len(storage)):
        raise Refused(f"a torch tensor of size {shape} in a storage of {len(storage)}")
    if not count:
        return np.empty(shape, storage.dtype)
    strides = tuple(step * storage.itemsize for step in steps)
    return np.lib.stride_tricks.as_strided(storage[start:], shape, strides, writeable=False).copy()


def _whole(value: object) -> tuple[Any, ...]:
    if not isinstance(value, tuple) or len(value) > 8:
        raise Refused("a torch tensor of no known size")
    return value


ALLOWED: Mapping[tuple[str, str], Call | Name | Sealed] = {
    ("numpy", "ndarray"): Name("numpy.ndarray"),
    ("numpy", "dtype"): Dtype,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): Call(lambda *_: Array()) for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): Call(_scalar) for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): Call(_from_buffer) for core in ("core", "_core")},
    ("torch._utils", "_rebuild_tensor_v2"): Call(_tensor),
    ("torch._utils", "_rebuild_tensor"): Call(_tensor),
    ("torch._utils", "_rebuild_parameter"): Call(lambda data, *_: data),
    ("torch.storage", "_load_from_bytes"): Call(_storage),
}
