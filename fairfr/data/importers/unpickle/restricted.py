"""Read a pickle without running what is in it.

A pickle is a program: it may name any function, call it, and give the result any state. Here it gets only what plain
containers, numpy arrays, pandas tables and torch tensors are rebuilt from, by exact name, and even these are stand-ins
of this package (``stand_ins``), which check all sizes before real arrays (``arrays``) and tables (``frames``) are made.

Why not an allow-list over the libraries' own rebuilders, a fifth of this code? Because these trust the state that the
file gives them. Tried with numpy 2.4 and pandas 3.1:

* ``numpy.dtype`` and ``numpy.ndarray`` alone suffice for an array of Python objects whose pointers are bytes of the
  file: a dtype of objects with the flags of one without. The first look at it ends the process; a chosen address would
  run code. ``_reconstruct`` reserves whatever shape it is given.
* A pandas block says which columns it holds, and compiled code follows it unchecked: a block at column 1 000 000 of a
  table of one column ends the process too.
* Whatever is handed out can be changed by the BUILD opcode: defaults of ``_new_Index``, for the rest of the process.
* ``torch.storage._load_from_bytes`` is ``torch.load`` with everything allowed.

Each could be caught before it reaches the library, but then all states are parsed here as well. It would also read only
what the installed pandas can: stand-ins read tables of pandas 1 to 3 with either.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from fairfr.core.errors import DataError
from fairfr.data.files import DataFile, looks_like
from fairfr.data.importers._memory import bounded_memory
from fairfr.data.importers.unpickle import arrays, frames
from fairfr.data.importers.unpickle.stand_ins import Call, Name, Refused, Sealed, finished

_REMEDY = "Only plain containers, numpy arrays, pandas tables and torch tensors are read: save it again as these."


def load_restricted(path: Path) -> object:
    """What the pickle at ``path`` holds; tensors come as numpy arrays. DataError if it asks for anything else."""
    data = DataFile.at(path).read()
    found = looks_like(data)
    if found not in (None, "a pickle"):
        raise DataError(f"{path} is not a pickle: it is {found}. Give it the ending of what it is.")
    if b"pandas" in data:
        import pandas  # noqa: F401 - before memory is bounded: the library itself takes some
    try:
        with bounded_memory(len(data)):
            value = finished(_Restricted(io.BytesIO(data), encoding="latin1").load())
    except Refused as refused:
        raise DataError(
            f"{path}: refused, because this pickle asks for {refused}. {_REMEDY} If you trust the file, "
            "open it yourself and save its vectors with np.savez(path, image=ids, vectors=vectors)."
        ) from None
    except (MemoryError, RecursionError) as error:
        raise DataError(f"{path}: this pickle asks for too much ({type(error).__name__}). {_REMEDY}") from None
    except Exception as error:  # the bytes decide which of many errors a broken pickle ends in
        raise DataError(
            f"{path} is not a readable pickle: it is damaged, cut short or something else "
            f"({type(error).__name__}: {str(error)[:100]}). Copy or export it again."
        ) from None
    if type(value) is int and value == arrays.TORCH_MAGIC:
        raise DataError(f"{path} was written by torch.save in its old form, which is read as vectors only.")
    return value


class _Restricted(pickle.Unpickler):
    """Knows a fixed list of names and imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise Refused(repr(f"{module}.{name}"[:200])) from None  # repr: the name is the file's own text

    def persistent_load(self, pid: Any) -> NoReturn:
        raise Refused("an object kept outside the pickle, as torch.save does")


def _encode(text: object, encoding: object = "latin1") -> bytes:
    """Bytes as old protocols spell them."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise Refused("'_codecs.encode' of something other than bytes")
    return text.encode("latin1")


def _bytes(content: object = b"", *encoding: object) -> bytes:
    # never a number: it would reserve that many bytes
    return bytes(content) if isinstance(content, bytes | bytearray) else _encode(content, *encoding)


def _dict(*content: Any) -> dict[Any, Any]:
    return dict(content[0]) if content and isinstance(content[0], list | dict) else {}


def _collection(kind: type[Any]) -> Call:
    def make(content: Any = ()) -> Any:
        if not isinstance(content, list | tuple):
            raise Refused(f"{kind.__name__} of {type(content).__name__}")
        return kind(content)

    return Call(make)


_BUILTINS: Mapping[str, Any] = {
    "slice": slice,
    "bytearray": Call(_bytes),
    "bytes": Call(_bytes),
    "set": _collection(set),
    "frozenset": _collection(frozenset),
    **{name: Name(name) for name in ("list", "dict", "int", "float", "str", "object")},
}
ALLOWED: Mapping[tuple[str, str], Call | Name | Sealed | type[slice]] = {
    **{(module, name): value for module in ("builtins", "__builtin__") for name, value in _BUILTINS.items()},
    ("collections", "OrderedDict"): Call(_dict),
    ("collections", "defaultdict"): Call(lambda *_: {}),
    ("_codecs", "encode"): Call(_encode),
    ("torch", "Size"): Call(tuple),
    **arrays.ALLOWED,
    **frames.ALLOWED,
}
