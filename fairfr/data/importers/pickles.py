"""Pickles: refused with the line of Python that converts them, unless the user says that the file can be trusted."""

from __future__ import annotations

import argparse
import pickle
from pathlib import Path
from typing import Any

from fairfr.core.errors import DataError
from fairfr.data.files import DataFile, sniff_format

PICKLE_ENDINGS = (".pickle", ".pkl", ".pk", ".p")


def add_trust_argument(parser: argparse.ArgumentParser) -> None:
    """The option ``--trust-pickle``."""
    parser.add_argument(
        "--trust-pickle",
        action="store_true",
        help="read pickles; a pickle can run any code, so use this only for files that you made yourself",
    )


def vectors_to_npz(path: Path) -> str:
    """The line of Python that saves the vectors in the pickle at ``path`` as npz."""
    target = str(path.with_suffix(".npz"))
    if b"pandas" in DataFile.at(path).read():
        vectors = "image=t['img_path'].to_numpy(str), vectors=np.stack(t['embedding'])"
        return f"import numpy as np, pandas as pd; t = pd.read_pickle({str(path)!r}); np.savez({target!r}, {vectors})"
    vectors = "image=np.array(list(d)), vectors=np.array([np.ravel(v) for v in d.values()])"
    load = f"d = pickle.loads(Path({str(path)!r}).read_bytes())"
    return f"import pickle, numpy as np; from pathlib import Path; {load}; np.savez({target!r}, {vectors})"


def table_to_csv(path: Path) -> str:
    """The line of Python that saves the pandas table in the pickle at ``path`` as csv."""
    target = str(path.with_suffix(".csv"))
    return f"import pandas as pd; pd.read_pickle({str(path)!r}).to_csv({target!r}, index=False)"


def pickle_refused(path: Path, conversion: str) -> DataError:
    """The error for a pickle that the user did not say to trust; ``conversion`` is a line of Python."""
    return DataError(
        f"{path} is a pickle. Reading a pickle can run any code, so fairfr does not read it. If you made the file, add "
        f"--trust-pickle. If not, convert it on a machine where it can do no harm, with this line of Python:\n"
        f"  {conversion}"
    )


def load_trusted(path: Path) -> Any:
    """What the pickle at ``path`` has; this runs whatever code the file names."""
    data = DataFile.at(path).read()
    found = sniff_format(data)
    if found not in (None, "a pickle"):
        raise DataError(f"{path} is not a pickle: it is {found}. Rename it with the correct extension.")
    try:
        return pickle.loads(data, encoding="latin1")  # the encoding in which Python 2 pickled arrays
    except ImportError as error:
        raise DataError(f"{path} needs a package that is not installed ({error}). Install it and try again.") from None
    except Exception as error:  # the bytes decide which of many errors a broken pickle ends in
        raise DataError(
            f"{path} is not a readable pickle: it is damaged, cut short or something else "
            f"({type(error).__name__}: {str(error)[:100]}). Copy or export it again."
        ) from None
