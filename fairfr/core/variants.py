"""Parameters by their names on the command line, and what sets a run apart from the yaml's defaults."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Parameters: TypeAlias = dict[str, Any]
"""``{"method.estimator.k": 20, "seed": 0, ...}``"""

ID_KEYS = ("dataset.id", "backbone.id", "backbone.column", "method.id", "protocol.id")
"""Which row and column a run belongs to, and the protocol: no parameters."""
PUBLISHED = "published"
"""The protocol of tables: leave one published fold out."""
DATASET_KEYS_OF_METHODS = {
    "dataset.max_references": "method.estimator.max_references",
    "dataset.oracle_mixed": "method.estimator.mixed",
}
"""Keys of a data set that decide numbers only through the methods whose yaml refers to them: the method's field
counts, the data set's key does not."""
PREFIXES = ("method.estimator.", "dataset.", "backbone.", "protocol.splitter.")


def flatten(mapping: Mapping[str, Any], prefix: str = "") -> Parameters:
    """Nested keys as dotted ones; lists stay whole."""
    flat: Parameters = {}
    for key, value in mapping.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{name}.")
        else:
            flat[name] = list(value) if isinstance(value, tuple) else value
    return flat


def changed_parameters(parameters: Parameters, defaults: Parameters) -> Parameters:
    """The parameters that are not as in ``defaults``; another protocol than the published folds is one of them."""
    absent = object()
    found = {
        key: value for key, value in parameters.items() if key not in ID_KEYS and defaults.get(key, absent) != value
    }
    protocol = parameters.get("protocol.id", PUBLISHED)
    return found if protocol == PUBLISHED else {"protocol": protocol, **found}


def shared_parameters(several: Iterable[Parameters]) -> Parameters:
    """What all of them share; nothing if there are none."""
    every = list(several)
    first = every[0] if every else {}
    return {key: value for key, value in first.items() if all(key in p and p[key] == value for p in every)}


def variant_text(differs: Parameters) -> str:
    """``k=500, seed=1``; empty for a default configuration."""
    return ", ".join(f"{_short(key)}={_plain(value)}" for key, value in differs.items())


def override_text(value: Any) -> str:
    """A value as the command line takes it, with all its digits: ``null``, ``true``, ``0.25``, ``[gender]``."""
    if isinstance(value, list):
        return f"[{','.join(map(override_text, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


def variant_label(label: str, differs: Parameters) -> str:
    """``AC-Density (k=500)``."""
    return f"{label} ({variant_text(differs)})" if differs else label


def _short(key: str) -> str:
    return next((key.removeprefix(prefix) for prefix in PREFIXES if key.startswith(prefix)), key)


def _plain(value: Any) -> str:
    """A value as it is typed, in six digits at the most: ``1e+06``."""
    if isinstance(value, list):
        return f"[{','.join(map(_plain, value))}]"
    return f"{value:g}" if isinstance(value, float) else override_text(value)
