"""Every method of conf/method as a class of its own: found by its yaml, made when it is asked for."""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fairfr._methods import METHODS
from fairfr.core.config import CONF_DIR, configured_targets, dataclass_at
from fairfr.core.errors import ConfigError
from fairfr.library.model import Model, unknown_parameter


@cache
def method_targets() -> dict[str, str]:
    """Where each class lies, by its name: ``{"ACLinear": "fairfr.methods.ac_linear.ACLinear", ...}``."""
    import yaml

    found: dict[str, str] = {}
    for path in sorted((CONF_DIR / "method").rglob("*.yaml")):
        target = str(yaml.safe_load(path.read_text(encoding="utf-8"))["estimator"]["_target_"])
        name = target.rpartition(".")[2]
        assert found.setdefault(name, target) == target, f"two methods are called {name}"
    return found


@cache
def model_class(name: str) -> type[Model]:
    """``fairfr.<name>``; KeyError for a name that no yaml has.

    A yaml that is newer than the generated table of names counts too.
    """
    target = METHODS.get(name) or method_targets()[name]
    module, _, cls = target.rpartition(".")
    return as_model(getattr(importlib.import_module(module), cls))


def configured_class(name: str, config_dirs: tuple[Path, ...]) -> type[Any] | None:
    """The class of this name that a yaml in ``config_dirs`` gives a method, and none of ours; None if there is none."""
    for target in sorted(configured_targets(config_dirs) - configured_targets()):
        if target.rpartition(".")[2] == name:
            return dataclass_at(target, "method.estimator")
    return None


def as_model(method: type[Any]) -> type[Model]:
    """A model class of a method of your own.

    Parameters
    ----------
    method : type
        A dataclass with ``needs``, ``native_probability``, ``fit`` and ``predict``; a model class stays what it is.

    Returns
    -------
    type
        A subclass of ``Model`` with the method's name and parameters.
    """
    if isinstance(method, type) and issubclass(method, Model):
        return method
    if method not in _models:
        _models[method] = _make(method)
    return _models[method]


_models: dict[type[Any], type[Model]] = {}


def _make(method: type[Any]) -> type[Model]:
    if not (isinstance(method, type) and is_dataclass(method) and hasattr(method, "needs")):
        raise ConfigError(
            f"{method!r} is not a method, i.e. a dataclass with needs, native_probability, fit and predict."
        )
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
        known = [name for name in signature.parameters if name != "self"]
        for name in parameters:
            if name not in known:
                raise TypeError(unknown_parameter(method.__name__, name, known))
        bound = signature.bind(self, **parameters)
        bound.apply_defaults()
        for name in known:
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


PARAMETERS = "Parameters\n----------\n"


def _documentation(method: type[Any]) -> str:
    """The method's card, which is its module's docstring, and the parameters that its class's docstring explains."""
    own = inspect.getdoc(method) or method.__name__
    summary, _, explained = own.partition(PARAMETERS)
    card = inspect.getdoc(sys.modules[method.__module__]) or summary.strip()
    needs = ", ".join(sorted(method.needs)) or "cosines alone"
    text = [card, f"Needs: {needs}. How models are fitted, used and saved: fairfr.Model."]
    parameters = explained or "\n".join(
        f"{f.name} : {f.type}, default {_default(f)!r}" for f in fields(method) if f.init
    )
    if parameters:
        text.append(PARAMETERS + parameters)
    return "\n\n".join(text)
