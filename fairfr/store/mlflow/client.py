"""Open an MLflow store, and read back what it has. MLflow is imported, quietly, when a store is opened.

A store is a tracking server, or a sqlite database beside the runs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairfr.core.errors import FairfrError
from fairfr.core.run_result import RunResult
from fairfr.core.storage import move_into_place
from fairfr.core.text import error_summary
from fairfr.store.mlflow import views
from fairfr.store.result_file import DamagedRunError, read_result
from fairfr.store.secrets import mask_passwords
from fairfr.store.settings import PATIENCE, StoreSettings

EXPERIMENT = "fairfr"
DOWNLOADS_AT_ONCE = 16
MAX_MESSAGE = 500  # characters: a request that fails says why at the end of a long line
_SQLITE = "sqlite:///"


class MlflowError(FairfrError):
    """MLflow could not be reached or refused a request. The run folder is complete all the same."""

    def __init__(self, message: str) -> None:
        super().__init__(mask_passwords(message))


def default_uri(out_root: Path) -> str:
    """The sqlite database beside the runs."""
    return f"{_SQLITE}{(out_root / 'mlflow.db').resolve()}"


def store_uri(store: StoreSettings, out_root: Path) -> str:
    """The address that the settings name, or that of the database beside the runs."""
    return store.tracking_uri or default_uri(out_root)


def database_file(uri: str) -> Path | None:
    """The file of a sqlite store; None for any other."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


def is_missing(uri: str) -> bool:
    """Whether the store is a sqlite file that does not exist (a client would create an empty one)."""
    file = database_file(uri)
    return file is not None and not file.exists()


def open_client(uri: str, timeout: float) -> Any:
    """An ``MlflowClient``. The first one of a process takes seconds.

    ``timeout``: seconds that a server has for one answer. MLflow's own patience is minutes; what the user sets stays.
    """
    import_mlflow(timeout)
    from mlflow.tracking import MlflowClient

    return MlflowClient(uri)


def import_mlflow(timeout: float) -> None:
    """Import MLflow's client, quietly; ``timeout`` as for ``open_client``."""
    import logging

    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(max(1, int(timeout))))
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "1")
    logging.getLogger("alembic").setLevel(logging.ERROR)  # it logs each step of creating the database
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # it logs each try of a server that is down
    import mlflow.tracking  # noqa: F401

    logging.getLogger("mlflow").setLevel(logging.ERROR)


@contextmanager
def mlflow_errors(uri: str) -> Iterator[None]:
    """Raise whatever MLflow raises as MlflowError, with the address of the store."""
    try:
        yield
    except FairfrError:
        raise
    except Exception as error:
        raise MlflowError(f"{uri}: {error_summary(error, MAX_MESSAGE)}") from error


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
    """Two processes on a fresh sqlite file fail: one at a time opens it.

    Raises TimeoutError when another one holds the lock for ``timeout`` seconds, and OSError or sqlite3.Error at once
    for a file that cannot be opened, which MLflow would try for minutes.
    """
    path = database_file(uri)
    if path is None:
        yield
        return
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout)
    except Timeout:
        raise TimeoutError(f"another process has held {path}.lock for {timeout:.0f} s.") from None
    try:
        if is_missing(uri):
            _create_database(path)
        else:
            _try_database(path)
        yield
    finally:
        lock.release()


def _try_database(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA schema_version")


def _create_database(path: Path) -> None:
    """Let MLflow make its tables in another place: a process that ends meanwhile would leave half of them."""
    from mlflow.tracking import MlflowClient

    for left_behind in path.parent.glob(f"{path.name}.new-*"):
        shutil.rmtree(left_behind, ignore_errors=True)
    making = Path(tempfile.mkdtemp(prefix=f"{path.name}.new-", dir=path.parent))
    MlflowClient(f"sqlite:///{making / path.name}")
    move_into_place(making / path.name, path)
    making.rmdir()


def read_results(
    uri: str, experiment: str = EXPERIMENT, on_damage: Callable[[str], object] = lambda line: None
) -> list[RunResult]:
    """The result.json of every completed run that MLflow has, from MLflow alone, in the order of the run folders.

    ``on_damage`` gets a line for each that is not whole. Raises MlflowError when there is no such experiment or an
    artifact is not there.
    """
    from concurrent.futures import ThreadPoolExecutor

    with mlflow_errors(uri):
        client, id = _open(uri, experiment)
        runs = search_runs(client, id, "attributes.status = 'FINISHED' and tags.run_key != ''")
        with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            downloads = [(run, pool.submit(_stored_result, client, run)) for run in runs]
        results = []
        for run, download in downloads:
            try:
                results.append(download.result())
            except DamagedRunError as error:
                on_damage(f"{run.info.run_name}: {error}")
    return sorted(results, key=lambda result: result.run_key.path_parts)


def _stored_result(client: Any, run: Any) -> RunResult:
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    place = urlparse(run.info.artifact_uri)
    if place.scheme == "file":  # the client would only copy the file before it is read
        folder = Path(url2pathname(place.path))
        result = read_result(folder, in_place=False)
    else:
        with tempfile.TemporaryDirectory() as folder_name:
            folder = Path(folder_name)
            client.download_artifacts(run.info.run_id, "result.json", folder_name)
            result = read_result(folder, in_place=False)
    if result is None:
        raise MlflowError(
            f"{folder} has no whole result.json. If the output folder was moved, delete mlflow.db and run "
            "fairfr sync (in a checkout: python scripts/sync_mlflow.py)."
        )
    return result


def ui_pages(uri: str, experiment: str = EXPERIMENT) -> list[tuple[str, str]]:
    """What can be opened, and the part of its address after ``#``: the runs of each source, and the newest sweep."""
    client, id = _open(uri, experiment)
    sweeps = client.search_runs([id], "tags.sweep_id != ''", order_by=["attributes.start_time DESC"], max_results=1)
    found = []
    for source, (view, name) in views.BY_SOURCE.items():
        if client.search_runs([id], views.cells_of(source), max_results=1):
            found.append((name, views.page(id, view)))
    for parent in sweeps:
        view = f"sweep-{parent.data.tags['sweep_id']}"
        found += [(parent.info.run_name, views.page(id, view)), ("  as charts", views.page(id, view, charts=True))]
        if any(artifact.path == "tables" for artifact in client.list_artifacts(parent.info.run_id)):
            source = parent.data.tags["source"].partition("+")[0]
            reading = parent.data.tags.get("reading", "paper")  # as older versions had it
            found.append(("  its tables and figures", views.report_page(id, parent.info.run_id, source, reading)))
    return found


def _open(uri: str, experiment: str) -> tuple[Any, str]:
    if is_missing(uri):
        raise MlflowError(f"{database_file(uri)} does not exist.")
    with mlflow_errors(uri), database_lock(uri, PATIENCE):
        client = open_client(uri, PATIENCE)
        found = client.get_experiment_by_name(experiment)
    if found is None:
        raise MlflowError(f"{uri} has no experiment '{experiment}'.")
    return client, str(found.experiment_id)
