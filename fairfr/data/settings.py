"""What conf/dataset and conf/backbone say, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairfr.core.errors import ConfigError
from fairfr.data.synthetic import StandIn


@dataclass(frozen=True, slots=True)
class DatasetSettings:
    """One yaml of conf/dataset.

    ``oracle_mixed`` is what the paper's Oracle does with pairs of two groups, which differs between its data sets.
    """

    id: str
    label: str
    grouping: tuple[str, ...] = ()
    max_references: int | None = None
    min_pairs: int = 20
    missing: Literal["stop", "drop"] = "stop"
    oracle_mixed: Literal["global", "zero", "first", "combo"] = "global"
    standin: StandIn | None = None

    def __post_init__(self) -> None:
        for key, value in (("max_references", self.max_references), ("min_pairs", self.min_pairs)):
            if value is not None and value < 1:
                raise ConfigError(f"dataset.{key} must be at least 1, found {value}.")


@dataclass(frozen=True, slots=True)
class BackboneSettings:
    """One yaml of conf/backbone. A ``column`` makes it a scores-only backbone."""

    id: str
    label: str
    column: str | None = None
