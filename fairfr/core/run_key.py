"""What makes two runs the same run, and what sets a run apart from the defaults of the yaml files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fairfr.core.errors import ConfigError
from fairfr.core.types import Source

# Part of every key: raise it when a change in code that core/provenance.py does not follow (of data or runner, say)
# alters results, so that old runs are not mistaken for new ones.
RESULTS_VERSION = 4
SYNTHETIC = "synthetic-"
FROM = "from_"
MAX_ID = 200  # bytes; file systems allow 255, and endings are added
MAX_TYPED = 200  # characters of key=value: nobody types more, and a stored run may name anything

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


@dataclass(frozen=True, slots=True)
class RunKey:
    """Names one cell's result: what was run, on which bytes; ``train``: the data set it was fitted on, if another."""

    dataset: str
    backbone: str
    method: str
    source: Source
    digest: str
    train: str | None = None

    def __str__(self) -> str:
        """The run's folder name; a synthetic run says so, and one that was fitted on another data set names it."""
        source = SYNTHETIC if self.source == "synthetic" else ""
        fitted = "" if self.train is None else f"{FROM}{self.train}-"
        return f"{source}{fitted}{self.digest}"

    @classmethod
    def parse(cls, dataset: str, backbone: str, method: str, source: Source, text: str) -> RunKey:
        """The key whose text, ``str(key)``, was stored."""
        fitted, _, digest = text.removeprefix(SYNTHETIC).rpartition("-")
        return cls(dataset, backbone, method, source, digest, fitted.removeprefix(FROM) or None)

    @property
    def path_parts(self) -> tuple[str, str, str, str]:
        """The folders that lead to the run below ``runs``; runs are listed in this order."""
        return self.dataset, self.backbone, self.method, str(self)

    @property
    def slug(self) -> str:
        """One file name for the run."""
        return "-".join(self.path_parts)


def configuration_digest(identity: Mapping[str, Any]) -> str:
    """16 hex digits of the canonical JSON of everything that decides the result."""
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def is_path_name(value: str) -> bool:
    """Whether ``value`` can name a file or folder and stays inside its own folder."""
    climbs = value in ("", ".", "..") or any(mark in value for mark in "/\\")
    return not climbs and value == value.strip() and value.isprintable()


def check_path_name(key: str, value: str) -> None:
    """ConfigError unless ``value``, given as ``key``, is the name of a file or folder (``is_path_name``)."""
    if len(value.encode(errors="replace")) > MAX_ID:
        raise ConfigError(f"{key}={value[:20]}... is longer than {MAX_ID} bytes, too long for the name of a folder.")
    if not is_path_name(value):
        raise ConfigError(
            f"{key}={value!r} cannot be used as a name. Use a plain name without slashes, such as 'my_set'; "
            "folders go into data_root and out_root, or an import's --data-root."
        )


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
    return ", ".join(_shortened(f"{_short(key)}={_plain(value)}") for key, value in differs.items())


def _shortened(text: str) -> str:
    """``text``, or the beginning of a very long one with a digest: different texts stay different."""
    if len(text) <= MAX_TYPED:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[: MAX_TYPED // 4]}...{digest}"


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
