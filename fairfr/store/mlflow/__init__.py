"""MLflow as a mirror of the run folders."""
