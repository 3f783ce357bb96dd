"""Audit a deployed matcher: error rates by group, with bounds.

  fairfr audit scores.csv --group race --threshold 0.4 --out audit
  fairfr audit pairs.parquet --distance d --label same --group age --identity-left a --identity-right b --out audit

The table has a row for each pair: a score or a distance, a label (1/0, genuine/impostor), and groups: one column for
both images, or left_race and right_race. Written: audit.html and audit.json; printed: the findings.

next: send audit.html to the people who decide; fairfr evaluate looks at a calibrator in the same way
"""

import argparse
from pathlib import Path

from fairfr.commands._messages import run_and_print


def main() -> None:
    """Write the page and the JSON, print the findings."""
    arguments = make_parser().parse_args()
    run_and_print(lambda: run(arguments))


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE", help="the table of pairs: csv, tsv or parquet")
    scores = parser.add_mutually_exclusive_group()
    scores.add_argument("--score", metavar="COL", help="column of scores; higher: more similar")
    scores.add_argument("--distance", metavar="COL", help="column of distances; lower: more similar")
    add_column_options(parser)
    parser.add_argument("--probability", metavar="COL", help="column of the probabilities that the matcher gives")
    parser.add_argument("--fold", metavar="COL", help="column of the fold (default: fold, if there is one)")
    parser.add_argument("--threshold", type=float, metavar="T", help="the threshold in use, in the units of the score")
    parser.add_argument(
        "--fmr",
        type=rates,
        default=(1e-2, 1e-3, 1e-4),
        metavar="A,B",
        help="false match rates for which a threshold is set (default: 1e-2,1e-3,1e-4)",
    )
    parser.add_argument("--since", type=Path, metavar="FILE", help="the audit.json of an earlier audit at the same T")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for audit.html and audit.json")
    return parser


def add_column_options(parser: argparse.ArgumentParser) -> None:
    """Which column is what."""
    from fairfr.data.importers.bins import BINS_HELP

    parser.add_argument("--label", metavar="COL", help="column of labels (default: label, same or match)")
    parser.add_argument("--group", action="append", default=[], metavar="COL", help="a grouping; may be repeated")
    parser.add_argument("--bins", action="append", default=[], metavar="COL=A,B,...", help=BINS_HELP)
    parser.add_argument("--identity-left", metavar="COL", help="who is on the left image (default: left_identity)")
    parser.add_argument("--identity-right", metavar="COL", help="who is on the right image (default: right_identity)")
    parser.add_argument(
        "--bad-rows", choices=("refuse", "leave-out"), default="refuse", help="rows that cannot be right"
    )


def rates(text: str) -> tuple[float, ...]:
    """``1e-2,1e-3`` as numbers."""
    return tuple(float(part) for part in text.split(","))


def run(arguments: argparse.Namespace) -> str:
    """Audit; returns the findings and what was written."""
    from fairfr.auditing.audit import audit_columns
    from fairfr.auditing.pair_columns import ColumnNames, read_columns
    from fairfr.auditing.report import AuditedFile
    from fairfr.auditing.writing import write_report
    from fairfr.data.importers.bins import read_bins

    names = ColumnNames(
        arguments.score,
        arguments.distance,
        arguments.label,
        tuple(arguments.group),
        arguments.identity_left,
        arguments.identity_right,
        arguments.fold,
        arguments.probability,
        read_bins(arguments.bins),
    )
    columns, file = read_columns(arguments.file, names)
    read = AuditedFile(arguments.file.name, file.digest, len(columns.score))
    found = audit_columns(columns, read, arguments.threshold, arguments.fmr, arguments.bad_rows, arguments.since)
    written = write_report(arguments.out, "audit", found.to_html(), found.to_dict())
    return f"{found}\n{written}"
