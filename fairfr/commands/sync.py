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
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.core.errors import FairfrError
from fairfr.store.mlflow.client import EXPERIMENT, mlflow_errors, store_uri
from fairfr.store.mlflow.describe import measured_at
from fairfr.store.mlflow.log import MlflowWriter
from fairfr.store.result_file import StoredRun, stored_runs
from fairfr.store.secrets import mask_passwords
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep_record import SweepSummary, stored_sweeps
from fairfr.sweep.mlflow_metrics import describe_run
from fairfr.sweep.sweep_report import write_sweep_report
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
    try:
        print(sync(store, arguments.out_root, refusals.append, tuple(arguments.config_dir)))
    except FairfrError as error:
        Terminal().error(error.named())
        sys.exit(1)
    if refusals:
        sys.exit(f"{len(refusals)} were not logged. The same command tries them again.")


def sync(
    store: StoreSettings,
    out_root: Path,
    on_refusal: Callable[[str], object] = lambda line: None,
    config_dirs: tuple[Path, ...] = (),
) -> str:
    """Log the runs and sweeps that MLflow lacks or has in an older version; returns the counts as a sentence.

    What MLflow refuses is printed, and ``on_refusal`` gets it; the others follow, until MLflow has refused everything
    for ``store.patience`` seconds: then its error is raised.
    """
    uri = mask_passwords(store_uri(store, out_root))
    with mlflow_errors(uri):
        writer = MlflowWriter(store, out_root)
        removed = writer.delete_unfinished()
        known = writer.logged()
    patience = _Patience(store.patience)
    runs = list(stored_runs(out_root, on_damage=lambda line: print(f"left out: {line}")))
    newest = {key: max(times) for key, times in known.items()}  # the same cell may have run on two machines
    missing = [run for run in runs if measured_at(run.result) > newest.get(run.result.key, "")]
    logged = 0
    for run in _with_progress(missing):
        with patience.for_one(str(run.folder), on_refusal), mlflow_errors(uri):
            writer.log_run(run.folder, describe_run)
            logged += 1
    sweeps = [(sweep, SweepSummary.of(sweep, outcomes), outcomes) for sweep, outcomes in stored_sweeps(out_root)]
    lost = [found for found in sweeps if found[1].tags["finished"] not in known.get(found[0].id, ())]
    rebuilt = 0
    for sweep, end, outcomes in lost:
        with patience.for_one(f"sweep {end.name}", on_refusal), tempfile.TemporaryDirectory() as report:
            write_sweep_report(outcomes, Path(report), config_dirs)
            with mlflow_errors(uri):
                writer.close_sweep(sweep, end, Path(report))
            rebuilt += 1
    return (
        f"{uri}: {logged} runs logged, {len(runs) - len(missing)} were there; "
        f"{rebuilt} sweeps rebuilt, {len(sweeps) - len(lost)} were there"
        + (f"; {removed} unfinished runs removed" if removed else "")
    )


class _Patience:
    """How long MLflow may refuse one run after the other: one that takes nothing any more would cost hours."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last_logged = time.monotonic()

    @contextmanager
    def for_one(self, what: str, on_refusal: Callable[[str], object]) -> Iterator[None]:
        """Print a refusal, and raise it if the last thing that MLflow took was too long ago."""
        try:
            yield
        except FairfrError as error:
            if time.monotonic() - self._last_logged > self._seconds:
                raise
            line = f"not logged: {what}: {error}"
            print(line)
            on_refusal(line)
        else:
            self._last_logged = time.monotonic()


def _with_progress(missing: list[StoredRun]) -> Iterator[StoredRun]:
    columns = (TextColumn("logging runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        yield from progress.track(missing)
