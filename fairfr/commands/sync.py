"""Bring MLflow up to the run folders.

fairfr sync --out-root outputs [--uri http://server:5000]       from a checkout: python scripts/sync_mlflow.py

For a database that was deleted, for another server, for one that was out of reach while cells ran (fairfr run ended
with exit code 3), or for run folders that were copied here from other machines. Runs that MLflow has already are left
alone, so a second call changes nothing; runs that were never finished are removed. Parent runs of sweeps, with their
tables and figures, are made again from <out_root>/hydra/sweep.
A server's password belongs into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, not into its address.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    refusals: list[str] = []
    try:
        print(sync(mirror, arguments.out_root, refusals.append))
    except FairfrError as error:
        Terminal().error(str(error))
        sys.exit(1)
    finally:
        mirror.close()
    if refusals:
        sys.exit(f"{len(refusals)} were not logged. The same command tries them again.")


def sync(mirror: Mirror, out_root: Path, on_refusal: Callable[[str], object] = lambda line: None) -> str:
    """Log the runs and sweeps that MLflow lacks or has in an older version; returns the counts as a sentence.

    What MLflow refuses is printed, and ``on_refusal`` gets it; the others follow, until MLflow has been silent for too
    long: then its error is raised.
    """
    removed = mirror.tidy()
    known = mirror.logged()
    runs = list(stored_runs(out_root, on_damage=lambda line: print(f"left out: {line}")))
    newest = {key: max(times) for key, times in known.items()}  # the same cell may have run on two machines
    missing = [run for run in runs if measured_at(run.head) > newest.get(run.head["key"], "")]
    logged = 0
    for run in _with_progress(missing):
        with _going_on(mirror, str(run.folder), on_refusal):
            log_run(mirror, run.result(), run.folder)
            logged += 1
    sweeps = [(sweep, SweepEnd.of(sweep, outcomes), outcomes) for sweep, outcomes in stored_sweeps(out_root)]
    lost = [found for found in sweeps if found[1].tags["finished"] not in known.get(found[0].id, ())]
    rebuilt = 0
    for sweep, end, outcomes in lost:
        with tempfile.TemporaryDirectory() as report, _going_on(mirror, f"sweep {end.name}", on_refusal):
            write_sweep_report(outcomes, Path(report))
            mirror.close_sweep(sweep, end, Path(report))
            rebuilt += 1
    return (
        f"{mirror.uri}: {logged} runs logged, {len(runs) - len(missing)} were there; "
        f"{rebuilt} sweeps rebuilt, {len(sweeps) - len(lost)} were there"
        + (f"; {removed} unfinished runs removed" if removed else "")
    )


@contextmanager
def _going_on(mirror: Mirror, what: str, on_refusal: Callable[[str], object]) -> Iterator[None]:
    """A refusal is printed, and no reason to stop, unless MLflow was given up."""
    try:
        yield
    except FairfrError as error:
        if mirror.has_given_up:
            raise
        line = f"not logged: {what}: {error}"
        print(line)
        on_refusal(line)


def _with_progress(missing: list[StoredRun]) -> Iterator[StoredRun]:
    columns = (TextColumn("logging runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        yield from progress.track(missing)
