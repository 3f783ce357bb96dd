"""What a method writes by mistake: a function used as if it were the value that it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

from fairfr.core.errors import MethodError

F = TypeVar("F", bound=Callable[..., Any])
USES_OF_A_VALUE = ("__getitem__", "__iter__", "__len__", "__array__", "__eq__", "__lt__", "__gt__", "__matmul__")


def must_be_called(example: str) -> Callable[[F], F]:
    """Decorate a method of an object that methods are handed: without its brackets, it says how it is called.

    Parameters
    ----------
    example : str
        The call, such as ``view.groups('gender')``.
    """

    def decorate(function: F) -> F:
        return cast(F, _MustBeCalled(function, example))

    return decorate


class _MustBeCalled:
    """In the place of a function of a class."""

    def __init__(self, function: Callable[..., Any], example: str) -> None:
        self.function = function
        self.example = example
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __get__(self, owner: object, kind: type[Any]) -> Any:
        if owner is None:
            return self.function
        return _Uncalled(self.function, owner, self.example)


class _Uncalled:
    """A function of an object, to be called; all that one does with an array is a MethodError."""

    def __init__(self, function: Callable[..., Any], owner: object, example: str) -> None:
        self._function = function
        self._owner = owner
        self._example = example

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function(self._owner, *arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _refuse(self)


def _refuse(uncalled: _Uncalled, *_: object, **__: object) -> NoReturn:
    what = uncalled._example.partition("(")[0]
    raise MethodError(f"{what} is used as a value, and is a function. Call it: {uncalled._example}.")


for name in USES_OF_A_VALUE:
    setattr(_Uncalled, name, _refuse)
