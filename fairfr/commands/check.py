"""Check a data set before running anything on it.

  fairfr check --dataset lfw --backbone mynet
  fairfr check --dataset mine --score similarity --json

Suspicious things come first: vectors that slipped by a row, copies, people in
several folds, groups too small to measure. Exit code 1: a run would refuse it.

next: fairfr run dataset=lfw backbone=mynet method=ac_hinge
"""

import argparse

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print


def main() -> None:
    """Print one page, suspicious things first."""
    from fairfr.data.check.command import run

    arguments = parse(make_parser())
    run_and_print(lambda: run(arguments))


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    from fairfr.data.check import command

    parser = argparse.ArgumentParser(**pattern(command.USAGE, __doc__ or ""), add_help=False)
    show_help_option(parser)
    command.add_arguments(parser)
    return parser
