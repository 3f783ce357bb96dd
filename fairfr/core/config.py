"""Find conf/, and turn a plain mapping into a typed settings object, or say which key is wrong.

The one place where configuration is checked: unknown keys, missing keys and values of the wrong type all become a
ConfigError that names the key as it is written on the command line.
"""

from __future__ import annotations

import importlib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fairfr.core.errors import ConfigError, did_you_mean

PACKAGE = Path(__file__).parents[1]
# a wheel has the configurations inside the package, a checkout has them beside it
CONF_DIR = next(folder for folder in (PACKAGE / "conf", PACKAGE.parent / "conf") if (folder / "config.yaml").is_file())


T = TypeVar("T")


def from_mapping(cls: type[T], mapping: object, at: str = "") -> T:
    """An instance of the dataclass ``cls`` from ``mapping``; ``at`` is the dotted key that it is under."""
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{at or 'the configuration'} must be a mapping of keys, found {mapping!r}.")
    assert is_dataclass(cls)
    hints = type_hints(cls)
    known = {f.name: f for f in fields(cls) if f.init}
    for key in mapping:
        if key not in known:
            raise ConfigError(f"unknown key '{_join(at, key)}'.{did_you_mean(str(key), known)}")
    values = {}
    for name, spec in known.items():
        if name in mapping:
            values[name] = conform(mapping[name], hints[name], _join(at, name))
        elif spec.default is MISSING and spec.default_factory is MISSING:
            raise ConfigError(f"'{_join(at, name)}' is not set. Set it on the command line or in its yaml.")
    return cls(**values)


def from_file(cls: type[T], stored: object, at: str = "") -> T:
    """As ``from_mapping``, for what a file has that fairfr wrote: keys that only another version knows are left out."""
    if not isinstance(stored, Mapping):
        raise ConfigError(f"{at or 'the content'} is no mapping of keys")
    assert is_dataclass(cls)
    hints = type_hints(cls)
    values = {}
    for spec in fields(cls):
        if spec.name in stored:
            values[spec.name] = conform(stored[spec.name], hints[spec.name], _join(at, spec.name), from_file)
        elif spec.default is MISSING and spec.default_factory is MISSING:
            raise ConfigError(f"'{_join(at, spec.name)}' is missing")
    return cls(**values)


@cache
def type_hints(cls: type[Any]) -> dict[str, Any]:
    """The annotations of a class, which are text, as types: to look them up takes longer than to check a value."""
    return typing.get_type_hints(cls)


def conform(value: object, hint: Any, at: str, make: Callable[..., Any] = from_mapping) -> Any:
    """``value`` as the annotated type, or a ConfigError that names the key ``at``.

    ``make``: ``from_mapping`` or ``from_file``, for dataclasses in it.
    """
    if hint is Any or hint is object:
        return value
    if hint in (str, int, float, bool):
        return _conform_scalar(value, hint, at)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Union or isinstance(hint, types.UnionType):
        return _coerce_union(value, typing.get_args(hint), at, make)
    if origin is typing.Literal:
        if value not in args:
            raise ConfigError(f"{at}={value} is not one of {', '.join(map(str, args))}.")
        return value
    if is_dataclass(hint) and isinstance(hint, type):
        return make(hint, value, at)
    if origin is tuple:
        return _conform_list(value, args[0], at, make)
    if origin in (dict, Mapping) or hint is dict:
        return _conform_mapping(value, args[-1:], at, make)
    if hint is Path and isinstance(value, str):
        return Path(value)
    return _conform_scalar(value, hint, at)


def _conform_list(value: object, hint: Any, at: str, make: Callable[..., Any]) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong_type(value, "a list", at)
    return tuple(conform(v, hint, f"{at}[{i}]", make) for i, v in enumerate(value))


def _conform_mapping(value: object, hints: tuple[Any, ...], at: str, make: Callable[..., Any]) -> dict[str, Any]:
    """``hints``: the annotation of its values, if there is one."""
    if not isinstance(value, Mapping):
        raise _wrong_type(value, "a mapping", at)
    if hints in ((), (Any,)):
        return {str(k): v for k, v in value.items()}
    return {str(k): conform(v, hints[0], _join(at, k), make) for k, v in value.items()}


