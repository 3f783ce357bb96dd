"""Pickles of vectors come in as they are; pickles that want anything else do not run."""

from __future__ import annotations

import functools
import io
import os
import pickle
import struct
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pytest

from fairfr.data.importers.unpickle import restricted
from fairfr.data.importers.unpickle.arrays import Array
from fairfr.data.importers.unpickle.stand_ins import Refused

Load: TypeAlias = Callable[[bytes], object]
Refusal: TypeAlias = Callable[[bytes], str]
RNG = np.random.default_rng(0)
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "array",
    [
        RNG.normal(size=7).astype("f4"),
        RNG.normal(size=(1, 5)).astype("f2"),
        np.asfortranarray(RNG.normal(size=(3, 4))),
        RNG.normal(size=4).astype(">f8"),
        np.array(["a", "ünï"]),
        np.array([True, False]),
        np.empty((0, 3), "f4"),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_keep_values_and_type(load: Load, array: np.ndarray, protocol: int) -> None:
    found = load(pickle.dumps({"k": array, "again": array}, protocol))
    assert isinstance(found, dict)
    for value in found.values():
        assert value.dtype == array.dtype
        np.testing.assert_array_equal(value, array)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_containers_and_scalars(load: Load, protocol: int) -> None:
    value = {"a": [1, (2.5, None), {"b"}, b"x"], "s": np.float32(0.5), "o": OrderedDict(z=1), "big": 10**30}
    found = load(pickle.dumps(value, protocol))
    assert found == value
    filled: defaultdict[str, list[int]] = defaultdict(list, {"x": [1]})
    assert load(pickle.dumps(filled, protocol)) == {"x": [1]}


def test_arrays_of_objects_are_followed(load: Load) -> None:
    array = np.empty(2, object)
    array[0], array[1] = np.arange(3.0), "text"
    found = load(pickle.dumps(array))
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found[0], [0, 1, 2])
    assert found[1] == "text"


@pytest.mark.parametrize("protocol", PROTOCOLS[2:])
def test_tensors_come_as_arrays(load: Load, protocol: int) -> None:
    import torch

    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    tensors = {
        "plain": base[:1].clone(),
        "slice": base[1:3, ::2],
        "transposed": base.T,
        "half": base.to(torch.float16),
        "double": base.double(),
        "brain": base.to(torch.bfloat16),
        "parameter": torch.nn.Parameter(base.clone()),
        "whole": torch.arange(3),
    }
    found = load(pickle.dumps(tensors, protocol))
    assert isinstance(found, dict)
    for name, tensor in tensors.items():
        expected = tensor.detach().to(torch.float32).numpy() if name == "brain" else tensor.detach().numpy()
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
        assert found[name].dtype == expected.dtype, name


