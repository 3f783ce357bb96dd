"""A client for one MLflow store: importing MLflow, quietly, is left to whoever asks for one."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any


def open_client(uri: str) -> Any:
    """An ``MlflowClient``. The first one of a process takes seconds."""
    import logging

    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    logging.getLogger("alembic").setLevel(logging.ERROR)  # it narrates the making of the database
    from mlflow.tracking import MlflowClient

    logging.getLogger("mlflow").setLevel(logging.ERROR)
    return MlflowClient(uri)


def search_runs(client: Any, experiment: str, condition: str) -> list[Any]:
    """The runs of an experiment that meet a condition, newest first: all pages of the search."""
    runs: list[Any] = []
    token = None
    while True:
        page = client.search_runs([experiment], condition, max_results=1000, page_token=token)
        runs.extend(page)
        token = page.token
        if not token:
            return runs


def database_lock(uri: str) -> AbstractContextManager[object]:
    """Two processes on a fresh sqlite file fail: one at a time makes it."""
    if not uri.startswith("sqlite:///"):
        return nullcontext()
    from filelock import FileLock

    path = Path(uri.removeprefix("sqlite:///"))
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(f"{path}.lock")
