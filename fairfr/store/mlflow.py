"""MLflow as a mirror of the run folders: parameters, fold-mean metrics, tags and small artifacts.

Importing MLflow takes seconds, so a second process does it, in parallel with the run itself::

    mirror = MlflowMirror(uri, experiment, artifact_root)   # starts python -m fairfr.store.mlflow
    mirror.log(run_folder)                                  # one run in MLflow for each run folder
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairfr.core.errors import FairfrError
from fairfr.store.folder import Result, read_result

ARTIFACTS = ("result.json", "config.yaml", "metrics.parquet", "run.log", "error.txt")
PER_GROUP_METRICS = frozenset({"auroc", "auroc_on_probability", "tpr_at_fpr_1e-3", "brier"})
MAX_TEXT = 5000


class MlflowError(FairfrError):
    """MLflow could not be reached or refused a run. The run folder is complete all the same."""


class MlflowMirror:
    """A process that logs run folders to one MLflow experiment."""

    def __init__(self, uri: str, experiment: str, artifact_root: Path | None = None) -> None:
        self.uri = uri
        command = [sys.executable, "-m", "fairfr.store.mlflow", uri, experiment, str(artifact_root or "")]
        environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "OMP_NUM_THREADS": "1"}
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  a pipe nobody reads would fill up
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, text=True, env=environment
        )

    def wait_until_ready(self) -> None:
        """Return when the database exists: parallel workers must not race to make it."""
        self._ask("")

    def log(self, run_folder: Path) -> str:
        """Log one run folder, replacing what MLflow has under the same key; returns the run's URL fragment."""
        return self._ask(str(run_folder))

    def close(self) -> None:
        self._process.communicate()
        self._stderr.close()

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline() or "null")
        except (BrokenPipeError, json.JSONDecodeError):
            answer = None
        if answer is None:
            self._process.wait()
            self._stderr.seek(0)
            stderr = self._stderr.read().strip().splitlines()
            raise MlflowError(f"the MLflow process ended early ({stderr[-1] if stderr else 'no message'}).")
        if "error" in answer:
            raise MlflowError(f"{self.uri}: {answer['error']}")
        return str(answer["ok"])


def default_uri(out_root: Path) -> str:
    """The sqlite database beside the runs."""
    return f"sqlite:///{(out_root / 'mlflow.db').resolve()}"


class MlflowLog:
    """What the process does: owns the client and writes runs."""

    def __init__(self, uri: str, experiment: str, artifact_root: str) -> None:
        import logging

        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        logging.disable(logging.WARNING)  # alembic and mlflow narrate the making of the database
        from mlflow.tracking import MlflowClient

        with _database_lock(uri):
            self._client = MlflowClient(uri)
            self._experiment = self._open(experiment, artifact_root)

    def _open(self, name: str, artifact_root: str) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        location = Path(artifact_root).resolve().as_uri() if artifact_root else None
        # opens the page in model-training mode instead of the one for language-model applications
        tags = {"mlflow.experimentKind": "custom_model_development"}
        return str(self._client.create_experiment(name, artifact_location=location, tags=tags))

    def log(self, folder: Path) -> str:
        result = read_result(folder)
        if result is None:
            raise MlflowError(f"{folder} holds no result.json.")
        self._delete(result["key"])
        start, end = times_of(result)
        run = self._client.create_run(self._experiment, start_time=start, run_name=run_name(result))
        run_id = str(run.info.run_id)
        self._log_batch(run_id, result, folder)
        for name in ARTIFACTS:
            if (folder / name).exists():
                self._client.log_artifact(run_id, str(folder / name))
        self._client.set_terminated(run_id, "FINISHED" if result["status"] == "completed" else "FAILED", end)
        return f"#/experiments/{self._experiment}/runs/{run_id}"

    def _delete(self, key: str) -> None:
        for old in self._client.search_runs([self._experiment], f"tags.run_key = '{key}'"):
            self._client.delete_run(old.info.run_id)

    def _log_batch(self, run_id: str, result: Result, folder: Path) -> None:
        import time

        from mlflow.entities import Metric, Param, RunTag

        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, 0) for name, value in metrics_of(result)]
        params = [Param(name, str(value)[:MAX_TEXT]) for name, value in params_of(folder)]
        tags = [RunTag(name, str(value)[:MAX_TEXT]) for name, value in tags_of(result, folder)]
        for start in range(0, len(params), 100):
            self._client.log_batch(run_id, params=params[start : start + 100])
        for start in range(0, max(len(metrics), 1), 1000):
            self._client.log_batch(run_id, metrics=metrics[start : start + 1000], tags=tags)


