"""What MLflow has, read back: the results of every run, and where its page shows them."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from fairfr.store.mlflow import views
from fairfr.store.mlflow.address import EXPERIMENT, database_file, is_missing
from fairfr.store.mlflow.client import database_lock, open_client, search_runs
from fairfr.store.mlflow.errors import MlflowError
from fairfr.store.reading import Result, key_of, read_result
from fairfr.store.settings import PATIENCE

DOWNLOADS_AT_ONCE = 16


def read_results(uri: str, experiment: str = EXPERIMENT) -> list[Result]:
    """The result.json of every completed run that MLflow has, from MLflow alone, in the order of the run folders.

    Raises MlflowError when there is no such experiment or an artifact cannot be read.
    """
    from concurrent.futures import ThreadPoolExecutor

    try:
        client, id = _open(uri, experiment)
        runs = search_runs(client, id, "attributes.status = 'FINISHED' and tags.run_key != ''")
        with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            results = list(pool.map(lambda run: _stored_result(client, run), runs))
    except MlflowError:
        raise
    except Exception as error:
        raise MlflowError(f"{uri}: {error}") from error
    return sorted(results, key=lambda result: key_of(result).place)


def _stored_result(client: Any, run: Any) -> Result:
    place = urlparse(run.info.artifact_uri)
    if place.scheme == "file":  # the client would only copy the file before it is read
        folder = Path(url2pathname(place.path))
        result = read_result(folder)
    else:
        with tempfile.TemporaryDirectory() as folder_name:
            folder = Path(folder_name)
            client.download_artifacts(run.info.run_id, "result.json", folder_name)
            result = read_result(folder)
    if result is None:
        raise MlflowError(
            f"{folder} has no whole result.json. If the output folder was moved, delete mlflow.db and run "
            "python scripts/sync_mlflow.py"
        )
    return result


def pages(uri: str, experiment: str = EXPERIMENT) -> list[tuple[str, str]]:
    """What can be opened, and the part of its address after ``#``: the newest sweep's metrics and report, all cells."""
    client, id = _open(uri, experiment)
    sweeps = client.search_runs([id], "tags.sweep_id != ''", order_by=["attributes.start_time DESC"], max_results=1)
    found = [("every cell", views.page(id, "cells"))]
    for parent in sweeps:
        view = f"sweep-{parent.data.tags['sweep_id']}"
        found += [(parent.info.run_name, views.page(id, view)), ("  as bar charts", views.page(id, view, charts=True))]
        if any(artifact.path == "tables" for artifact in client.list_artifacts(parent.info.run_id)):
            source = parent.data.tags["source"].partition("+")[0]
            found.append(("  its tables and figures", views.report_page(id, parent.info.run_id, source)))
    return found


def _open(uri: str, experiment: str) -> tuple[Any, str]:
    if is_missing(uri):
        raise MlflowError(f"{database_file(uri)} does not exist.")
    try:
        with database_lock(uri, PATIENCE):
            client = open_client(uri, PATIENCE)
            found = client.get_experiment_by_name(experiment)
    except (OSError, sqlite3.Error) as error:
        raise MlflowError(f"{uri}: {error}") from error
    if found is None:
        raise MlflowError(f"{uri} has no experiment '{experiment}'.")
    return client, str(found.experiment_id)
