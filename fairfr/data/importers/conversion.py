"""Files that fairfr does not read, and the two lines of Python that convert each: pickles, torch.save, HDF5.

Reading a pickle can run any code, and a small torch or HDF5 file can fill the memory or draw in other files. So whoever
has such a file decides whether to trust it, and converts it.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from string import Template

from fairfr.core.errors import DataError
from fairfr.data.files import DataFile, path_exists, sniff_format

PICKLE_ENDINGS = (".pickle", ".pkl", ".pk", ".p")
START = 256  # bytes from which a file is recognised
_OLD_TORCH = b"\x80\x02\x8a\x0a" + 0x1950A86A20F9469CFC6C.to_bytes(10, "little")  # of torch before 1.6


@dataclass(frozen=True, slots=True)
class _Conversion:
    """How the message names a file of this form, how it must be built for the lines, and the two lines."""

    what: str
    built: str
    load: str
    save: str
    ending: str = ".npz"


_PICKLE = "a pickle, which can run any code"
_BY_IMAGE = "of a dict with one vector for each image (names and a matrix: np.savez(..., image=names, vectors=matrix))"
_SAVE_DICT = "np.savez($target, image=list(d), vectors=np.stack(list(d.values())))"
_TORCH = _Conversion(
    "a file of torch.save",
    _BY_IMAGE,
    "import numpy as np, torch; d = {k: v.detach().float().numpy().ravel() for k, v in "
    "torch.load($path, map_location='cpu', weights_only=True).items()}",
    _SAVE_DICT,
)
_HDF5 = _Conversion(
    "an HDF5 file",
    "of names and a matrix, or of one vector for each image",
    "import h5py, numpy as np; d = {}; h5py.File($path, 'r').visititems("
    "lambda k, v: d.update({k: v[()]}) if hasattr(v, 'dtype') else None)",
    "np.savez($target, **{k: v.astype('S') if v.dtype == object else v for k, v in d.items()})",
)
_DICT = _Conversion(
    _PICKLE,
    _BY_IMAGE,
    "import pathlib, pickle, numpy as np; d = {k: np.ravel(v) for k, v in "
    "pickle.loads(pathlib.Path($path).read_bytes(), encoding='latin1').items() if v is not None}",
    _SAVE_DICT,
)
_FRAME = _Conversion(
    _PICKLE,
    "of a pandas table with the columns img_path and embedding (put in the names of yours)",
    "import numpy as np, pandas as pd; t = pd.read_pickle($path).dropna(subset=['embedding'])",
    "np.savez($target, image=t['img_path'].to_numpy(str), vectors=np.stack([np.ravel(v) for v in t['embedding']]))",
)
_TABLE = _Conversion(
    _PICKLE,
    "of a pandas table",
    "import pandas as pd; t = pd.read_pickle($path)",
    "t.to_csv($target, index=False)",
    ".csv",
)


def refuse_foreign_vectors(path: Path, start: bytes) -> None:
    """DataError with the lines that convert the file to npz, if its first bytes say that it is of a foreign form."""
    conversion = _conversion_of(path, start)
    if conversion is not None:
        raise _refused(path, conversion)


def refuse_pickled_table(path: Path) -> None:
    """DataError with the lines that convert the file to csv, if it is a pickle."""
    with DataFile.at(path).open() as handle:
        start = handle.read(START)
    if sniff_format(start) == "a pickle" or path.suffix.lower() in PICKLE_ENDINGS:
        raise _refused(path, _TABLE)


def _conversion_of(path: Path, start: bytes) -> _Conversion | None:
    if start.startswith(b"\x89HDF"):
        return _HDF5
    if start.startswith(_OLD_TORCH) or _is_torch_archive(path, start):
        return _TORCH
    if not start.startswith(b"\x80") and path.suffix.lower() not in PICKLE_ENDINGS:
        return None
    return _FRAME if b"pandas" in start else _DICT


def _is_torch_archive(path: Path, start: bytes) -> bool:
    if not start.startswith(b"PK"):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == "data.pkl" for name in archive.namelist())
    except Exception:  # damaged: reading it as npz will say so
        return False


def _refused(path: Path, conversion: _Conversion) -> DataError:
    target = _free_name(path, conversion.ending)
    load, save = (
        Template(line).substitute(path=repr(str(path)), target=repr(str(target)))
        for line in (conversion.load, conversion.save)
    )
    return DataError(
        f"{path} is {conversion.what}: fairfr does not read it. If you trust the file, convert it with these two lines "
        f"of Python, which are for a file {conversion.built}:\n{load}\n{save}",
        code="foreign-format",
    )


def _free_name(path: Path, ending: str) -> Path:
    """A name beside ``path`` that no file has yet: a pickle may well be called m.npz."""
    target = path.with_suffix(ending)
    while path_exists(target):
        target = target.with_suffix(f".converted{ending}")
    return target
