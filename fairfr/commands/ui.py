"""Open the MLflow page over the runs of an output folder.

fairfr ui --out-root outputs --port 5000       from a checkout: make ui OUT=outputs PORT=5000
"""

import argparse
import os
import sys
from pathlib import Path

from fairfr.store.mlflow.process import MlflowError
from fairfr.store.mlflow.reading_back import EXPERIMENT, default_uri, pages


def main() -> None:
    """Print the addresses that show metrics at once, then become the MLflow server, on loopback."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out-root", type=Path, default=Path("outputs"), help="where runs are (%(default)s)")
    parser.add_argument("--port", type=int, default=5000, help="on this machine (%(default)s)")
    parser.add_argument("--experiment", default=EXPERIMENT, help="of MLflow (%(default)s)")
    arguments = parser.parse_args()
    database = (arguments.out_root / "mlflow.db").resolve()
    if not database.exists():
        sys.exit(
            f"{database} does not exist yet. Run something first, for example: make demo. "
            "Runs are elsewhere? Name their folder: fairfr ui --out-root DIR, or make ui OUT=DIR"
        )
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["PYTHONSAFEPATH"] = "1"  # the server and its workers import nothing from the working directory
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
