"""Convert existing files to fairfr's layout.

  fairfr import table --dataset mine --pairs pairs.csv --image-table images.csv
  fairfr import embeddings --dataset mine --backbone mynet --from vectors.npz

fairfr import KIND --help says more. A file that is wrong is refused with its
rows and a remedy, and nothing is left half-written.

next: fairfr check --dataset mine --backbone mynet
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print

KINDS = {
    "table": ("fairfr.data.importers.own_table", "your own tables of pairs and images, in your own columns"),
    "embeddings": ("fairfr.data.importers.embeddings", "vectors for a data set that is imported"),
    "rfw": ("fairfr.data.importers.rfw", "RFW's pair lists, or a table made from them"),
    "bfw": ("fairfr.data.importers.published_tables", "BFW's datatable"),
    "lfw": ("fairfr.data.importers.lfw", "LFW's pairs.txt, and groups for its people"),
    "within-groups": ("fairfr.data.importers.within_groups", "draw new pairs inside the groups of a data set"),
}


def main() -> None:
    """Import what was named; say what came of it."""
    words = sys.argv[1:]
    if words[:1] == ["check"]:  # an older name of `fairfr check`
        from fairfr.commands import check

        sys.argv[1:] = words[1:]
        check.main()
        return
    arguments = parse(make_parser(words), words)
    run_and_print(lambda: importlib.import_module(KINDS[arguments.kind][0]).run(arguments))


def make_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; options are those of the kind in ``words`` alone, whose module is the only one loaded."""
    whole = argparse.ArgumentParser(**pattern("KIND [options]", __doc__ or ""), add_help=False)
    show_help_option(whole)
    kinds = whole.add_subparsers(dest="kind", required=True, prog=whole.prog, title="kinds", metavar="KIND")
    for name, (module, about) in KINDS.items():
        if name not in words[:1]:
            kinds.add_parser(name, help=about)
            continue
        importer = importlib.import_module(module)
        kind = kinds.add_parser(name, help=about, add_help=False, **pattern(importer.USAGE, importer.HELP))
        show_help_option(kind)
        importer.add_arguments(kind)
    return whole
