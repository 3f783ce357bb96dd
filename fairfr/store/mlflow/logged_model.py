"""A calibrator in MLflow: a pyfunc under the run that tells what it does, registered under a name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fairfr import __version__
from fairfr.store.mlflow.address import EXPERIMENT, default_uri
from fairfr.store.mlflow.client import open_client, search_runs
from fairfr.store.mlflow.errors import MlflowError
from fairfr.store.settings import StoreSettings

ENTRY = Path(__file__).with_name("served_entry.py")
NAME = "calibrator"
EXAMPLES = 2


def log_model(store: StoreSettings, out_root: Path, path: Path, key: str, registered: str) -> str:
    """Log the model file at ``path`` under the run ``key`` and register it; returns ``models:/name/version``."""
    uri = store.tracking_uri or default_uri(out_root)
    try:
        client = open_client(uri, store.patience)
        run = _run(client, store.experiment or EXPERIMENT, key)
        with _environment(MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_ID=run.info.experiment_id):
            logged = _log(path, run.info.run_id, registered)
    except MlflowError:
        raise
    except Exception as error:
        raise MlflowError(f"{path} is written, but MLflow did not take it: {error}") from error
    return f"models:/{registered}/{logged.registered_model_version}"


def _run(client: Any, experiment: str, key: str) -> Any:
    found = client.get_experiment_by_name(experiment)
    condition = f"tags.run_key = '{key}' and attributes.status = 'FINISHED'"
    runs = search_runs(client, found.experiment_id, condition) if found is not None else []
    if not runs:
        raise MlflowError(f"MLflow has no run {key}, to which the model belongs. Bring it there first: fairfr sync.")
    return runs[0]


def _log(path: Path, run: str, registered: str) -> Any:
    import mlflow.pyfunc
    from mlflow.models import Model

    # not through start_run, which would open the finished run again
    return Model.log(
        artifact_path=None,
        name=NAME,
        flavor=mlflow.pyfunc,
        run_id=run,
        registered_model_name=registered,
        **described(path),
    )


def described(path: Path) -> dict[str, Any]:
    """What MLflow stores about a model file: its code, signature, an example, what it needs."""
    import fairfr
    from fairfr.store.mlflow.served import MODEL, predict

    model = fairfr.load(path)
    example = input_example(model)
    return {
        "python_model": str(ENTRY),
        "artifacts": {MODEL: str(path)},
        "signature": signature(model, predict(model, example)),
        "input_example": example,
        "pip_requirements": [f"fairfr=={__version__}"],
        "metadata": {"method": type(model).__name__, "training": model.training_, "origin": model.origin_},
    }


def signature(model: Any, predicted: Any) -> Any:
    """Names and types of the columns."""
    from mlflow.models import ModelSignature
    from mlflow.types.schema import Array, ColSpec, DataType, Schema

    from fairfr.store.mlflow.served import SIDES, label_columns, takes_scores

    text = [ColSpec(DataType.string, name, required=False) for name in label_columns(model)]
    numbers = (
        [ColSpec(DataType.double, "cosine")]
        if takes_scores(model)
        else [ColSpec(Array(DataType.double), side) for side in SIDES]
    )
    return ModelSignature(
        inputs=Schema([*numbers, *text]), outputs=Schema([ColSpec(DataType.double, name) for name in predicted.columns])
    )


def input_example(model: Any) -> Any:
    """Pairs of made-up vectors (or cosines) with unknown labels."""
    import pandas as pd

    from fairfr.store.mlflow.served import SIDES, label_columns, takes_scores

    if takes_scores(model):
        return pd.DataFrame({"cosine": np.linspace(0.2, 0.8, EXAMPLES)})
    rng = np.random.default_rng(0)
    vectors = {side: list(rng.normal(size=(EXAMPLES, model.width_)).round(3).tolist()) for side in SIDES}
    return pd.DataFrame(vectors | {name: [""] * EXAMPLES for name in label_columns(model)})


@contextmanager
def _environment(**given: str) -> Iterator[None]:
    """MLflow logs models to a place that the whole process shares; from its environment it can be taken back."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
