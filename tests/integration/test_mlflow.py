"""MLflow mirrors the run folders: once for each key, with the same numbers, and never at their expense."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from fairfr.store.mirror import Mirror
from fairfr.store.mlflow import MlflowError, MlflowMirror, default_uri
from fairfr.store.settings import StoreSettings


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A database with its tables made, which takes seconds: once for all workers, copied by each test."""
    root = tmp_path_factory.getbasetemp()
    shared = root if worker_id == "master" else root.parent
    path = shared / "mlflow_template.db"
    with FileLock(f"{path}.making"):
        if not path.exists():
            making = MlflowMirror(f"sqlite:///{path}.new", "fairfr", shared / "mlartifacts")
            making.wait_until_ready()
            making.close()
            Path(f"{path}.new").rename(path)
    return path


@pytest.fixture
def out(tmp_path: Path, template: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    shutil.copy(template, folder / "mlflow.db")
    return folder


@pytest.fixture
def mirror(out: Path) -> Iterator[Mirror]:
    made = Mirror(StoreSettings("mlflow", experiment="fairfr"), out)
    yield made
    made.close()


def runs_in(out: Path) -> list[Any]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(default_uri(out))
    experiment = client.get_experiment_by_name("fairfr")
    assert experiment is not None and experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    return list(client.search_runs([experiment.experiment_id]))


def artifacts_of(out: Path, run_id: str) -> set[str]:
    from mlflow.tracking import MlflowClient

    return {artifact.path for artifact in MlflowClient(default_uri(out)).list_artifacts(run_id)}


def check_numbers(run: Any, result: dict[str, Any]) -> None:
    means = {
        (r["grouping"], r["rule"], r["group"], r["metric"]): r["mean"]
        for r in result["metrics"]
        if r["mean"] is not None
    }
    logged = run.data.metrics
    assert logged["auroc"] == means["all", "all", "all", "auroc"]
    for (grouping, rule, group, metric), mean in means.items():
        if grouping == "all":
            assert logged[metric] == mean
        elif group in ("worst", "gap"):
            assert logged[f"{group}/{grouping}/{rule}/{metric}"] == mean
        elif metric in ("auroc", "brier"):
            assert logged[f"{grouping}/{rule}/{group}/{metric}"] == mean
    assert not any("nan" in str(value) for value in logged.values()), "an undefined number is left out"
    assert logged["seconds"] == result["seconds"]


def test_a_run_is_logged_once_with_the_numbers_of_its_folder(
    cell: Any, small: tuple[str, ...], out: Path, mirror: Mirror
) -> None:
    outcome = cell(*small, "dataset.min_pairs=2", "method=platt", "method.estimator.C=0.5", "seed=4")
    assert not mirror.has(outcome.result)
    mirror.log(outcome.result, outcome.folder)
    assert mirror.has(outcome.result)
    (run,) = runs_in(out)
    check_numbers(run, outcome.result)
    assert run.info.status == "FINISHED"
    assert "Platt" in run.info.run_name and "synthetic" in run.info.run_name
    tags = {"run_key": outcome.result["key"], "source": "synthetic", "status": "completed", "threads": "1"}
    tags |= {"dataset": "lfw", "backbone": "magface", "method": "platt", "run_folder": str(outcome.folder)}
    assert tags.items() <= run.data.tags.items()
    assert {"method.estimator.C": "0.5", "seed": "4", "dataset.id": "lfw"}.items() <= run.data.params.items()
    small_files = {"result.json", "config.yaml", "metrics.parquet", "run.log"}
    assert artifacts_of(out, run.info.run_id) == small_files, "scores stay in the run folder"

    mirror.log(outcome.result, outcome.folder)
    (replaced,) = runs_in(out)
    assert replaced.info.run_id != run.info.run_id and replaced.data.metrics == run.data.metrics

    other = Mirror(StoreSettings("mlflow", tracking_uri="http://127.0.0.1:5000"), out)
    assert not other.has(outcome.result), "logged here does not mean logged there"
    (out / "mlflow.db").rename(out / "moved.db")
    assert not mirror.has(outcome.result), "a database that is gone has nothing"


def test_a_failed_run_is_logged_as_failed(
    cell: Any, small: tuple[str, ...], out: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairfr.methods.platt import Platt

    def fit(*arguments: Any) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(Platt, "fit", fit)
    outcome = cell(*small, "method=platt")
    mirror.log(outcome.result, outcome.folder)
    (run,) = runs_in(out)
    assert run.info.status == "FAILED" and "no luck" in run.data.tags["error"]
    assert "error.txt" in artifacts_of(out, run.info.run_id)


def test_run_py_mirrors_and_repairs_what_a_kill_left_unmirrored(run_py: Any, small: tuple[str, ...], out: Path) -> None:
    command = (*small, "method=baseline", "dataset.grouping=[ethnicity]")
    done = run_py(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MLflow" in done.stdout and done.stderr == ""
    (first,) = runs_in(out)
    (mark,) = (out / ".mirrored").iterdir()
    mark.unlink()
    again = run_py(*command)
    assert again.returncode == 0 and "already done" in again.stdout
    (second,) = runs_in(out)
    assert mark.exists() and second.info.run_id != first.info.run_id
    assert second.data.metrics == first.data.metrics


def test_mlflow_out_of_reach_costs_the_exit_code_but_not_the_run(
    run_py: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    done = run_py(*small, "method=baseline", "store.tracking_uri=nonsense://nowhere")
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said
    assert "MlflowError" in said and "nonsense://nowhere" in said
    (folder,) = (tmp_path / "out").glob("runs/*/*/*/*")
    assert '"status": "completed"' in (folder / "result.json").read_text()
    assert not (tmp_path / "out" / ".mirrored").exists()


def test_a_database_that_cannot_be_made_is_an_mlflow_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    mirror = MlflowMirror(f"sqlite:///{tmp_path / 'file' / 'mlflow.db'}", "fairfr")
    try:
        with pytest.raises(MlflowError, match=r"mlflow\.db"):
            mirror.log(tmp_path)
    finally:
        mirror.close()


def test_a_process_that_dies_is_an_mlflow_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    mirror = MlflowMirror(f"sqlite:///{tmp_path / 'mlflow.db'}", "fairfr")
    with pytest.raises(MlflowError, match="ended early"):
        mirror.log(tmp_path)
    mirror.close()
