"""Recompute metrics of stored runs without refitting.

  fairfr rescore --min-pairs 50
  fairfr rescore --grouping gender --jobs 4

Without options, runs that have metrics of an older version are measured again,
in place. With options new runs stand beside them, as if they had been run with
dataset.min_pairs=50 or dataset.grouping=[gender]. An interrupted call is simply
repeated: what is done is left alone.

next: fairfr tables
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.core.errors import FairfrError
from fairfr.runner.rescore import RescoreOptions, rescore
from fairfr.store.result_file import run_folders


def main() -> None:
    """Measure, say what was done; exit code 1 if a run could not be."""
    options = parse(make_parser())
    grouping = tuple(options.grouping.split(",")) if options.grouping else None
    wanted = RescoreOptions(options.min_pairs, grouping, options.force)
    folders = list(run_folders(options.out_root))
    if not folders:
        sys.exit(f"{options.out_root / 'runs'} has no runs.")
    counts = Counter(_with_progress(_measure(folders, options.out_root, wanted, options.jobs), len(folders)))
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    sys.exit(1 if counts["failed"] else 0)


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(**pattern("[options]", __doc__ or ""), add_help=False)
    show_help_option(parser)
    add = parser.add_argument_group("input").add_argument
    add("--out-root", type=Path, default=Path("outputs"), metavar="DIR", help="folder of runs/ (default: outputs)")
    add("--force", action="store_true", help="also runs that are up to date")
    add = parser.add_argument_group("metrics").add_argument
    add("--grouping", metavar="A,B", help="attributes whose product makes the groups")
    add("--min-pairs", type=int, metavar="N", help="pairs that a group needs in a fold")
    add("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    return parser


def _measure(folders: list[Path], out_root: Path, wanted: RescoreOptions, jobs: int) -> Iterator[str]:
    """How each run ended, as they end."""
    if jobs <= 1:
        yield from (_one(folder, out_root, wanted) for folder in folders)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(_one, folder, out_root, wanted) for folder in folders]):
            yield done.result()


def _one(folder: Path, out_root: Path, wanted: RescoreOptions) -> str:
    try:
        return rescore(folder, out_root, wanted)
    except FairfrError as error:
        print(f"{folder}: {error}", flush=True)
        return "failed"


def _with_progress(outcomes: Iterator[str], total: int) -> Iterator[str]:
    columns = (TextColumn("measuring runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True, disable=not sys.stdout.isatty()) as progress:
        yield from progress.track(outcomes, total)
