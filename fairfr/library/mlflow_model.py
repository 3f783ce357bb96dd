"""A calibrator in MLflow: a pyfunc under the run that tells what it does, registered under a name.

A table of pairs comes in, scores and probabilities go out. Columns are ``left`` and ``right`` (vectors as lists), or
``cosine`` for a model of scores; for each group that the method needs also ``left_<group>`` and ``right_<group>``, for
identities ``left_identity`` and ``right_identity``. ``params={"prior": P}``: the probability where P is the share of
genuine pairs, and a column ``llr``. mlflow_entry.py is what MLflow copies, and runs to load a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fairfr import __version__
from fairfr.core.errors import DataError
from fairfr.library.expected import KEY as EXPECTED
from fairfr.library.model_file import load
from fairfr.library.scored_embeddings import result_columns
from fairfr.pairs.vectors import COSINE_RANGE
from fairfr.store.mlflow.client import EXPERIMENT, MlflowError, open_client, search_runs, store_uri
from fairfr.store.settings import StoreSettings

ENTRY = Path(__file__).with_name("mlflow_entry.py")
MODEL = "model"  # what the file is called among the artifacts
SIDES = ("left", "right")
PRIOR = "prior"  # the parameter of a request
NAME = "calibrator"
EXAMPLES = 2
OURS = "fairfr calibrator"  # how our descriptions begin


def log_model(store: StoreSettings, out_root: Path, path: Path, key: str, registered: str, content: str) -> str:
    """Log the model file at ``path`` under the run ``key`` and register it; returns ``models:/name/version``.

    ``content`` says for people what is in the file; it goes into the description.
    """
    uri = store_uri(store, out_root)
    try:
        client = open_client(uri, store.patience)
        run = _run(client, store.experiment or EXPERIMENT, key)
        with _environment(MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_ID=run.info.experiment_id):
            logged = _log(path, run.info.run_id, registered)
        _describe(client, registered, str(logged.registered_model_version), content)
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


def _describe(client: Any, registered: str, version: str, content: str) -> None:
    """Say what is in the file, at this version and, unless people wrote something else there, at the model itself."""
    text = f"{OURS}, {content}."
    client.update_model_version(registered, version, description=text)
    before = client.get_registered_model(registered).description or OURS
    if before.startswith(OURS):
        client.update_registered_model(registered, description=text)


def described(path: Path) -> dict[str, Any]:
    """What MLflow stores about a model file: its code, signature, an example, what it needs."""
    model = load(path)
    example = input_example(model)
    origin = dict(model.origin_ or {})
    origin.pop(EXPECTED, None)  # long, and in the file
    return {
        "python_model": str(ENTRY),
        "artifacts": {MODEL: str(path)},
        "signature": signature(model, predict(model, example)),
        "input_example": example,
        "pip_requirements": [f"fairfr=={__version__}"],
        "metadata": {
            "method": type(model).__name__,
            "training": model.training_,
            "origin": origin or None,
            "holds": model.holds_,
        },
    }


def signature(model: Any, predicted: Any) -> Any:
    """Names and types of the columns; llr is there if a prior is given."""
    from mlflow.models import ModelSignature
    from mlflow.types.schema import Array, ColSpec, DataType, ParamSchema, ParamSpec, Schema

    text = [ColSpec(DataType.string, name, required=False) for name in label_columns(model)]
    numbers = (
        [ColSpec(DataType.double, "cosine")]
        if takes_scores(model)
        else [ColSpec(Array(DataType.double), side) for side in SIDES]
    )
    found = [ColSpec(DataType.double, name) for name in predicted.columns]
    return ModelSignature(
        inputs=Schema([*numbers, *text]),
        outputs=Schema([*found, ColSpec(DataType.double, "llr", required=False)]),
        params=ParamSchema([ParamSpec(PRIOR, DataType.double, default=None)]),
    )


def input_example(model: Any) -> Any:
    """Pairs of made-up vectors (or cosines) with unknown labels."""
    import pandas as pd

    if takes_scores(model):
        low, high = model.score_range_ or COSINE_RANGE
        return pd.DataFrame({"cosine": np.linspace(low + 0.6 * (high - low), low + 0.9 * (high - low), EXAMPLES)})
    rng = np.random.default_rng(0)
    vectors = {side: list(rng.normal(size=(EXAMPLES, model.width_)).round(3).tolist()) for side in SIDES}
    return pd.DataFrame(vectors | {name: [""] * EXAMPLES for name in label_columns(model)})


def predict(model: Any, table: Any, prior: float | None = None) -> Any:
    """A frame with ``score`` and ``probability`` for each row of ``table``, with a prior also ``llr``."""
    import pandas as pd

    if takes_scores(model):
        score, probability = model.prediction_scores(table["cosine"].to_numpy())
    else:
        vectors = tuple(_vectors(table[side], side) for side in SIDES)
        groups = {id: _both(table, id) for id in model.groups_}
        people = _both(table, "identity") if model.asks_for_people else None
        score, probability = model.prediction(vectors, groups=groups, identities=people)
    return pd.DataFrame(result_columns(model, score, probability, prior))


def takes_scores(model: Any) -> bool:
    """Whether a model was fitted on cosines alone."""
    return model.width_ is None


def label_columns(model: Any) -> list[str]:
    """Names of the text columns that a model asks for."""
    labels = [*model.groups_, *(["identity"] if model.asks_for_people else [])]
    return [f"{side}_{label}" for label in labels for side in SIDES]


def _both(table: Any, label: str) -> tuple[Any, Any]:
    left, right = (table[f"{side}_{label}"].to_numpy(dtype=object) for side in SIDES)
    return left, right


def _vectors(column: Any, side: str) -> Any:
    rows = [np.asarray(row, dtype=np.float64) for row in column]
    widths = {row.shape for row in rows}
    if len(widths) > 1:
        raise DataError(f"'{side}' has vectors of different widths: {sorted(widths)}.")
    return np.stack(rows) if rows else np.empty((0, 1))


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
