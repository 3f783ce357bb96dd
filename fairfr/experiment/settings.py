"""The whole configuration of one cell, as typed values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from fairfr.core.conform import instantiate
from fairfr.core.errors import ConfigError
from fairfr.core.keys import RunKey, digest_of
from fairfr.core.types import Source
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.store.settings import StoreSettings


@dataclass(frozen=True, slots=True)
class MethodSettings:
    """One yaml of conf/method."""

    id: str
    label: str
    estimator: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProtocolSettings:
    """One yaml of conf/protocol."""

    id: str
    splitter: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """conf/config.yaml with its choices made."""

    dataset: DatasetSettings
    backbone: BackboneSettings
    method: MethodSettings
    protocol: ProtocolSettings
    store: StoreSettings
    data_root: str
    out_root: str
    source: Literal["auto", "files", "synthetic"]
    seed: int
    threads: int | None
    force: bool
    on_error: Literal["continue", "stop"]

    def key(self, source: Source, data_digest: str) -> RunKey:
        """Configuration + data + results version, without paths, store, threads, force, on_error and labels.

        Estimators count with all their fields, so a default that is written out makes no new run. Of the stand-in
        only the digest counts: another backbone's parameters do not matter.
        """
        dataset = {k: v for k, v in asdict(self.dataset).items() if k not in ("label", "standin")}
        identity = {
            "dataset": dataset,
            "backbone": {"id": self.backbone.id, "column": self.backbone.column},
            "method": {"id": self.method.id, "estimator": _described(self.method.estimator, "method.estimator")},
            "protocol": {"id": self.protocol.id, "splitter": _described(self.protocol.splitter, "protocol.splitter")},
            "seed": self.seed,
            "source": source,
            "data": data_digest,
        }
        _check_id(self.method.id, "method.id")
        return RunKey(self.dataset.id, self.backbone.id, self.method.id, source, digest_of(identity))


def _described(spec: dict[str, Any], at: str) -> dict[str, Any]:
    return {"_target_": spec.get("_target_"), **asdict(instantiate(spec, at))}


def _check_id(value: str, at: str) -> None:
    """Ids become folder names."""
    if not value or value in (".", "..") or any(c in value for c in "/\\\0"):
        raise ConfigError(f"{at}={value!r} cannot be a folder's name. Use letters, digits, '_' and '-'.")
