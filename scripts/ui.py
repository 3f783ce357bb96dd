"""Open the MLflow page over the runs of an output folder: python scripts/ui.py --out-root outputs --port 5000"""

import argparse
import os
import sys
from pathlib import Path

EXPERIMENT = "fairfr"


def main() -> None:
    """Print the address of the run list, then become the MLflow server, on loopback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out-root", type=Path, default=Path("outputs"))
    parser.add_argument("--port", type=int, default=5000)
    arguments = parser.parse_args()
    database = (arguments.out_root / "mlflow.db").resolve()
    if not database.exists():
        sys.exit(f"{database} does not exist yet. Run something first, for example: make demo")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    uri = f"sqlite:///{database}"
    print(f"MLflow over {database} (stop with Ctrl-C). When the server is up, open:\n  {_address(uri, arguments.port)}")
    sys.stdout.flush()
    server = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri]
    os.execv(sys.executable, [*server, "--host", "127.0.0.1", "--port", str(arguments.port), "--workers", "1"])


def _address(uri: str, port: int) -> str:
    from mlflow.tracking import MlflowClient

    experiment = MlflowClient(uri).get_experiment_by_name(EXPERIMENT)
    page = f"/experiments/{experiment.experiment_id}/runs?workflowType=machine_learning" if experiment else "/"
    return f"http://127.0.0.1:{port}/#{page}"


if __name__ == "__main__":
    main()