def _coerce_union(value: object, options: tuple[Any, ...], at: str, make: Callable[..., Any]) -> Any:
    if value is None and type(None) in options:
        return None
    rest = [o for o in options if o is not type(None)]
    for option in rest[:-1]:
        try:
            return conform(value, option, at, make)
        except ConfigError:
            continue
    return conform(value, rest[-1], at, make)


def _conform_scalar(value: object, hint: Any, at: str) -> Any:
    # bool is an int to Python, but not to a person who typed seed=true
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint is float and is_number:
        return float(typing.cast(float, value))
    if hint is int and is_number and isinstance(value, int):
        return value
    if hint in (str, bool) and isinstance(value, hint):
        return value
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    raise _wrong_type(value, names.get(hint, str(hint)), at)


def _wrong_type(value: object, wanted: str, at: str) -> ConfigError:
    found = "nothing (null)" if value is None else f"{value!r} ({type(value).__name__})"
    return ConfigError(f"{at} must be {wanted}, found {found}.")


def _join(at: str, key: object) -> str:
    return f"{at}.{key}" if at else str(key)


def instantiate(spec: Mapping[str, Any], at: str) -> Any:
    """The object that a ``_target_`` mapping describes, its other keys checked against the class's fields."""
    rest = dict(spec)
    target = rest.pop("_target_", None)
    if not isinstance(target, str):
        raise ConfigError(f"'{at}._target_' must name a class, such as fairfr.methods.platt.Platt; found {target!r}.")
    try:
        return from_mapping(dataclass_at(target, at), rest, at)
    except SystemExit as error:  # it would end the command, with cells not run and the exit code that it chose
        raise ConfigError(f"{at}._target_={target} calls sys.exit({error.code}).") from error


def dataclass_at(target: str, at: str) -> type[Any]:
    """The dataclass that ``target`` names, such as ``my_package.MyMethod``; ``at`` is the key that names it."""
    module_name, _, class_name = target.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise ConfigError(f"{at}._target_={target} cannot be imported: {error}.") from error
    except Exception as error:
        raise ConfigError(f"{at}._target_={target} cannot be imported: {type(error).__name__}: {error}.") from error
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise ConfigError(f"{at}._target_={target} is not a dataclass, so its keys cannot be checked.")
    return cls


def unreadable_text(error: Exception, file: Path | None = None) -> str:
    """What is wrong with a yaml, in one line; yaml's own errors name the file if it was read from one."""
    found = " ".join(str(error).split()).replace('in "<unicode string>", ', "")
    return f"{'a configuration' if file is None else file} is not readable as yaml: {found}. Correct it."


@cache
def configured_targets(config_dirs: tuple[Path, ...] = ()) -> frozenset[str]:
    """The classes that the yaml files of methods and protocols name: ours, and those in ``config_dirs``."""
    import yaml

    found = set()
    for folder in (CONF_DIR, *config_dirs):
        if not folder.is_dir():
            raise ConfigError(f"--config-dir {folder} is not a folder.")
        for noun, part in (("method", "estimator"), ("protocol", "splitter")):
            for path in sorted((folder / noun).rglob("*.yaml")):
                try:
                    described = yaml.safe_load(path.read_text(encoding="utf-8"))
                except (OSError, ValueError, yaml.YAMLError) as error:
                    raise ConfigError(unreadable_text(error, path)) from None
                target = _target_in(described, part)
                if target is not None:
                    found.add(target)
    return frozenset(found)


def _target_in(described: object, part: str) -> str | None:
    """The class in one yaml; None where it takes that over from another yaml."""
    if not isinstance(described, Mapping) or not isinstance(described.get(part), Mapping):
        return None
    target = described[part].get("_target_")
    return target if isinstance(target, str) else None


def check_min(low: float, **values: float | None) -> None:
    """Check constructor fields in ``__post_init__``: each value must not be below ``low``; None is always allowed."""
    for name, value in values.items():
        if value is not None and not value >= low:
            raise ConfigError(f"method.estimator.{name} must be at least {low:g}, found {value:g}.")


def check_above(low: float, **values: float) -> None:
    """As ``check_min``, but strictly above."""
    for name, value in values.items():
        if not value > low:
            raise ConfigError(f"method.estimator.{name} must be above {low:g}, found {value:g}.")
