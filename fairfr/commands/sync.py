"""Sync MLflow with the run folders.

fairfr sync --out-root outputs [--uri http://server:5000]       from a checkout: python scripts/sync_mlflow.py

For a database that was deleted, for another server, for one that was out of reach while cells ran (fairfr run ended
with exit code 3), or for run folders that were copied here from other machines. Runs that MLflow has already are left
alone, so a second call changes nothing; runs that were never finished are removed. Parent runs of sweeps, with their
tables and figures, are made again from <out_root>/hydra/sweep.
A server's password belongs in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, not in its address.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.core.errors import FairfrError
from fairfr.store.mlflow.client import EXPERIMENT
from fairfr.store.result_file import StoredRun
from fairfr.store.settings import StoreSettings
from fairfr.sweep.mirror import Mirror
from fairfr.sweep.terminal import Terminal

PATIENCE = 300.0  # seconds for one answer: this command is there to wait for MLflow


def main() -> None:
    """Log what is missing, then say what was done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out-root", type=Path, default=Path("outputs"))
    parser.add_argument("--uri", help="a tracking server or database; default: <out_root>/mlflow.db")
    parser.add_argument("--experiment", default=EXPERIMENT)
    parser.add_argument(
        "--config-dir",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="with your own configurations: also say of their runs whether other code made them (repeatable)",
    )
    arguments = parser.parse_args()
    if not (arguments.out_root / "runs").is_dir():
        sys.exit(f"{arguments.out_root / 'runs'} does not exist: there is nothing to bring to MLflow.")
    store = StoreSettings("mlflow", arguments.uri, arguments.experiment, patience=PATIENCE)
    refusals: list[str] = []

    def refused(line: str) -> None:
        print(line)
        refusals.append(line)

    try:
        print(sync(Mirror(store, arguments.out_root, tuple(arguments.config_dir)), refused))
    except FairfrError as error:
        Terminal().error(error.named())
        sys.exit(1)
    if refusals:
        sys.exit(f"{len(refusals)} were not logged. The same command tries them again.")


def sync(mirror: Mirror, on_refusal: Callable[[str], object] = print) -> str:
    """Log the runs and sweeps that MLflow lacks or has in an older version; returns the counts as a sentence."""
    brought = mirror.bring_all(on_refusal, lambda line: print(f"left out: {line}"), _with_progress)
    return (
        f"{mirror.uri}: {brought.runs} runs logged, {brought.runs_there} were there; "
        f"{brought.sweeps} sweeps rebuilt, {brought.sweeps_there} were there"
        + (f"; {brought.removed} unfinished runs removed" if brought.removed else "")
    )


def _with_progress(runs: list[StoredRun]) -> Iterator[StoredRun]:
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        yield from progress.track(runs)
