"""What a fitted method knows, as plain values and arrays: no code, so that it can be written to a file and read back.

A method's fitted attributes (their names end in ``_``) may be numbers, text, None, arrays, lists, tuples, mappings
and dataclasses marked with ``@serializable``, such as a beta map. For what another library made, such as a network, the
code that uses it registers a ``Codec``. ``encode`` turns a state into JSON and arrays, ``decode`` reads it back. Only
marked classes are ever made, whatever a file says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError
from fairfr.core.types import Pairs

JsonNode: TypeAlias = Any
"""Plain JSON: a scalar, or ``{kind: content}``."""
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

T = TypeVar("T")
DTYPES = ("bool", "uint8", "int16", "int32", "int64", "float32", "float64")

_classes: dict[str, type] = {}
_stored_names: dict[type, str] = {}
_codecs: dict[str, Codec] = {}


class Codec(NamedTuple):
    """How something of another library becomes what can be saved, and comes back.

    ``decode`` gets whatever a file says, and raises DataError where that is nonsense.
    """

    matches: Callable[[object], bool]
    encode: Callable[[Any], object]
    decode: Callable[[Any], object]


def register_codec(kind: str, codec: Codec) -> None:
    """Allow such a thing in fitted states; ``kind`` names it in files."""
    assert kind not in _READERS and kind != "piece"
    _codecs[kind] = codec


def serializable(stored_name: str) -> Callable[[type[T]], type[T]]:
    """Mark a dataclass as a part of fitted states. Files know it by ``stored_name``, also when the class is renamed."""

    def mark(cls: type[T]) -> type[T]:
        assert is_dataclass(cls), f"{cls.__name__} is not a dataclass"
        known = _classes.setdefault(stored_name, cls)
        assert known.__module__ == cls.__module__, f"{known.__module__} has a class that is stored as {stored_name}"
        _classes[stored_name] = cls
        _stored_names[cls] = stored_name
        return cls

    return mark


def field_names(name: str) -> list[str] | None:
    """The fields of the class that is stored under that name; None if there is none."""
    cls = _classes.get(name)
    return None if cls is None else [f.name for f in fields(cls) if f.init]


def encode(value: object, arrays: Arrays, at: str) -> JsonNode:
    """``value`` as JSON; its arrays go into ``arrays`` under names that begin with ``at``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, at)
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [encode(item, arrays, f"{at}.{i}") for i, item in enumerate(value)]}
    if isinstance(value, Mapping):
        return {"map": [[key, encode(item, arrays, f"{at}.{key}")] for key, item in value.items()]}
    stored_name = _stored_names.get(type(value))
    if stored_name is not None:
        content = {f.name: encode(getattr(value, f.name), arrays, f"{at}.{f.name}") for f in fields(value) if f.init}  # type: ignore[arg-type]
        return {"piece": stored_name, "fields": content}
    for kind, codec in _codecs.items():
        if codec.matches(value):
            return {kind: encode(codec.encode(value), arrays, at)}
    raise DataError(
        f"{at} is a {type(value).__name__}, which cannot be saved. Fitted state is made of numbers, text, arrays "
        "and dataclasses marked with fairfr.core.serialization.serializable."
    )


def decode(node: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The value that ``encode`` took apart; DataError for what it never wrote."""
    if node is None or isinstance(node, str | bool | int | float):
        return node
    if not isinstance(node, dict) or not node:
        raise _unknown(node)
    kind = next(iter(node))
    if kind == "piece":
        return _decode_object(node, arrays)
    if len(node) != 1 or kind not in {*_READERS, *_codecs}:
        raise _unknown(node)
    if kind in _codecs:
        return _codecs[kind].decode(decode(node[kind], arrays))
    return _READERS[kind](node[kind], arrays)


def _encode_array(value: npt.NDArray[Any], arrays: Arrays, at: str) -> JsonNode:
    if value.dtype.kind == "U":
        text = json.dumps(value.ravel().tolist()).encode()
        assert value.ndim == 1, f"{at}: text is kept in one dimension"
        arrays[at] = np.frombuffer(text, dtype=np.uint8)
        return {"names": at}
    if value.dtype.name not in DTYPES:
        raise DataError(f"{at} is an array of {value.dtype}, which cannot be saved. Use one of {', '.join(DTYPES)}.")
    arrays[at] = np.ascontiguousarray(value)
    return {"array": at}


def _read_array(name: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if not isinstance(name, str) or name not in arrays:
        raise DataError(f"the array {name!r} is missing")
    return arrays[name]


def _read_names(name: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.str_]:
    text = _read_array(name, arrays).tobytes()
    try:
        names = json.loads(text)
    except ValueError as error:
        raise DataError(f"the names {name!r} are not readable ({error})") from None
    if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise DataError(f"the names {name!r} are no list of text")
    return np.array(names, dtype=np.str_)


def _read_map(items: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[Any, Any]:
    if not isinstance(items, list) or not all(isinstance(i, list) and len(i) == 2 for i in items):
        raise _unknown(items)
    if not all(isinstance(key, str | int) for key, _ in items):
        raise _unknown(items)
    return {key: decode(item, arrays) for key, item in items}


def _read_list(items: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> list[Any]:
    if not isinstance(items, list):
        raise _unknown(items)
    return [decode(item, arrays) for item in items]


def _read_float(text: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise _unknown(text)
    return float(text)


def _decode_object(node: JsonNode, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    name, content = node.get("piece"), node.get("fields")
    cls = _classes.get(name) if isinstance(name, str) else None
    if cls is None or not isinstance(content, dict) or set(node) != {"piece", "fields"}:
        raise DataError(f"{name!r} is not a part of a fitted method that this version knows")
    expected = {f.name for f in fields(cls) if f.init}
    if set(content) != expected:
        raise DataError(f"a {name} has the fields {', '.join(sorted(expected))}, found {', '.join(sorted(content))}")
    values = {key: decode(item, arrays) for key, item in content.items()}
    hints = get_type_hints(cls)
    for key, value in values.items():
        if not _fits(value, hints[key]):
            raise DataError(f"{key} of a {name} cannot be {str(value)[:60]}")
    return cls(**values)


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of an annotated type; annotations that cannot be looked up at run time take any value."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Union or isinstance(hint, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, parts[0]) for item in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if origin is np.ndarray or hint in (bool, str, NoneType) or is_dataclass(hint):
        return isinstance(value, origin or hint)
    return True


_READERS: dict[str, Callable[[JsonNode, Mapping[str, npt.NDArray[Any]]], Any]] = {
    "array": _read_array,
    "names": _read_names,
    "map": _read_map,
    "list": _read_list,
    "tuple": lambda items, arrays: tuple(_read_list(items, arrays)),
    "float": _read_float,
}


serializable("Pairs")(Pairs)


def _unknown(node: JsonNode) -> DataError:
    return DataError(f"{json.dumps(node)[:60]} is nothing that fairfr writes")
