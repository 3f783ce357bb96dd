"""Check a data set before running anything on it.

fairfr check --dataset lfw --backbone mynet --data-root data     --json for programs

From a checkout: python scripts/import_data.py check
"""

import argparse

from fairfr.commands._messages import run_and_print


def main() -> None:
    """Print one page, suspicious things first."""
    from fairfr.data.check import command

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_arguments(parser)
    arguments = parser.parse_args()
    run_and_print(lambda: command.run(arguments))
