"""Tables and figures of what has run: your own data first, then the paper's tables, then ours against the paper.

fairfr tables                                   from outputs/runs: the paper's settings as the paper reads its scores,
                                                your own data strictly, as the paper's text asks for
fairfr tables --reading strict                  all of it in one reading
fairfr tables --where seed=1                    runs with another seed; default configurations otherwise
fairfr tables --where method.estimator.k=500    adds that variant as a row: AC-Density (k=500); k=500,1000 adds two
fairfr tables --where study=mine                the runs of one experiment alone (study: mine in its yaml)
fairfr tables --against platt                   differences to Platt instead of the Baseline, with intervals
fairfr tables --config-dir my_conf              says of runs of your own methods, too, whether other code made them
fairfr tables --source mlflow --uri http://...  from a tracking server

From a checkout: python scripts/make_tables.py
"""

import argparse
import gc
import sys
from itertools import chain
from pathlib import Path
from textwrap import fill

from fairfr.core.errors import FairfrError
from fairfr.core.run_key import variant_text
from fairfr.core.text import plural
from fairfr.paper.definition import PAPER
from fairfr.report.write import Page, ReportOptions, note_of_page, with_variant, write_report
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
    options = arguments()
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
        if options.source == "runs":
            place = str(options.out_root / "runs")
        sys.exit(_nothing_to_show(results, place))
    failed = sum(result.result.status == "failed" for result in results)
    read = f"{plural(len(results), 'run')} read"
    if failed:
        read += f", {failed} of them failed: their cells are empty"
    print(read)
    aside = not_chosen(results, selection.hidden(results))
    for page in pages:
        aside += [one for one in page.aside if one.why in ("configuration", "older")]
    note = note_of_page(wanted, aside, options.out_root, reading)
    if note is not None:
        print(f"{note.lead.lower()}: {note.text}", *note.commands, sep="\n  ")
    _print_pages(pages)


def _print_pages(pages: list[Page]) -> None:
    """What the intervals decide, and where the tables are."""
    for heading, sentences in chain.from_iterable(page.decisions for page in pages):
        print(f"\n{fill(heading, WIDTH)}")
        for sentence in sentences:
            print(fill(sentence, WIDTH, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False))
    for page in pages:
        print(f"tables: {page.folder / 'index.html'} (also .md, .tex, .csv)")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--reading",
        choices=tuple(READINGS),
        help="of all runs (default: paper for the paper's data sets with its backbones, strict for everything else)",
    )
    parser.add_argument("--out-root", type=Path, default=Path("outputs"), help="where runs are and tables go")
    parser.add_argument(
        "--config-dir",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="with your own configurations: also say of their runs whether other code made them (repeatable)",
    )
    parser.add_argument("--source", choices=("runs", "mlflow"), default="runs", help="run folders or MLflow")
    parser.add_argument("--uri", help="MLflow tracking server or database (default: <out-root>/mlflow.db)")
    parser.add_argument("--experiment", default=EXPERIMENT, help="MLflow experiment (default: %(default)s)")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="take runs with this parameter, or with one of several: KEY=VALUE,VALUE (repeatable)",
    )
    parser.add_argument("--uncertainty", action="store_true", help="add fold spread and bootstrap over identities")
    parser.add_argument(
        "--against", metavar="METHOD", help="differences to this method or variant, not to the Baseline; with intervals"
    )
    parser.add_argument("--draws", type=int, default=1000, help="bootstrap draws (default: 1000)")
    parser.add_argument("--no-figures", action="store_true", help="tables only")
    return parser.parse_args()


def _origin(options: argparse.Namespace) -> tuple[str, ...]:
    """The options that say where the runs are read from, as another command needs them; without passwords."""
    words: list[str] = []
    for folder in options.config_dir:
        words += ["--config-dir", str(folder)]
    if options.source == "runs":
        return tuple(words)
    words += ["--source", options.source]
    if options.uri is not None:
        words += ["--uri", mask_passwords(options.uri)]
    if options.experiment != EXPERIMENT:
        words += ["--experiment", options.experiment]
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
    if options.source == "runs":
        results, damaged = read_runs(options.out_root, config_dirs)
        for line in damaged:
            _leave_out(line)
        return results
    from fairfr.store.mlflow.client import default_uri
    from fairfr.store.mlflow.client import read_results as read_from_mlflow

    if options.uncertainty or options.against:
        print("note: MLflow has no scores, so there are no bootstrap intervals; use --source runs for them.")
    uri = options.uri or default_uri(options.out_root)
    return [Run(stored, config_dirs=config_dirs) for stored in read_from_mlflow(uri, options.experiment, _leave_out)]


def _leave_out(line: str) -> None:
    print(f"left out: {line}")
