"""Logs run folders and sweeps to MLflow: one run for each folder, a parent run for each sweep."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from fairfr.core.run_result import RunResult
from fairfr.core.storage import copy_regular
from fairfr.store.locks import this_machine
from fairfr.store.mlflow import views
from fairfr.store.mlflow.client import (
    EXPERIMENT,
    MlflowError,
    database_file,
    database_lock,
    import_mlflow,
    open_client,
    search_runs,
    store_uri,
)
from fairfr.store.mlflow.describe import (
    EXPERIMENT_NOTE,
    SWEEP_NOTE,
    command_of,
    dataset_of,
    measured_at,
    params_of,
    run_name,
    tags_of,
    times_of,
)
from fairfr.store.result_file import try_read_result
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import SweepRecord, SweepSummary

Metrics: TypeAlias = Mapping[str, Sequence[float | None]]
"""Values of each metric by step; a metric that is one number has one step. None: no value at that step."""
DescribeRun: TypeAlias = Callable[[RunResult, Path, Path], Metrics]

ARTIFACTS = ("result.json", "config.yaml", "metrics.parquet", "run.log", "error.txt")
PARENT = "mlflow.parentRunId"
MAX_TEXT = 5000
MAX_BATCH = 1000  # entries of one request to MLflow
MAX_PARAMS = 100
LONGEST = 3600.0  # seconds; logging one run never takes so long


class MlflowWriter:
    """The experiment of one store. What MLflow refuses is raised as it is: see ``mlflow_errors``."""

    def __init__(self, store: StoreSettings, out_root: Path) -> None:
        """Wait for the lock and for a server less than ``store.patience``, so that a refusal says why."""
        uri = store_uri(store, out_root)
        import_mlflow(store.patience / 4)
        with database_lock(uri, 0.7 * store.patience):
            self._client = open_client(uri, store.patience / 4)
            artifacts = None if database_file(uri) is None else out_root / "mlartifacts"
            self._experiment = self._open(store.experiment or EXPERIMENT, artifacts)
        self._parents: dict[str, str] = {}

    def _open(self, name: str, artifacts: Path | None) -> str:
        shown = dict(views.of_source(source) for source in views.BY_SOURCE)
        tags = {
            # not an application of language models; which mode the page opens in is up to its address and the browser
            "mlflow.experimentKind": "custom_model_development",
            "mlflow.note.content": EXPERIMENT_NOTE,
            **shown,
        }
        found = self._client.get_experiment_by_name(name)
        if found is None:
            location = None if artifacts is None else artifacts.resolve().as_uri()
            return str(self._client.create_experiment(name, artifact_location=location, tags=tags))
        for tag, value in tags.items():
            # what was edited on the page stays as it is
            if tag not in found.tags or (tag in shown and found.tags[tag] != value):
                self._client.set_experiment_tag(found.experiment_id, tag, value)
        return str(found.experiment_id)

    def log_run(self, folder: Path, describe_run: DescribeRun, sweep: SweepRecord | None = None) -> str:
        """One run for one folder; returns its id. A rerun replaces the older run and stays in the sweeps that had it.

        ``describe_run(result, folder, artifacts)`` returns the metrics of a run, and writes further files to log into
        the folder ``artifacts``.
        """
        result = whole_result(folder)
        with tempfile.TemporaryDirectory() as artifacts:
            metrics = describe_run(result, folder, Path(artifacts))
            return self._log(result, folder, metrics, Path(artifacts), sweep)

    def _log(
        self, result: RunResult, folder: Path, metrics: Metrics, artifacts: Path, sweep: SweepRecord | None
    ) -> str:
        tags = self._links(result.key) | _origin(result)
        if sweep is not None:
            tags[PARENT] = self.open_sweep(sweep)
            tags["sweeps"] = _joined(tags.get("sweeps", ""), sweep.id)
        start, end = times_of(result)
        run = self._client.create_run(self._experiment, start_time=start, run_name=run_name(result), tags=tags)
        run_id = str(run.info.run_id)
        self._log_batch(run_id, metrics, params_of(result, folder), tags_of(result, folder))
        self._log_dataset(run_id, result, folder)
        for name in ARTIFACTS:
            copy_regular(folder / name, artifacts)
        for path in artifacts.iterdir():
            self._client.log_artifact(run_id, str(path))
        self._client.set_terminated(run_id, "FINISHED" if result.is_completed else "FAILED", end)
        self._remove(superseded_runs(self.runs_of(result.key)))
        return run_id

    def runs_of(self, key: str) -> list[Any]:
        """The runs of one key that MLflow has."""
        return self._search(f"tags.run_key = '{key}'")

    def runs_by_key(self) -> dict[str, list[Any]]:
        """All runs that MLflow has, by their keys."""
        by_key: dict[str, list[Any]] = {}
        for run in self._search("tags.run_key != ''"):
            by_key.setdefault(run.data.tags["run_key"], []).append(run)
        return by_key

    def delete_unfinished(self) -> int:
        """Remove what writers that were stopped half-way left behind; returns the number of runs."""
        return sum(self._remove(superseded_runs(runs)) for runs in self.runs_by_key().values())

    def closed_sweep(self, sweep: SweepRecord, state: str) -> str | None:
        """The parent run of a sweep, if it was finished in this state."""
        found = self._search(f"tags.sweep_id = '{sweep.id}' and tags.state = '{state}'")
        return str(found[0].info.run_id) if found else None

    def open_sweep(self, sweep: SweepRecord) -> str:
        """The parent run of a sweep; a sweep that is run again has one already."""
        if sweep.id not in self._parents:
            found = self._search(f"tags.sweep_id = '{sweep.id}'")
            self._parents[sweep.id] = found[0].info.run_id if found else self._create_parent(sweep)
        return self._parents[sweep.id]

    def _create_parent(self, sweep: SweepRecord) -> str:
        tags = {"sweep_id": sweep.id, "mlflow.source.name": "run.py", "mlflow.source.type": "LOCAL"}
        tags["command"] = command = command_of(sweep.overrides)[:MAX_TEXT]
        tags["mlflow.note.content"] = SWEEP_NOTE.format(command=command)
        start = int(1000 * sweep.started)
        run = self._client.create_run(self._experiment, start_time=start, run_name=sweep.first_name, tags=tags)
        return str(run.info.run_id)

    def close_sweep(self, sweep: SweepRecord, end: SweepSummary, state: str, artifacts: Path | None = None) -> str:
        """Name, count and finish the parent run; its artifacts list every cell and hold the report. Returns its id.

        ``state``: what ``closed_sweep`` is to know it by.
        """
        parent = self.open_sweep(sweep)
        self.link(sweep, parent, end.keys)
        self._log_batch(parent, {name: [value] for name, value in end.metrics.items()}, (), end.tags.items())
        self._client.update_run(parent, name=end.name)
        view = views.of_sweep(sweep.id, end.name, end.varied, end.mixed)
        self._client.set_experiment_tag(self._experiment, *view)
        self._client.log_text(parent, end.cells_csv, "cells.csv")
        if artifacts is not None:
            self._client.log_artifacts(parent, str(artifacts))
        self._client.set_terminated(parent, end.status, int(1000 * end.ended))
        self._client.set_tag(parent, "state", state)  # last: a kill before leaves one that is finished again
        return parent

    def link(self, sweep: SweepRecord, parent: str, keys: Iterable[str]) -> None:
        """Cells that were logged before: those without a parent get this one, the others keep theirs."""
        linked = {run.data.tags.get("run_key") for run in self._search(f"tags.sweeps LIKE '%{sweep.id}%'")}
        for key in keys:
            for run in self.runs_of(key) if key not in linked else ():
                sweeps = _joined(run.data.tags.get("sweeps", ""), sweep.id)
                self._client.set_tag(run.info.run_id, "sweeps", sweeps)
                if PARENT not in run.data.tags:
                    self._client.set_tag(run.info.run_id, PARENT, parent)

    def _links(self, key: str) -> dict[str, str]:
        """The tags that tie the runs of this key to sweeps."""
        links: dict[str, str] = {}
        for old in self.runs_of(key):
            links |= {name: old.data.tags[name] for name in (PARENT, "sweeps") if name in old.data.tags}
        return links

    def _remove(self, runs: Iterable[Any]) -> int:
        from mlflow.exceptions import MlflowException

        removed = 0
        for run in runs:
            with suppress(MlflowException):  # another process may just have removed it
                self._client.delete_run(run.info.run_id)
                removed += 1
        return removed

    def _search(self, condition: str) -> list[Any]:
        return search_runs(self._client, self._experiment, condition)

    def _log_dataset(self, run_id: str, result: RunResult, folder: Path) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag
        from mlflow.exceptions import MlflowException

        about = dataset_of(result, folder)
        if about is None:
            return
        inputs = [DatasetInput(Dataset(**about), [InputTag("mlflow.data.context", "evaluation")])]
        try:
            self._client.log_inputs(run_id, inputs)
        except MlflowException as error:
            if "datasets" not in str(error):
                raise
            self._client.log_inputs(
                run_id, inputs
            )  # another worker has just entered the same data set: now it is found

    def _log_batch(
        self,
        run_id: str,
        metrics: Metrics,
        params: Iterable[tuple[str, Any]],
        tags: Iterable[tuple[str, Any]],
    ) -> None:
        """In one request, unless there is more than MLflow takes at once."""
        from mlflow.entities import Metric, Param, RunTag

        now = int(time.time() * 1000)
        numbers = [
            Metric(name, _six_digits(value), now, step)
            for name, values in metrics.items()
            for step, value in enumerate(values)
            if value is not None
        ]
        texts = [Param(name, str(value)[:MAX_TEXT]) for name, value in params]
        marks = [RunTag(name, str(value)[:MAX_TEXT]) for name, value in tags]
        while numbers or texts or marks:
            room = MAX_BATCH - len(texts[:MAX_PARAMS]) - len(marks)
            self._client.log_batch(run_id, numbers[:room], texts[:MAX_PARAMS], marks)
            numbers, texts, marks = numbers[room:], texts[MAX_PARAMS:], []


def _six_digits(value: float) -> float:
    """As many as can be compared on the page, which prints every digit that a number has; the run folder has all."""
    return float(f"{value:.6g}")


def _joined(listed: str, name: str) -> str:
    return ", ".join(dict.fromkeys([*filter(None, listed.split(", ")), name]))


def _origin(result: RunResult) -> dict[str, str]:
    """What a run is from its first moment, so that one that is never finished can be recognised and removed."""
    writer = f"{this_machine()} {os.getpid()}"
    return {"run_key": result.key, "logged_at": str(time.time()), "writer": writer}


def whole_result(folder: Path) -> RunResult:
    """The result of a run folder. Raises MlflowError where there is none that can be logged."""
    result = try_read_result(folder)
    if result is None:
        raise MlflowError(f"{folder} has no whole result.json.")
    return result


def id_as_new(result: RunResult, runs: Iterable[Any]) -> str | None:
    """The id of one of these runs of its key that is as new as this result or newer; None if there is none.

    A failed run is no newer version of a completed one.
    """
    replaced_by = ("FINISHED",) if result.is_completed else ("FINISHED", "FAILED")
    for run in runs:
        if run.info.status in replaced_by and run.data.tags.get("finished", "") >= measured_at(result):
            return str(run.info.run_id)
    return None


def superseded_runs(runs: Sequence[Any]) -> list[Any]:
    """Which runs of one key another one replaces, or which no process will finish.

    The completed run that was logged last stays, and so does a failed one logged after it: in a shared store another
    user's completed run is no less true because the same cell failed here.
    """
    newest: dict[str, Any] = {}
    for run in sorted(runs, key=_logged_at):
        newest[run.info.status] = run
    done = newest.get("FINISHED")
    failed = newest.get("FAILED")
    stay = [done, None if done and failed and _logged_at(failed) < _logged_at(done) else failed]
    return [run for run in runs if run not in stay and not (run.info.status == "RUNNING" and _may_go_on(run))]


def _logged_at(run: Any) -> float:
    return float(run.data.tags.get("logged_at", 0))


def _may_go_on(run: Any) -> bool:
    """Whether the process that writes a run may be alive: not one of this machine that is gone, nor of an hour ago."""
    machine, _, pid = run.data.tags.get("writer", "").partition(" ")
    is_gone = machine == this_machine() and pid.isdigit() and not _exists(int(pid))
    return not is_gone and time.time() - _logged_at(run) < LONGEST


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True
