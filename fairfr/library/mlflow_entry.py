"""What MLflow copies beside a logged calibrator and runs to load it: fairfr itself is the code of the model."""

from __future__ import annotations

from typing import Any

import mlflow.pyfunc
import pandas as pd
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

import fairfr
from fairfr.library.mlflow_model import MODEL, PRIOR, predict


class ServedCalibrator(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
    """Loads the model's file, hands tables to it."""

    def load_context(self, context: Any) -> None:
        """Called by MLflow once."""
        self.model = fairfr.load(context.artifacts[MODEL])

    def predict(self, context: Any, model_input: pd.DataFrame, params: Any = None) -> pd.DataFrame:
        """Score and probability of each row; MLflow's server passes on the text of its own kind of error alone."""
        try:
            return predict(self.model, model_input, (params or {}).get(PRIOR))
        except fairfr.FairfrError as error:
            raise MlflowException(error.named(), error_code=INVALID_PARAMETER_VALUE) from error


mlflow.models.set_model(ServedCalibrator())
