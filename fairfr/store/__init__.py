"""Where results live: run folders are the truth, MLflow mirrors them."""
