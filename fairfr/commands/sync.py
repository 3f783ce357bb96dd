"""Sync MLflow with the run folders.

  fairfr sync
  fairfr sync --out-root outputs --tracking-uri http://server:5000

For a database that was deleted, for another server, for one that was out of
reach (fairfr run ended with exit code 3), or for run folders that were copied
from other machines. Runs that MLflow has are left alone, unfinished ones are
removed, sweeps get their tables and figures again. A server's password belongs
in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, not in its address.

next: fairfr ui
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.core.errors import FairfrError
from fairfr.store.mlflow.client import EXPERIMENT
from fairfr.store.result_file import StoredRun
from fairfr.store.settings import StoreSettings
from fairfr.sweep.mirror import Mirror
from fairfr.sweep.terminal import Terminal

PATIENCE = 300.0  # seconds for one answer: this command is there to wait for MLflow


def main() -> None:
    """Log what is missing, then say what was done."""
    arguments = parse(make_parser())
    if not (arguments.out_root / "runs").is_dir():
        sys.exit(f"{arguments.out_root / 'runs'} does not exist: there is nothing to bring to MLflow.")
    store = StoreSettings("mlflow", arguments.tracking_uri, arguments.mlflow_experiment, patience=PATIENCE)
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


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(**pattern("[options]", __doc__ or ""), add_help=False)
    show_help_option(parser)
    add = parser.add_argument_group("input").add_argument
    add("--out-root", type=Path, default=Path("outputs"), metavar="DIR", help="folder of runs/ (default: outputs)")
    add("--config-dir", action="append", type=Path, default=[], metavar="DIR", help=_CONFIG_DIR)
    add = parser.add_argument_group("MLflow").add_argument
    add("--tracking-uri", "--uri", metavar="URI", help="a server or a database (default: DIR/mlflow.db)")
    add(
        "--mlflow-experiment",
        "--experiment",
        default=EXPERIMENT,
        metavar="NAME",
        help="name in MLflow (default: fairfr)",
    )
    return parser


_CONFIG_DIR = "your own configurations, to see whether other code made their runs (repeatable)"


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
