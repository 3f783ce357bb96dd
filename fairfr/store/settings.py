"""The settings of conf/store, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PATIENCE = 25.0  # with the end of the process less than half a minute


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """One yaml of conf/store. ``tracking_uri`` null means ``<out_root>/mlflow.db``.

    ``patience``: seconds that a command gives an MLflow that does not answer. Results are stored before that.

    ``report``: whether a sweep's tables, figures and claims become artifacts of its parent run.
    """

    id: Literal["mlflow", "folder"]
    tracking_uri: str | None = None
    experiment: str | None = None
    report: bool = True
    patience: float = PATIENCE
