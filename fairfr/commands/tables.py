"""Make tables and figures of what has run.

  fairfr tables
  fairfr tables --against platt --where method.estimator.k=500,1000

The page of your own data comes first, then the paper's tables, then our numbers
beside the printed ones. The paper's data sets with its backbones follow the
paper's convention, all other data the strict one; --reading takes one for all.

next: fairfr ui
"""

import argparse
import gc
import shlex
import sys
from itertools import chain
from pathlib import Path
from textwrap import fill

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.core.errors import FairfrError
from fairfr.core.run_key import variant_text
from fairfr.core.text import plural
from fairfr.paper.definition import PAPER
from fairfr.report.write import Page, ReportOptions, note_of_runs_left_aside, with_variant, write_report
from fairfr.store.secrets import mask_passwords
from fairfr.stored.aside import not_chosen
from fairfr.stored.reading import READINGS
from fairfr.stored.run import Run
from fairfr.stored.runs import read_runs
from fairfr.stored.selection import Selection

MOST_LISTED = 10
WIDTH = 80
EXPERIMENT = "fairfr"  # of MLflow; named here too, because importing MLflow takes seconds


def main() -> None:
    """Read, build, write; say where."""
    options = parse(make_parser())
    gc.disable()  # what is read stays in use to the end: looking for garbage among it takes seconds
    reading = None
    if options.reading is not None:
        reading = READINGS[options.reading]
    try:
        results = stored_results(options)
        draws = 0
        if options.uncertainty or options.against:
            draws = options.draws
        selection = with_variant(options.against, Selection.where(options.where), results)
        figures = not options.no_figures
        wanted = ReportOptions(draws, figures, selection, against=options.against, origin=_origin(options))
        pages = write_report(results, options.out_root, reading, wanted, PAPER)
    except FairfrError as error:
        sys.exit(error.named())
    if not pages:
        place = "MLflow"
        if options.store == "folder":
            place = str(options.out_root / "runs")
        sys.exit(_nothing_to_show(results, place))
    failed = sum(result.result.status == "failed" for result in results)
    read = f"{plural(len(results), 'run')} read"
    if failed:
        read += f", {failed} of them failed: their entries are empty"
    print(read)
    aside = not_chosen(results, selection.hidden(results))
    for page in pages:
        aside += [one for one in page.aside if one.why in ("configuration", "older")]
    note = note_of_runs_left_aside(wanted, aside, options.out_root, reading)
    if note is not None:
        print(f"{note.lead.lower()}: {note.text}", *note.commands, sep="\n  ")
    _print_pages(pages)
    print(_next(options))


def _print_pages(pages: list[Page]) -> None:
    """What the intervals decide, and where the tables are."""
    for heading, sentences in chain.from_iterable(page.decisions for page in pages):
        print(f"\n{fill(heading, WIDTH)}")
        for sentence in sentences:
            print(fill(sentence, WIDTH, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False))
    for page in pages:
        print(f"tables: {page.folder / 'index.html'} (also .md, .tex, .csv)")


def _next(options: argparse.Namespace) -> str:
    """What to look at now."""
    command = ["fairfr", "ui"]
    if options.out_root != Path("outputs"):
        command += ["--out-root", str(options.out_root)]
    return f"next: open the page, or compare runs in MLflow: {shlex.join(command)}"


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(**pattern("[options]", __doc__ or ""), add_help=False)
    show_help_option(parser)
    add = parser.add_argument_group("which runs").add_argument
    add("--out-root", type=Path, default=Path("outputs"), metavar="DIR", help="folder of runs/ (default: outputs)")
    add("--where", action="append", default=[], metavar="KEY=VALUE", help=_WHERE)
    add("--config-dir", action="append", type=Path, default=[], metavar="DIR", help=_CONFIG_DIR)
    add("--store", "--source", type=_store, default="folder", metavar="folder|mlflow", help="where to read runs from")
    add("--tracking-uri", "--uri", metavar="URI", help="MLflow's server or database (default: DIR/mlflow.db)")
    add("--mlflow-experiment", "--experiment", default=EXPERIMENT, metavar="NAME", help="in MLflow (default: fairfr)")
    add = parser.add_argument_group("tables").add_argument
    add("--reading", choices=tuple(READINGS), metavar="paper|strict", help="one convention for all runs")
    add("--against", metavar="METHOD", help="differences to this method or variant, with intervals over people")
    add("--uncertainty", action="store_true", help="intervals over folds and over people")
    add("--draws", type=int, default=1000, metavar="N", help="resamples for intervals (default: 1000)")
    add("--no-figures", action="store_true", help="tables only")
    return parser


_WHERE = (
    "runs with this parameter: a variant becomes a row of its own; KEY may be the end of a key, VALUE a list "
    "(repeatable)"
)
_CONFIG_DIR = "your own configurations, to see whether other code made their runs (repeatable)"


def _store(text: str) -> str:
    """``folder`` or ``mlflow``; ``runs`` is an older word for the first."""
    if text == "runs":
        return "folder"
    if text not in ("folder", "mlflow"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither folder nor mlflow")
    return text


def _origin(options: argparse.Namespace) -> tuple[str, ...]:
    """The options that say where the runs are read from, as another command needs them; without passwords."""
    words: list[str] = []
    for folder in options.config_dir:
        words += ["--config-dir", str(folder)]
    if options.store == "folder":
        return tuple(words)
    words += ["--store", options.store]
    if options.tracking_uri is not None:
        words += ["--tracking-uri", mask_passwords(options.tracking_uri)]
    if options.mlflow_experiment != EXPERIMENT:
        words += ["--mlflow-experiment", options.mlflow_experiment]
    return tuple(words)


def _nothing_to_show(results: list[Run], place: str) -> str:
    variants = {variant_text(result.differs) for result in results if result.result.is_completed}
    if variants:
        listed = "; ".join(sorted(variants)[:MOST_LISTED])
        return (
            f"No run in {place} has a default configuration. They differ by: {listed}. Choose with --where key=value."
        )
    return f"No completed runs in {place}. Run some first: make demo, or fairfr run -m experiment=headline"


def stored_results(options: argparse.Namespace) -> list[Run]:
    """Every run of the source."""
    config_dirs = tuple(options.config_dir)
    if options.store == "folder":
        results, damaged = read_runs(options.out_root, config_dirs)
        for line in damaged:
            _leave_out(line)
        return results
    from fairfr.store.mlflow.client import default_uri
    from fairfr.store.mlflow.client import read_results as read_from_mlflow

    if options.uncertainty or options.against:
        print("note: MLflow has no scores, so there are no bootstrap intervals; use --store folder for them.")
    uri = options.tracking_uri or default_uri(options.out_root)
    return [
        Run(stored, config_dirs=config_dirs) for stored in read_from_mlflow(uri, options.mlflow_experiment, _leave_out)
    ]


def _leave_out(line: str) -> None:
    print(f"left out: {line}")
