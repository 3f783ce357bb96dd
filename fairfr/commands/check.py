"""Check a data set, or a method of your own, before running anything.

  fairfr check --dataset mine --backbone mynet --grouping gender
  fairfr check --method mine --config-dir my_conf

Suspicious things come first: vectors that slipped by a row, copies, people in
several folds, groups too small to measure. Exit code 1: a run would refuse it.
A method is tried on synthetic pairs. Exit code 1: it breaks a promise.

next: fairfr run dataset=mine backbone=mynet method=ac_hinge
"""

import argparse
from pathlib import Path

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print


def main() -> None:
    """Print one page."""
    parser = make_parser()
    arguments = parse(parser)
    if (arguments.dataset is None) == (arguments.method is None):
        parser.error("name --dataset, or --method.")
    if arguments.method is not None:
        from fairfr.commands import _check_method

        run_and_print(lambda: _check_method.run(arguments))
        return
    from fairfr.data.check import command

    run_and_print(lambda: command.run(arguments))


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    from fairfr.data.check import command

    usage = "(--dataset NAME | --method NAME) [options]"
    parser = argparse.ArgumentParser(**pattern(usage, __doc__ or ""), add_help=False)
    show_help_option(parser)
    command.add_arguments(parser, needs_dataset=False)
    add = parser.add_argument_group("method").add_argument
    add("--method", metavar="NAME", help="by the name of its yaml, in place of a data set")
    add("--config-dir", action="append", type=Path, default=[], metavar="DIR", help="where your method/NAME.yaml is")
    return parser
