"""Does a saved calibrator still hold on new labelled pairs: rates, probabilities, ranking, one verdict.

  fairfr evaluate --model mine.fairfr --pairs new.csv --embeddings new.npz --images images.csv --group race --out check
  fairfr evaluate --model mine.fairfr --pairs scored.parquet --probability probability --group race --out check

The model is one of fairfr calibrate fit, with a threshold of fairfr calibrate threshold --keep. The pairs have a label
(1/0, genuine/impostor) each; without labels only their scores are compared. Written: evaluation.html and .json.

next: where it does not hold, fairfr calibrate fit on pairs like these
"""

import argparse
from pathlib import Path

from fairfr.commands._messages import run_and_print
from fairfr.commands.audit import add_column_options


def main() -> None:
    """Write the page and the JSON, print the verdict and the findings."""
    arguments = make_parser().parse_args()
    run_and_print(lambda: run(arguments))


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", type=Path, required=True, metavar="FILE", help="from fairfr calibrate fit")
    add("--pairs", type=Path, required=True, metavar="FILE", help="csv, tsv or parquet: a row for each new pair")
    add("--embeddings", type=Path, metavar="FILE", help="npz with image and vectors; --pairs then has left and right")
    add("--images", type=Path, metavar="FILE", help="table with image, identity and groups, where --pairs has none")
    add("--score", metavar="COL", help="column of scores, for a model that takes scores (default: score or cosine)")
    add("--probability", metavar="COL", help="what calibrate score wrote for this model, without --prior")
    add_column_options(parser)
    add("--fmr", type=float, metavar="A", help="the kept threshold of this rate (default: the largest kept)")
    add("--threshold", type=float, metavar="T", help="another threshold on the probability: its rates are shown")
    add("--out", type=Path, required=True, metavar="DIR", help="folder for evaluation.html and evaluation.json")
    return parser


def run(arguments: argparse.Namespace) -> str:
    """Evaluate; returns the verdict, the findings and what was written."""
    from fairfr.auditing.evaluate import evaluate_sample
    from fairfr.auditing.pair_columns import ColumnNames
    from fairfr.auditing.report import AuditedFile
    from fairfr.auditing.sample import check_sample
    from fairfr.auditing.scored_pairs import PairFiles, read_scored
    from fairfr.auditing.writing import write_report
    from fairfr.data.importers.bins import read_bins
    from fairfr.library.scored_embeddings import load_model

    model = load_model(arguments.model)
    names = ColumnNames(
        score=arguments.score,
        label=arguments.label,
        groups=tuple(arguments.group),
        identity_left=arguments.identity_left,
        identity_right=arguments.identity_right,
        probability=arguments.probability,
        bins=read_bins(arguments.bins),
    )
    files = PairFiles(arguments.pairs, arguments.embeddings, arguments.images)
    scored = read_scored(model, files, names)
    read = AuditedFile(arguments.pairs.name, scored.file.digest, len(scored.columns.score))
    sample = check_sample(scored.columns, arguments.bad_rows)
    found = evaluate_sample(sample, read, model, arguments.fmr, arguments.threshold, scored.unlike)
    written = write_report(arguments.out, "evaluation", found.to_html(), found.to_dict())
    return f"{found}\n{written}"
