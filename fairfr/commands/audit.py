"""Audit a deployed matcher: error rates by group, with bounds.

  fairfr audit scores.csv --group race --threshold 0.4 --out audit
  fairfr audit pairs.parquet --distance d --label same --group age \\
      --bins age=30,60 --identity-left a --identity-right b --out audit

The table has a row for each pair: a score or a distance, a label (1/0,
genuine/impostor), and groups: one column for both images, or left_race and
right_race. Written: audit.html and audit.json; printed: the findings.

next: fairfr audit new.csv --since audit/audit.json --threshold 0.4 --out later
"""

import argparse
from pathlib import Path

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print


def main() -> None:
    """Write the page and the JSON, print the findings."""
    arguments = parse(make_parser())
    run_and_print(lambda: run(arguments))


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(**pattern("FILE --out DIR [options]", __doc__ or ""), add_help=False)
    show_help_option(parser)
    group = parser.add_argument_group("input")
    group.add_argument("file", type=Path, metavar="FILE", help="the table of pairs: csv, tsv or parquet")
    scores = group.add_mutually_exclusive_group()
    scores.add_argument("--score", metavar="COL", help="higher: more similar (default: score, similarity or cosine)")
    scores.add_argument("--distance", metavar="COL", help="lower: more similar (default: distance or dist)")
    add_column_options(group)
    group.add_argument("--probability", metavar="COL", help="probabilities that the matcher gives")
    group.add_argument("--fold", metavar="COL", help="the fold (default: fold, if there is one)")
    add = parser.add_argument_group("question").add_argument
    add("--threshold", type=float, metavar="T", help="the threshold in use, in the units of the score")
    rate = "false match rates to set a threshold for (default: 1e-2,1e-3,1e-4)"
    add("--fmr", type=rates, default=(1e-2, 1e-3, 1e-4), metavar="A,B", help=rate)
    add("--since", type=Path, metavar="FILE", help="the audit.json of an earlier audit at the same T")
    add = parser.add_argument_group("output").add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder for audit.html and audit.json")
    return parser


def add_column_options(group: argparse._ArgumentGroup) -> None:
    """Which column is what."""
    from fairfr.data.importers.bins import BINS_HELP

    add = group.add_argument
    add("--label", metavar="COL", help="1/0, genuine/impostor (default: label, same or match)")
    add("--group", action="append", default=[], metavar="COL", help="a grouping; may be repeated")
    add("--bins", action="append", default=[], metavar="COL=A,B", help=BINS_HELP)
    add("--identity-left", metavar="COL", help="who is on the left image (default: left_identity)")
    add("--identity-right", metavar="COL", help="on the right image (default: right_identity)")
    words = ("refuse", "leave-out")
    add("--bad-rows", choices=words, default="refuse", metavar="leave-out", help="leave out rows that cannot be right")


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
