"""Convert existing files to fairfr's layout.

fairfr import rfw --root RFW/test --out data                 txts/<Ethnicity>/<Ethnicity>_pairs.txt
fairfr import rfw --table rfw.csv                            FairCal's table, or a reproduction's
fairfr import bfw --table bfw-v0.1.5-datatable.csv           or FairCal's bfw.csv
fairfr import lfw --root lfw --attributes lfw_attributes.txt pairs.txt, groups from a side table
fairfr import table --name mine --pairs pairs.tsv --left img_a --right img_b --same label=genuine --images meta.parquet
fairfr import within-groups --root data/lfw --by ethnicity gender --name lfw_within    new pairs, inside groups
fairfr import embeddings ...                                 vectors for a set that is imported
fairfr import check ...                                      what to know before anything is computed

From a checkout: python scripts/import_data.py
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from fairfr.commands._messages import run_and_print

KINDS = {
    "rfw": ("fairfr.data.importers.rfw", "RFW's pair lists, or a table made from them"),
    "bfw": ("fairfr.data.importers.published_tables", "BFW's datatable"),
    "lfw": ("fairfr.data.importers.lfw", "LFW's pairs.txt, and groups for its people"),
    "table": ("fairfr.data.importers.own_table", "your own tables of pairs and images, in your own columns"),
    "within-groups": ("fairfr.data.importers.within_groups", "new pairs inside the groups of a set that is here"),
    "embeddings": ("fairfr.data.importers.embeddings", "vectors for a data set"),
    "check": ("fairfr.data.check.command", "check a data set before running anything on it"),
}


def main() -> None:
    """Import what was named; say what came of it."""
    arguments = parser(sys.argv[1:]).parse_args()
    run_and_print(lambda: importlib.import_module(KINDS[arguments.kind][0]).run(arguments))


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; options are those of the kind in ``words`` alone, whose module is the only one loaded."""
    whole = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = whole.add_subparsers(dest="kind", required=True, metavar="{" + ",".join(KINDS) + "}")
    for name, (module, about) in KINDS.items():
        kind = kinds.add_parser(name, help=about, description=about)
        if name in words[:1]:
            importlib.import_module(module).add_arguments(kind)
    return whole