def test_torch_is_not_needed_for_tensors(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    data = pickle.dumps({"k": torch.ones(1, 3)})
    monkeypatch.setitem(sys.modules, "torch", None)
    found = load(data)
    assert isinstance(found, dict)
    np.testing.assert_array_equal(found["k"], np.ones((1, 3), "f4"))


class Reduces:
    """Pickles as a call of anything."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __reduce__(self) -> tuple[object, ...]:
        return self.parts


def _named(module: str, name: str, *arguments: str) -> bytes:
    """A pickle that calls ``module.name`` without importing it here; protocol 4 names may hold dots."""
    text = b"".join(b"\x8c" + bytes([len(part)]) + part.encode() for part in (module, name))
    given = b"".join(b"\x8c" + bytes([len(part)]) + part.encode() for part in arguments)
    return b"\x80\x04" + text + b"\x93(" + given + b"tR."


HOSTILE = {
    "os.system": _named("os", "system", "touch hacked"),
    "posix.system": pickle.dumps(Reduces(os.system, ("touch hacked",))),
    "builtins.eval": _named("builtins", "eval", "open('hacked', 'w')"),
    "builtins.exec": _named("builtins", "exec", "open('hacked', 'w')"),
    "builtins.getattr": _named("builtins", "getattr", "x", "y"),
    "builtins.__import__": _named("builtins", "__import__", "os"),
    "__builtin__.eval": b"c__builtin__\neval\n(Vopen('hacked','w')\ntR.",
    "functools.partial": pickle.dumps(Reduces(functools.partial, (os.getcwd,))),
    "numpy.load": _named("numpy", "load", "x.npy"),
    "numpy.f2py.compile": _named("numpy", "f2py.compile"),
    "numpy.f2py.diagnose.run_command": _named("numpy.f2py.diagnose", "run_command", "touch hacked"),
    "numpy.dtype.__init__.__globals__": _named("numpy", "dtype.__init__.__globals__"),
    "numpy.testing._private.utils.runstring": _named("numpy.testing._private.utils", "runstring", "1"),
    "torch.load": _named("torch", "load", "x.pt"),
    "torch.storage.torch.load": _named("torch.storage", "torch.load"),
    "torch._utils.torch": _named("torch._utils", "torch"),
    "pandas.read_pickle": _named("pandas", "read_pickle", "x.pkl"),
    "pandas.eval": _named("pandas", "eval", "1"),
    "pandas.core.frame.DataFrame.__init__.__globals__": _named("pandas.core.frame", "DataFrame.__init__.__globals__"),
    "collections.namedtuple": _named("collections", "namedtuple", "x", "y"),
    "collections.OrderedDict.__init_subclass__": _named("collections", "OrderedDict.__init_subclass__"),
    "copyreg._reconstructor": _named("copyreg", "_reconstructor"),
    "_codecs.lookup": _named("_codecs", "lookup", "x"),
    "hostile_module_that_is_nowhere.f": _named("hostile_module_that_is_nowhere", "f"),
    "sklearn.cluster.KMeans": _named("sklearn.cluster", "KMeans"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_anything_else_is_refused_by_name(
    refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    message = refusal(HOSTILE[name])
    assert "refused" in message
    assert f"'{name}'" in message
    assert os.listdir(tmp_path) == ["file.pickle"]


def test_no_module_of_the_file_is_imported(refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "planted_module.py").write_text("raise SystemExit('ran')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "'planted_module.f'" in refusal(_named("planted_module", "f"))
    assert "planted_module" not in sys.modules


def test_hostile_parts_deep_inside_are_refused(refusal: Refusal) -> None:
    array = np.empty(1, object)
    array[0] = Reduces(os.system, ("touch hacked",))
    for value in ({"k": [array]}, pd.DataFrame({"embedding": array})):
        assert "system'" in refusal(pickle.dumps(value))


def test_hostile_torch_storage_is_refused(refusal: Refusal) -> None:
    """torch's own function loads the inner bytes with everything allowed."""
    inner = pickle.dumps(Reduces(os.system, ("touch hacked",)))
    length = struct.pack("<I", len(inner))
    data = b"\x80\x04\x8c\rtorch.storage\x8c\x10_load_from_bytes\x93B" + length + inner + b"\x85R."
    message = refusal(data)
    assert "refused" in message
    assert "posix.system" in message


def test_stand_ins_cannot_be_changed(load: Load, refusal: Refusal) -> None:
    """A pickle may set attributes of whatever it was given: here there is nothing to set."""
    slots = b"N}\x8c\x08finished\x8c\x01xs\x86b."
    for module, name in restricted.ALLOWED:
        named = b"\x80\x04\x8c" + bytes([len(module)]) + module.encode() + b"\x8c" + bytes([len(name)]) + name.encode()
        refusal(named + b"\x93" + slots)
    with pytest.raises(Refused):
        Array.finished = None  # type: ignore[method-assign, assignment]
    found = load(pickle.dumps(np.arange(3)))
    np.testing.assert_array_equal(found, np.arange(3))  # type: ignore[arg-type]


def test_files_of_torch_save_are_named_as_such(refusal: Refusal) -> None:
    import torch

    for new in (False, True):
        stream = io.BytesIO()
        torch.save({"k": torch.ones(3)}, stream, _use_new_zipfile_serialization=new)
        message = refusal(stream.getvalue())
        assert ("zip archive" if new else "torch.save") in message
    assert "torch.save" in refusal(b"\x80\x04\x8c\x01xQ.")


def test_endless_nesting_is_refused(refusal: Refusal) -> None:
    assert "in each other" in refusal(b"\x80\x04" + b"]" * 5000 + b"a" * 4999 + b".")
    assert "DataError" in refusal(b"\x80\x04]\x94h\x00a.")


def test_shared_parts_do_not_multiply(load: Load) -> None:
    value: list[object] = []
    for _ in range(40):
        value = [value, value]
    assert isinstance(load(pickle.dumps(value)), list)


def test_files_cut_anywhere_say_so(refusal: Refusal) -> None:
    data = pickle.dumps({"table": pd.DataFrame({"p": ["a", "b"]}), "row": RNG.normal(size=8)})
    for cut in range(1, len(data)):
        assert "cut short" in refusal(data[:cut])


def test_names_in_a_refusal_cannot_steer_the_terminal(refusal: Refusal) -> None:
    message = refusal(_named("\x1b[2Jos", "system"))
    assert message.isprintable()


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "0 bytes"),
        (b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x", "DataError"),
        (b"image,vector\n1,2\n", "not a readable pickle"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-lfs"),
    ],
)
def test_other_files_are_named(refusal: Refusal, data: bytes, word: str) -> None:
    assert word in refusal(data)
