"""A client for one MLflow store: MLflow is imported, quietly, when one is opened."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fairfr.store.mlflow.address import database_file


def open_client(uri: str, timeout: float) -> Any:
    """An ``MlflowClient``. The first one of a process takes seconds.

    ``timeout``: seconds that a server has for one answer. MLflow's own patience is minutes; what the user sets stays.
    """
    import logging

    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(max(1, int(timeout))))
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "1")
    logging.getLogger("alembic").setLevel(logging.ERROR)  # it logs each step of creating the database
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


@contextmanager
def database_lock(uri: str, timeout: float) -> Iterator[None]:
    """Two processes on a fresh sqlite file fail: one at a time makes it.

    Raises TimeoutError when another one holds the lock for ``timeout`` seconds, and OSError or sqlite3.Error at once
    for a file that cannot be opened, which MLflow would try for minutes.
    """
    path = database_file(uri)
    if path is None:
        yield
        return
    import sqlite3

    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout)
    except Timeout:
        raise TimeoutError(f"another process has held {path}.lock for {timeout:.0f} s.") from None
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA schema_version")
        yield
    finally:
        lock.release()
