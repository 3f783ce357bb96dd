"""What can go wrong with MLflow. The run folder is complete all the same."""

from __future__ import annotations

from fairfr.core.errors import FairfrError
from fairfr.store.secrets import masked


class MlflowError(FairfrError):
    """MLflow could not be reached or refused a request."""

    def __init__(self, message: str) -> None:
        super().__init__(masked(message))


class MlflowEndedError(MlflowError):
    """The process that runs MLflow has ended; a new one may succeed."""
