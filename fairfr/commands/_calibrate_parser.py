"""The command line of ``fairfr calibrate``."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairfr.commands._help import pattern, show_help_option

FIT_HELP = """
Fit on all folds, after the same configuration was run on held-out pairs.

  fairfr calibrate fit dataset=mine backbone=mynet method=ac_hinge \\
      --out mine.fairfr
  fairfr calibrate fit dataset=mine backbone=mynet method=beta \\
      'dataset.grouping=[gender]' --out mine.fairfr --force

KEY=VALUE as in fairfr run: dataset, backbone, method, data_root, out_root,
protocol and others. Rates by group need dataset.grouping.

next: fairfr calibrate threshold --model mine.fairfr --fmr 1e-3 --keep
"""
SCORE_HELP = """
Give new pairs a probability with a saved model.

  fairfr calibrate score --model mine.fairfr --pairs new.csv \\
      --embeddings new.npz --out scores.parquet
  fairfr calibrate score --model mine.fairfr --pairs scores.csv \\
      --score similarity --prior 0.01 --out calibrated.csv

An interrupted call goes on where it was.

next: fairfr evaluate --model mine.fairfr --pairs labelled.csv --out check
"""
THRESHOLD_HELP = """
Find the threshold for a false match rate, and what to expect at it.

  fairfr calibrate threshold --model mine.fairfr --fmr 1e-3 --keep
  fairfr calibrate threshold --model mine.fairfr --threshold 0.8 --on score

Rates come from the held-out pairs of the model's run, in all and by group.
--rule is about one pair; fairfr tables --reading is about whole tables.

next: fairfr calibrate score --model mine.fairfr --pairs new.csv --out s.csv
"""
INSPECT_HELP = """
Show what is in a model's file.

  fairfr calibrate inspect mine.fairfr
  fairfr calibrate inspect --model mine.fairfr --json

next: fairfr calibrate score --model mine.fairfr --pairs new.csv --out s.csv
"""


def make_parser(text: str) -> argparse.ArgumentParser:
    """All options; ``text`` is the help of the command as a whole."""
    parser = argparse.ArgumentParser(**pattern("{fit,score,threshold,inspect} [options]", text), add_help=False)
    show_help_option(parser)
    parts = parser.add_subparsers(dest="do", required=True, prog=parser.prog, title="parts", metavar="PART")
    about = "fit on all folds, after a run on held-out pairs"
    texts = pattern("KEY=VALUE ... --out FILE [options]", FIT_HELP)
    _fit(parts.add_parser("fit", help=about, add_help=False, **texts))
    texts = pattern("--model FILE --pairs FILE --out FILE [options]", SCORE_HELP)
    _score(parts.add_parser("score", help="probabilities of new pairs", add_help=False, **texts))
    about = "the threshold for a false match rate, and the rates at it"
    texts = pattern("--model FILE (--fmr RATE | --threshold T) ...", THRESHOLD_HELP)
    _threshold(parts.add_parser("threshold", help=about, add_help=False, **texts))
    texts = pattern("FILE [--json]", INSPECT_HELP)
    _inspect(parts.add_parser("inspect", help="what is in a model's file", add_help=False, **texts))
    return parser


def _fit(parser: argparse.ArgumentParser) -> None:
    show_help_option(parser)
    add = parser.add_argument_group("output").add_argument
    add("--out", type=Path, required=True, metavar="FILE", help="the model, such as mine.fairfr")
    add("--force", action="store_true", help="replace FILE if it is there")
    add = parser.add_argument_group("MLflow").add_argument
    add("--register", metavar="NAME", help="also log it to MLflow, and register it under this name")
    add("--with-face-vectors", "--with-faces", action="store_true", help="register it although it has face vectors")


def _score(parser: argparse.ArgumentParser) -> None:
    show_help_option(parser)
    add = parser.add_argument_group("input").add_argument
    add("--model", type=Path, required=True, metavar="FILE", help="from fit, or from model.save")
    add("--pairs", type=Path, required=True, metavar="FILE", help="csv or parquet with left, right; others are kept")
    add("--embeddings", type=Path, metavar="FILE", help="npz: image (n,), vectors (n, d); without: --pairs has scores")
    add("--score", metavar="COL", help="column of scores in --pairs, without --embeddings (default: cosine)")
    add("--image-table", "--images", dest="images", type=Path, metavar="FILE", help=_IMAGES)
    add("--config-dir", type=Path, action="append", default=[], metavar="DIR", help="of a model of your own method")
    add("--prior", type=float, metavar="P", help="share of genuine pairs here; also adds a column llr")
    add = parser.add_argument_group("output").add_argument
    add("--out", type=Path, required=True, metavar="FILE", help=".parquet or .csv")
    add = parser.add_argument_group("more").add_argument
    add("--threads", type=int, metavar="N", help="cores (default: all)")
    add("--block", type=int, default=2**18, metavar="N", help="pairs at a time (default: 262144)")


_IMAGES = "image, and the groups or identity that the method needs"


def _threshold(parser: argparse.ArgumentParser) -> None:
    show_help_option(parser)
    add = parser.add_argument_group("input").add_argument
    add("--model", type=Path, required=True, metavar="FILE", help="from fairfr calibrate fit")
    add("--out-root", type=Path, default=Path("outputs"), metavar="DIR", help="folder of runs/ (default: outputs)")
    add("--run", type=Path, metavar="DIR", help="the run's folder, if it was moved")
    add = parser.add_argument_group("question").add_argument
    add("--fmr", type=float, nargs="+", default=[], metavar="RATE", help="wanted false match rate, such as 1e-3")
    add("--threshold", type=float, metavar="T", help="a threshold in use: the rates at it")
    add("--confidence", type=float, default=0.95, metavar="P", help="of the intervals (default: 0.95)")
    choices = ("probability", "score")
    add("--on", choices=choices, default="probability", metavar="score", help="compare the score, not the probability")
    add("--rule", choices=("both", "first"), default="both", metavar="both|first", help=_RULE)
    add("--draws", type=int, help=argparse.SUPPRESS)  # of scripts from when intervals were drawn
    add = parser.add_argument_group("output").add_argument
    add("--keep", action="store_true", help="write it, with its rates, into the model's file")
    add("--json", action="store_true", help="for programs")


_RULE = "count a pair for a group if both images (default), or the left one, belong to it"


def _inspect(parser: argparse.ArgumentParser) -> None:
    show_help_option(parser)
    group = parser.add_argument_group("input")
    file = group.add_mutually_exclusive_group(required=True)
    file.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a model")
    file.add_argument("--model", type=Path, metavar="FILE", help="the same, as an option")
    parser.add_argument_group("output").add_argument("--json", action="store_true", help="for programs")
