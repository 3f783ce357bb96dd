"""What conf/dataset and conf/backbone say, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairfr.data.synthetic import StandIn


@dataclass(frozen=True, slots=True)
class DatasetSettings:
    """One yaml of conf/dataset."""

    id: str
    label: str
    grouping: tuple[str, ...] = ()
    max_references: int | None = None
    min_pairs: int = 20
    missing: Literal["stop", "drop"] = "stop"
    standin: StandIn | None = None


@dataclass(frozen=True, slots=True)
class BackboneSettings:
    """One yaml of conf/backbone. A ``column`` makes it a scores-only backbone."""

    id: str
    label: str
    column: str | None = None
