"""Open the MLflow page over the runs of an output folder: python scripts/ui.py --out-root outputs --port 5000"""

import argparse
import os
import sys
from pathlib import Path

from fairfr.store.mlflow import EXPERIMENT, default_uri, pages
from fairfr.store.process import MlflowError


def main() -> None:
    """Print the addresses that show metrics at once, then become the MLflow server, on loopback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out-root", type=Path, default=Path("outputs"))
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--experiment", default=EXPERIMENT)
    arguments = parser.parse_args()
    database = (arguments.out_root / "mlflow.db").resolve()
    if not database.exists():
        sys.exit(f"{database} does not exist yet. Run something first, for example: make demo")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    uri = default_uri(arguments.out_root)
    try:
        listed = pages(uri, arguments.experiment)
    except MlflowError as error:
        sys.exit(str(error))
    print(f"MLflow over {database} (stop with Ctrl-C). When the server is up, open:")
    for title, page in listed:
        print(f"  {title}\n      http://127.0.0.1:{arguments.port}/#{page}")
    sys.stdout.flush()
    server = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri]
    os.execv(sys.executable, [*server, "--host", "127.0.0.1", "--port", str(arguments.port), "--workers", "1"])


if __name__ == "__main__":
    main()
