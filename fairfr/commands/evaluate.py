"""Evaluate a saved calibrator on new pairs: whether it still holds.

  fairfr evaluate --model mine.fairfr --pairs new.csv --embeddings new.npz \\
      --image-table images.csv --group race --out check
  fairfr evaluate --model mine.fairfr --pairs scored.parquet \\
      --probability probability --group race --out check

The model is one of fairfr calibrate fit, with a threshold that was kept. Each
pair has a label (1/0, genuine/impostor); without labels only scores are
compared. Written: evaluation.html and evaluation.json; printed: the verdict.

next: fairfr calibrate fit dataset=new backbone=mynet method=ac_hinge --out b
"""

import argparse
from pathlib import Path

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print
from fairfr.commands.audit import add_column_options


def main() -> None:
    """Write the page and the JSON, print the verdict and the findings."""
    arguments = parse(make_parser())
    run_and_print(lambda: run(arguments))


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    usage = "--model FILE --pairs FILE --out DIR [options]"
    parser = argparse.ArgumentParser(**pattern(usage, __doc__ or ""), add_help=False)
    show_help_option(parser)
    group = parser.add_argument_group("input")
    add = group.add_argument
    add("--model", type=Path, required=True, metavar="FILE", help="from fairfr calibrate fit")
    add("--pairs", type=Path, required=True, metavar="FILE", help="csv, tsv or parquet: a row for each new pair")
    add("--embeddings", type=Path, metavar="FILE", help="npz: image, vectors; --pairs then has left, right")
    add("--image-table", "--images", type=Path, metavar="FILE", help="image, identity and groups, if not in --pairs")
    add("--score", metavar="COL", help="for a model that takes scores (default: score or cosine)")
    add("--probability", metavar="COL", help="what calibrate score wrote for this model, without --prior")
    add_column_options(group)
    add = parser.add_argument_group("question").add_argument
    add("--fmr", type=float, metavar="A", help="the kept threshold of this rate (default: the largest kept)")
    add("--threshold", type=float, metavar="T", help="another threshold on the probability: its rates are shown")
    add = parser.add_argument_group("output").add_argument
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
    files = PairFiles(arguments.pairs, arguments.embeddings, arguments.image_table)
    scored = read_scored(model, files, names)
    read = AuditedFile(arguments.pairs.name, scored.file.digest, len(scored.columns.score))
    sample = check_sample(scored.columns, arguments.bad_rows)
    found = evaluate_sample(sample, read, model, arguments.fmr, arguments.threshold, scored.unlike)
    written = write_report(arguments.out, "evaluation", found.to_html(), found.to_dict())
    return f"{found}\n{written}"
