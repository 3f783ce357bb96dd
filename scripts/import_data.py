"""Files that you already hold -> the neutral layout.

python scripts/import_data.py rfw --root RFW/test --out data                 txts/<Ethnicity>/<Ethnicity>_pairs.txt
python scripts/import_data.py rfw --table rfw.csv                            FairCal's table, or a reproduction's
python scripts/import_data.py bfw --table bfw-v0.1.5-datatable.csv           csv or pkl
python scripts/import_data.py lfw --root lfw --attributes lfw_attributes.txt pairs.txt, groups from a side table
python scripts/import_data.py embeddings ...                                 vectors for a set that is imported
python scripts/import_data.py check ...                                      what to know before anything is computed
"""

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence

from fairfr.core.errors import FairfrError

COMMANDS = {
    "rfw": ("fairfr.data.importers.rfw", "RFW's pair lists, or a table made from them"),
    "bfw": ("fairfr.data.importers.bfw", "BFW's datatable"),
    "lfw": ("fairfr.data.importers.lfw", "LFW's pairs.txt, and groups for its people"),
    "embeddings": ("fairfr.data.importers.embeddings", "vectors for a data set"),
    "check": ("fairfr.data.check", "look a data set over"),
}


def main(words: Sequence[str]) -> None:
    """Run one command; say what came of it."""
    arguments = parser(words).parse_args(words)
    try:
        print(importlib.import_module(COMMANDS[arguments.command][0]).run(arguments))
    except FairfrError as error:
        sys.exit(str(error))
    except BrokenPipeError:  # whoever read the report has seen enough; what was written is written
        sys.stdout = None
    except OSError as error:
        sys.exit(f"{error.filename or 'a file'} cannot be used: {error.strerror or error}.")
    except KeyboardInterrupt:
        sys.exit("interrupted")


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; options are those of the command in ``words`` alone, whose module is the only one loaded."""
    whole = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = whole.add_subparsers(dest="command", required=True, metavar="{" + ",".join(COMMANDS) + "}")
    for name, (module, told) in COMMANDS.items():
        command = commands.add_parser(name, help=told, description=told)
        if name in words[:1]:
            importlib.import_module(module).add_arguments(command)
    return whole


if __name__ == "__main__":
    # a batch system's polite kill must clean up as Ctrl-C does
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    main(sys.argv[1:])
