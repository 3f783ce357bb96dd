"""Every method of conf/method as a class of its own: found by its yaml, made when it is asked for."""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any

from fairfr.core.conf import CONF
from fairfr.core.errors import ConfigError
from fairfr.library.model import Model


@cache
def targets() -> dict[str, str]:
    """Where each class lies, by its name: ``{"ACLinear": "fairfr.methods.ac_linear.ACLinear", ...}``."""
    import yaml

    found: dict[str, str] = {}
    for path in sorted((CONF / "method").rglob("*.yaml")):
        target = str(yaml.safe_load(path.read_text(encoding="utf-8"))["estimator"]["_target_"])
        name = target.rpartition(".")[2]
        assert found.setdefault(name, target) == target, f"two methods are called {name}"
    return found


@cache
def model_class(name: str) -> type[Model]:
    """``fairfr.<name>``; KeyError for a name that no yaml has."""
    module, _, cls = targets()[name].rpartition(".")
    return as_model(getattr(importlib.import_module(module), cls))


def as_model(method: type[Any]) -> type[Model]:
    """A model class of any method: a dataclass with ``needs``, ``native_probability``, ``fit`` and ``predict``."""
    if method not in _models:
        _models[method] = _make(method)
    return _models[method]


_models: dict[type[Any], type[Model]] = {}


def _make(method: type[Any]) -> type[Model]:
    if not (isinstance(method, type) and is_dataclass(method) and hasattr(method, "needs")):
        raise ConfigError(f"{method!r} is no method: a dataclass with needs, native_probability, fit and predict.")
    ours = method.__module__.partition(".")[0] == "fairfr"
    return type(
        method.__name__,
        (Model,),
        {
            "__init__": _constructor(method),
            "__doc__": _documentation(method),
            "__module__": "fairfr" if ours else method.__module__,
            "__signature__": inspect.Signature(_parameters(method)),
            "method_class": method,
            "needs": frozenset(method.needs),
        },
    )


def _constructor(method: type[Any]) -> Any:
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([own, *_parameters(method)])

    def __init__(self: Model, /, **parameters: Any) -> None:  # noqa: N807
        bound = signature.bind(self, **parameters)
        bound.apply_defaults()
        for name in signature.parameters:
            if name != "self":
                setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{method.__name__}.__init__"
    return __init__


def _parameters(method: type[Any]) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(f.name, kind, default=_default(f), annotation=f.type) for f in fields(method) if f.init]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default


def _documentation(method: type[Any]) -> str:
    """The method's card and its parameters."""
    card = inspect.getdoc(sys.modules[method.__module__]) or inspect.getdoc(method) or method.__name__
    lines = [f"{f.name} : {f.type}, default {_default(f)!r}" for f in fields(method) if f.init]
    needs = ", ".join(sorted(method.needs)) or "cosines alone"
    text = [card, f"Needs: {needs}. How models are fitted, used and saved: fairfr.Model."]
    return "\n\n".join([*text, "\n".join(["Parameters", "----------", *lines])] if lines else text)
