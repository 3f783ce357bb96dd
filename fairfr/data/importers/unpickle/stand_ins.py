"""What a restricted unpickler hands out instead of the classes and functions that a pickle names.

A pickle decides what is called with which arguments and what state the results are given. Here all of that goes to code
of this package alone: no state from a file reaches the internals of numpy, pandas or torch (whose own rebuilding
trusts it), and nothing that is handed out can be changed by the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class Refused(Exception):  # noqa: N818 - not an error of ours: what the file asks for is not done
    """The file asks for something that is not done; the text says what."""


class Sealed(type):
    """Classes that a pickle cannot change through their attributes."""

    def __setattr__(cls, name: str, value: object) -> NoReturn:
        raise Refused(f"the change of {cls.__name__}.{name}")


class Call(metaclass=Sealed):
    """A function for a pickle to call: it has no attributes to set, unlike a function."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        object.__setattr__(self, "_function", function)

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise Refused(f"the change of {name}")

    def __setstate__(self, state: object) -> NoReturn:
        raise Refused("the change of a function")


class Name(metaclass=Sealed):
    """A class that a pickle only mentions, e.g. as the kind of an index; it cannot be called."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "text", text)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise Refused(f"the change of {name}")

    def __setstate__(self, state: object) -> NoReturn:
        raise Refused(f"the change of {self.text}")  # type: ignore[attr-defined]


class Missing(Name):
    """A missing value that is an object of its own; it becomes None."""

    __slots__ = ()


class Pending(metaclass=Sealed):
    """Something still without its content: a pickle first makes an object and then gives it its state."""

    __slots__ = ("state",)
    state: Any

    def __init__(self, *args: Any) -> None:
        self.state = args[0] if args else None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def finished(self, finish: Callable[[Any], Any]) -> Any:
        """The real thing; ``finish`` turns parts that are pending themselves into theirs."""
        raise NotImplementedError


MAX_DEPTH = 50


def finished(value: Any) -> Any:
    """``value`` with everything pending in it made real. Shared parts are visited once."""
    done: dict[int, Any] = {}

    def finish(part: Any, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise Refused(f"more than {MAX_DEPTH} containers in each other")
        if id(part) in done:
            return done[id(part)]
        result = _finish_one(part, lambda inner: finish(inner, depth + 1))
        if isinstance(part, dict | list | tuple | set | frozenset | Pending):
            done[id(part)] = result
        return result

    return finish(value)


def _finish_one(part: Any, finish: Callable[[Any], Any]) -> Any:
    if isinstance(part, Pending):
        return part.finished(finish)
    if type(part) is dict:
        return {finish(key): finish(value) for key, value in part.items()}
    if type(part) in (list, tuple, set, frozenset):
        return type(part)(finish(item) for item in part)
    if isinstance(part, Missing):
        return None
    if isinstance(part, Call | Name | Sealed):
        raise Refused("a class or function as a value")
    return part
