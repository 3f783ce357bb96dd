"""A calibrator as MLflow loads and serves it: a table of pairs comes in, scores and probabilities go out.

Columns are ``left`` and ``right`` (vectors as lists), or ``cosine`` for a model of scores; for each group that the
method needs also ``left_<group>`` and ``right_<group>``, for identities ``left_identity`` and ``right_identity``.
"""

from __future__ import annotations

from typing import Any

import mlflow.pyfunc
import numpy as np
import pandas as pd

import fairfr
from fairfr.core.errors import DataError

MODEL = "model"  # what the file is called among the artifacts
SIDES = ("left", "right")


class ServedCalibrator(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
    """Loads the model's file, hands tables to it."""

    def load_context(self, context: Any) -> None:
        """Called by MLflow once."""
        self.model = fairfr.load(context.artifacts[MODEL])

    def predict(self, context: Any, model_input: pd.DataFrame, params: Any = None) -> pd.DataFrame:
        """Score and probability of each row."""
        return predict(self.model, model_input)


def predict(model: Any, table: Any) -> Any:
    """A frame with ``score`` and ``probability`` for each row of ``table``."""
    if takes_scores(model):
        score, probability = model.prediction_scores(table["cosine"].to_numpy())
    else:
        vectors = tuple(_vectors(table[side], side) for side in SIDES)
        groups = {id: _both(table, id) for id in model.groups_}
        people = _both(table, "identity") if "identities" in model.needs else None
        score, probability = model.prediction(vectors, groups=groups, identities=people)
    return pd.DataFrame({"score": score, "probability": probability})


def takes_scores(model: Any) -> bool:
    """Whether a model was fitted on cosines alone."""
    return model.width_ is None


def label_columns(model: Any) -> list[str]:
    """Names of the text columns that a model asks for."""
    labels = [*model.groups_, *(["identity"] if "identities" in model.needs else [])]
    return [f"{side}_{label}" for label in labels for side in SIDES]


def _both(table: Any, label: str) -> tuple[Any, Any]:
    left, right = (table[f"{side}_{label}"].to_numpy(dtype=object) for side in SIDES)
    return left, right


def _vectors(column: Any, side: str) -> Any:
    rows = [np.asarray(row, dtype=np.float64) for row in column]
    widths = {row.shape for row in rows}
    if len(widths) > 1:
        raise DataError(f"'{side}' holds vectors of different widths: {sorted(widths)}.")
    return np.stack(rows) if rows else np.empty((0, 1))
