"""What makes two runs the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairfr.core.errors import ConfigError
from fairfr.core.types import Source

# Part of every key: raise it when a change in code that core/code_digest.py does not follow (of data or runner, say)
# alters results, so that old runs are not mistaken for new ones.
RESULTS_VERSION = 3
SYNTHETIC = "synthetic-"
FROM = "from_"
MAX_ID = 200  # bytes; file systems allow 255, and endings are added


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


def check_path_name(key: str, value: str) -> None:
    """ConfigError unless ``value``, given as ``key``, can name a file or folder and stays inside its own folder."""
    if len(value.encode(errors="replace")) > MAX_ID:
        raise ConfigError(f"{key}={value[:20]}... is longer than {MAX_ID} bytes, too long for the name of a folder.")
    climbs = value in ("", ".", "..") or any(mark in value for mark in "/\\")
    if climbs or value != value.strip() or not value.isprintable():
        raise ConfigError(
            f"{key}={value!r} cannot be used as a name. Use a plain name without slashes, such as 'my_set'; "
            "folders go into data_root and out_root, or an import's --out."
        )
