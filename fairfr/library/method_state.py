"""The fitted state of a method: its attributes whose names end in ``_``."""

from __future__ import annotations

from typing import Any

from fairfr.core.calibrator import Calibrator
from fairfr.core.config import from_mapping
from fairfr.core.errors import DataError
from fairfr.core.serialization import Arrays, JsonNode, decode, encode


def encode_method(method: Calibrator) -> tuple[JsonNode, Arrays]:
    """The fitted state as JSON and arrays; DataError for a state that cannot be saved."""
    arrays: Arrays = {}
    return {name: encode(value, arrays, name) for name, value in fitted_state(method).items()}, arrays


def fitted_state(method: Calibrator) -> dict[str, Any]:
    """By the names of the attributes. Those that begin with ``_`` are shortcuts, not state."""
    return {name: value for name, value in vars(method).items() if name.endswith("_") and not name.startswith("_")}


def decode_method(cls: type[Any], parameters: dict[str, Any], state: JsonNode, arrays: Arrays) -> Calibrator:
    """A fitted method from what ``encode_method`` gave."""
    method: Calibrator = from_mapping(cls, parameters)
    if not isinstance(state, dict) or not all(name.endswith("_") and not name.startswith("_") for name in state):
        raise DataError("the fitted state is not a mapping of attributes")
    for name, node in state.items():
        setattr(method, name, decode(node, arrays))
    return method


def detached_copy(method: Calibrator) -> Calibrator:
    """The method as a file would give it back: nothing left of its table, arrays laid out as in the file.

    A state that cannot be saved is left as it is; ``save`` will say why.
    """
    try:
        state, arrays = encode_method(method)
    except DataError:
        return method
    copies = {name: array.copy() for name, array in arrays.items()}
    return decode_method(type(method), parameters_of(method), state, copies)


def parameters_of(method: Calibrator) -> dict[str, Any]:
    """Constructor fields by name."""
    from dataclasses import fields

    return {field.name: getattr(method, field.name) for field in fields(method) if field.init}  # type: ignore[arg-type]
