"""What conf/store says, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """One yaml of conf/store. ``tracking_uri`` null means ``<out_root>/mlflow.db``.

    ``report``: whether a sweep's tables, figures and claims become artifacts of its parent run.
    """

    id: Literal["mlflow", "folder"]
    tracking_uri: str | None = None
    experiment: str | None = None
    report: bool = True