def run_name(result: Result) -> str:
    """What the MLflow page lists: the method first, because the page cuts long names at the end."""
    name = f"{result['method']['label']} | {result['dataset']['id']} | {result['backbone']['id']}"
    return f"{name} | synthetic" if result["source"] == "synthetic" else name


def times_of(result: Result) -> tuple[int, int]:
    """Start and end of the run itself, in milliseconds, so that the page shows its duration and not the mirror's."""
    from datetime import datetime

    end = int(datetime.fromisoformat(result["finished"]).timestamp() * 1000)
    return end - int(1000 * result.get("seconds", 0)), end


def tags_of(result: Result, folder: Path) -> Iterator[tuple[str, Any]]:
    """Tags to filter and group by."""
    yield "mlflow.source.name", "run.py"
    yield "mlflow.source.type", "LOCAL"
    yield "run_key", result["key"]
    yield "status", result["status"]
    yield "source", result["source"]
    for noun in ("dataset", "backbone", "method"):
        yield noun, result[noun]["id"]
    yield "needs", ", ".join(result["method"]["needs"]) or "scores only"
    yield "run_folder", folder.resolve()
    if "threads" in result:
        yield "threads", result["threads"]
    if "error" in result:
        yield "error", result["error"]


def params_of(folder: Path) -> Iterator[tuple[str, Any]]:
    """The configuration, flattened: what was chosen, without the stand-in's parameters."""
    import yaml

    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    for noun in ("dataset", "backbone", "method", "protocol"):
        for name, value in _flatten(config.get(noun, {}), noun):
            if not name.startswith("dataset.standin") and not name.endswith("_target_"):
                yield name, value
    yield "seed", config.get("seed")


def _flatten(mapping: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in mapping.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}.{key}")
        else:
            yield f"{prefix}.{key}", value


def metrics_of(result: Result) -> Iterator[tuple[str, float]]:
    """Fold means by readable names: ``auroc``, ``worst/ethnicity/first/auroc``, ``ethnicity/both/asian/auroc``."""
    for row in result.get("metrics", []):
        if row["mean"] is None:
            continue
        if row["grouping"] == "all":
            yield row["metric"], row["mean"]
        elif row["group"] in ("worst", "gap"):
            yield f"{row['group']}/{_plain(row['grouping'])}/{row['rule']}/{row['metric']}", row["mean"]
        elif row["metric"] in PER_GROUP_METRICS:
            yield f"{_plain(row['grouping'])}/{row['rule']}/{_plain(row['group'])}/{row['metric']}", row["mean"]
    for name in ("seconds", "peak_memory_mb"):
        if name in result:
            yield name, result[name]


def _plain(group: str) -> str:
    """A group's name with only the characters that MLflow takes."""
    return "".join(c if c.isalnum() or c in "_-. " else "_" for c in group)


def _database_lock(uri: str) -> Any:
    """Two processes on a fresh sqlite file fail: one at a time makes it."""
    from contextlib import nullcontext

    if not uri.startswith("sqlite:///"):
        return nullcontext()
    from filelock import FileLock

    path = Path(uri.removeprefix("sqlite:///"))
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(f"{path}.lock")


def _serve(uri: str, experiment: str, artifact_root: str) -> None:
    """Answer each line on standard input (a run folder; blank: are you ready?) with one line of JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print must not stand between the answers
    try:
        logger = MlflowLog(uri, experiment, artifact_root)
        failure = None
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    for line in sys.stdin:
        answer: dict[str, str]
        try:
            if failure is not None:
                raise MlflowError(failure)
            answer = {"ok": logger.log(Path(line.strip())) if line.strip() else "ready"}
        except Exception as error:
            answer = {"error": str(error).removeprefix("MlflowError: ")}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve(*sys.argv[1:4])
