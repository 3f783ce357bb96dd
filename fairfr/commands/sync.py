"""Bring MLflow up to the run folders.

fairfr sync --out-root outputs [--uri http://server:5000]       from a checkout: python scripts/sync_mlflow.py

For a database that was deleted, for another server, or for one that was out of reach while cells ran (fairfr run ended
with exit code 3). Runs that MLflow has already are left alone, so a second call changes nothing; runs that were never
finished are removed. Parent runs of sweeps, with their tables and figures, are made again from <out_root>/hydra/sweep.
A server's password belongs into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, not into its address.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.app.listed import log_run
from fairfr.app.sweep import write_sweep_report
from fairfr.app.terminal import Terminal
from fairfr.core.errors import FairfrError
from fairfr.store.mlflow.address import EXPERIMENT
from fairfr.store.mlflow.describe import measured_at
from fairfr.store.mlflow.mirror import Mirror
from fairfr.store.reading import StoredRun, stored_runs
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import SweepEnd, stored_sweeps

PATIENCE = 300.0  # seconds for one answer: whoever calls this waits for MLflow


def main() -> None:
    """Log what is missing, then say what was done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out-root", type=Path, default=Path("outputs"))
    parser.add_argument("--uri", help="a tracking server or database; default: <out_root>/mlflow.db")
    parser.add_argument("--experiment", default=EXPERIMENT)
    arguments = parser.parse_args()
    if not (arguments.out_root / "runs").is_dir():
        sys.exit(f"{arguments.out_root / 'runs'} does not exist: there is nothing to bring to MLflow.")
    store = StoreSettings("mlflow", arguments.uri, arguments.experiment, patience=PATIENCE)
    mirror = Mirror(store, arguments.out_root)
    try:
        print(sync(mirror, arguments.out_root))
    except FairfrError as error:
        Terminal().error(str(error))
        sys.exit(1)
    finally:
        mirror.close()


def sync(mirror: Mirror, out_root: Path) -> str:
    """Log the runs and sweeps that MLflow lacks or has in an older version; returns the counts as a sentence."""
    removed = mirror.tidy()
    known = mirror.logged()
    runs = list(stored_runs(out_root, on_damage=lambda line: print(f"left out: {line}")))
    missing = [run for run in runs if measured_at(run.head) not in known.get(run.head["key"], ())]
    for run in _with_progress(missing):
        log_run(mirror, run.result(), run.folder)
    sweeps = [(sweep, SweepEnd.of(sweep, outcomes), outcomes) for sweep, outcomes in stored_sweeps(out_root)]
    lost = [found for found in sweeps if found[1].tags["finished"] not in known.get(found[0].id, ())]
    for sweep, end, outcomes in lost:
        with tempfile.TemporaryDirectory() as report:
            write_sweep_report(outcomes, Path(report))
            mirror.close_sweep(sweep, end, Path(report))
    return (
        f"{mirror.uri}: {len(missing)} runs logged, {len(runs) - len(missing)} were there; "
        f"{len(lost)} sweeps rebuilt, {len(sweeps) - len(lost)} were there"
        + (f"; {removed} unfinished runs removed" if removed else "")
    )


def _with_progress(missing: list[StoredRun]) -> Iterator[StoredRun]:
    columns = (TextColumn("logging runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        yield from progress.track(missing)
