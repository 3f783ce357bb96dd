"""Tables and figures of what has run: your own data first, then the paper's tables, then ours against the paper.

fairfr tables                                   from outputs/runs, as the paper reads its scores
fairfr tables --reading strict                  as the paper's text asks for
fairfr tables --where seed=1                    runs with another seed; default configurations otherwise
fairfr tables --where method.estimator.k=500    adds that variant as a row: AC-Density (k=500)
fairfr tables --source mlflow --uri http://...  from a tracking server

From a checkout: python scripts/make_tables.py
"""

import argparse
import gc
import sys
from pathlib import Path

from fairfr.core.errors import FairfrError
from fairfr.core.variants import variant_text
from fairfr.report.readings import Run
from fairfr.report.runs import read_results
from fairfr.report.selection import Selection
from fairfr.report.write import Wanted, hidden_variants, write_report

MOST_LISTED = 10


def main() -> None:
    """Read, build, write; say where."""
    options = arguments()
    gc.disable()  # what is read stays in use to the end: looking for garbage among it takes seconds
    try:
        results = stored_results(options)
        draws = options.draws if options.uncertainty else 0
        wanted = Wanted(draws, not options.no_figures, Selection.where(options.where))
        folders = write_report(results, options.out_root, options.reading, wanted)
    except FairfrError as error:
        sys.exit(str(error))
    if not folders:
        place = f"{options.out_root / 'runs'}" if options.source == "runs" else "MLflow"
        sys.exit(_nothing_to_show(results, place))
    failed = sum(result.stored["status"] == "failed" for result in results)
    print(f"{len(results)} runs read" + (f", {failed} of them failed: their cells are empty" if failed else ""))
    if (hidden := hidden_variants(wanted.selection, results, options.out_root, options.reading)) is not None:
        print(f"{hidden.lead.lower()}: {hidden.text}", *hidden.commands, sep="\n  ")
    for folder in folders:
        print(f"tables: {folder / 'index.html'} (also .md, .tex, .csv)")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reading", choices=("paper", "strict"), default="paper", help="conventions (default: paper)")
    parser.add_argument("--out-root", type=Path, default=Path("outputs"), help="where runs are and tables go")
    parser.add_argument("--source", choices=("runs", "mlflow"), default="runs", help="run folders or MLflow")
    parser.add_argument("--uri", help="MLflow tracking server or database (default: <out-root>/mlflow.db)")
    parser.add_argument("--experiment", default="fairfr", help="MLflow experiment (default: fairfr)")
    parser.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUE", help="take runs with this parameter (repeatable)"
    )
    # every method has its row; the option of older command lines is still accepted
    parser.add_argument("--all-methods", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--uncertainty", action="store_true", help="add fold spread and bootstrap over identities")
    parser.add_argument("--draws", type=int, default=1000, help="bootstrap draws (default: 1000)")
    parser.add_argument("--no-figures", action="store_true", help="tables only")
    return parser.parse_args()


def _nothing_to_show(results: list[Run], place: str) -> str:
    variants = {variant_text(result.differs) for result in results if result.stored["status"] == "completed"}
    if variants:
        listed = "; ".join(sorted(variants)[:MOST_LISTED])
        return (
            f"No run in {place} has a default configuration. They differ by: {listed}. Choose with --where key=value."
        )
    return f"No completed runs in {place}. Run some first: make demo, or fairfr run -m experiment=headline"


def stored_results(options: argparse.Namespace) -> list[Run]:
    """Every run that the source holds."""
    if options.source == "runs":
        results, damaged = read_results(options.out_root)
        for line in damaged:
            print(f"left out: {line}")
        return results
    from fairfr.store.mlflow.address import default_uri
    from fairfr.store.mlflow.reading_back import read_results as read_from_mlflow

    if options.uncertainty:
        print("note: MLflow has no scores, so there are no bootstrap intervals; use --source runs for them.")
    uri = options.uri or default_uri(options.out_root)
    return [Run(stored) for stored in read_from_mlflow(uri, options.experiment)]
