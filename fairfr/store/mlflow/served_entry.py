"""What MLflow copies beside a logged calibrator and runs to load it: fairfr itself is the code of the model."""

import mlflow

from fairfr.store.mlflow.served import ServedCalibrator

mlflow.models.set_model(ServedCalibrator())
