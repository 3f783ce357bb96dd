"""Read keys and vectors from the forms in which people keep them; which image a key means is decided elsewhere.

Files of torch.save are read by torch's own reader for untrusted files: tensors and plain containers alone.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core import npz
from fairfr.core.errors import DataError
from fairfr.core.extras import explain_missing_extra
from fairfr.core.text import error_summary
from fairfr.data.files import DataFile, sniff_format
from fairfr.data.importers.pickles import PICKLE_ENDINGS, load_trusted, pickle_refused, vectors_to_npz

KEY_NAMES = ("image", "images", "img_path", "path", "paths", "key", "keys", "name", "names", "file", "files", "ids")
VECTOR_NAMES = ("vectors", "vector", "embedding", "embeddings", "features", "feature", "emb", "embs")
FORMS = "npz, npy with --names, files of torch.save, folders of .npy files, HDF5, and pickles with --trust-pickle"


def read_embeddings(path: Path, names: Path | None = None, trust_pickle: bool = False) -> KeyedVectors:
    """The keys and vectors at ``path``, recognised by content; pickles only if they are trusted."""
    if path.is_dir():
        return read_folder(path)
    read = _reader_of(path, names, trust_pickle)
    try:
        return read(path)
    except MemoryError:
        raise DataError(f"{path} needs more memory than there is. {_SAVE}") from None


def _reader_of(path: Path, names: Path | None, trust_pickle: bool) -> Callable[[Path], KeyedVectors]:
    start = _first_bytes(path)
    if names is not None and not start.startswith(b"\x93NUMPY"):
        raise DataError(
            f"{path}: --names goes with an npy file, and this is {sniff_format(start) or 'something else'}."
        )
    if start.startswith(b"\x93NUMPY"):
        return partial(read_npy, names=names)
    if start.startswith(b"\x89HDF"):
        return read_hdf5
    if is_torch(path, start):
        return partial(read_torch, load=tensor_loader(path))
    if start.startswith(b"PK"):
        return read_npz
    if path.suffix == ".bin":
        return read_bin
    if start.startswith(b"\x80") or path.suffix in PICKLE_ENDINGS:
        return partial(read_pickle, trust=trust_pickle)
    raise DataError(f"{path} is {sniff_format(start) or 'of no known form'}. Vectors are read from {FORMS}.")


def read_npz(path: Path) -> KeyedVectors:
    """One array of names and one of vectors, or one array for each image."""
    try:
        with path.open("rb") as handle:
            return _from_mapping(path, npz.read_npz(handle))
    except npz.ObjectArrayError as error:
        raise DataError(f"{path}: {error}. Save it as numbers or text.") from None
    except (npz.UnreadableArrayError, OSError) as error:
        raise DataError(
            f"{path} is not a readable npz: it is damaged, cut short or something else ({error}). "
            "Copy or export it again."
        ) from None


def read_npy(path: Path, names: Path | None) -> KeyedVectors:
    """A matrix of vectors (n, d); ``names`` lists their keys, one in each line."""
    vectors = _read_file(path)
    if names is None:
        raise DataError(f"{path} has vectors without names. Give their list with --names, one name in each line.")
    return KeyedVectors(path, *pair_with_names(path, read_names(names), vectors))


def read_names(path: Path) -> list[str]:
    """The first tab-separated cell of each line; empty lines only at the end."""
    try:
        lines = DataFile.at(path).read().decode("utf-8-sig").rstrip().split("\n")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text. Save the list of names as UTF-8.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    keys = [line.split("\t")[0].strip() for line in lines]
    if not all(keys):
        raise DataError(f"{path}, line {keys.index('') + 1}: no name. Write one name in each line.")
    return keys


def read_torch(path: Path, load: Callable[[], Any]) -> KeyedVectors:
    """A dict of tensors, or a dict of names and a tensor, as torch.save writes them."""
    content = load()
    if not isinstance(content, dict):
        raise DataError(f"{path} contains a {type(content).__name__}, not a dict of tensors by name. {_SAVE}")
    return _from_mapping(path, content)


def read_pickle(path: Path, trust: bool) -> KeyedVectors:
    """A dict of vectors, a dict of names and vectors, or a pandas table with a column of vectors."""
    if not trust:
        raise pickle_refused(path, vectors_to_npz(path))
    content = load_trusted(path)
    if isinstance(content, dict):
        return _from_mapping(path, tensors_to_arrays(content))
    if hasattr(content, "columns"):
        return _from_frame(path, content)
    if hasattr(content, "index") and hasattr(content, "to_dict"):
        return _from_mapping(path, content.to_dict())
    if isinstance(content, tuple | list) and len(content) == 2:
        return read_bin(path)
    raise DataError(f"{path} contains a {type(content).__name__}, not a dict or a table of vectors. {_SAVE}")


def read_folder(path: Path) -> KeyedVectors:
    """One .npy for each image; its path inside the folder is its key. Links to folders are not followed."""
    files: list[Path] = []
    for folder, _, names in os.walk(path, onerror=_stop):
        files.extend(Path(folder, name) for name in names if name.endswith(".npy"))
    files.sort()
    if not files:
        raise DataError(f"{path} is a folder without .npy files. Vectors are read from {FORMS}.")
    return stack_vectors(path, ((file.relative_to(path).as_posix(), _read_file(file)) for file in files))


def read_bin(path: Path) -> KeyedVectors:
    """Refuse an insightface image list, which has neither names nor vectors."""
    raise DataError(
        f"{path} looks like a list of images and pair labels (as insightface's .bin files are): it names no image and "
        "has no vectors. Compute vectors from the images of the data set first, e.g. with "
        "fairfr extract; if it is a dict of vectors, give it the ending .pkl."
    )


def read_hdf5(path: Path) -> KeyedVectors:
    """A dataset of names and one of vectors, or one dataset for each image."""
    try:
        h5py: Any = import_module("h5py")
    except ImportError:
        raise DataError(f"{path} is an HDF5 file, and h5py is not installed. Install it: pip install h5py.") from None
    arrays: dict[str, Any] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            if h5py.check_string_dtype(item.dtype) is not None:
                arrays[name] = np.array(item.asstr()[...], dtype=np.str_)
            else:
                arrays[name] = item[...]

    try:
        with h5py.File(path, "r") as file:
            file.visititems(keep)
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{path} is not a readable HDF5 file ({error}). Copy or export it again.") from None
    return _from_mapping(path, arrays)


_SAVE = "Save the vectors with np.savez(path, image=ids, vectors=vectors)."


def _first_bytes(path: Path) -> bytes:
    try:
        with DataFile.at(path).open() as handle:
            return handle.read(64)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Put the file in its place.") from None


def _stop(error: OSError) -> None:
    raise DataError(f"{error.filename} cannot be read ({error.strerror}). Allow it, or leave it out.")


def _read_file(path: Path) -> npt.NDArray[Any]:
    try:
        with path.open("rb") as handle:
            return npz.read_npy(handle)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Compute or copy it again.") from None
    except npz.ObjectArrayError:
        raise DataError(f"{path}: an array of Python objects. Save it as numbers or text.") from None
    except npz.UnreadableArrayError as error:
        raise DataError(f"{path} is not a readable npy file ({error}). Copy or export it again.") from None


def _from_mapping(path: Path, content: Mapping[Any, Any]) -> KeyedVectors:
    """Names and vectors under their own keys, or a vector under each key."""
    names = _first_names(content)
    vectors = next((content[name] for name in VECTOR_NAMES if name in content), None)
    if names is not None and isinstance(vectors, list | tuple) and len(names) == len(vectors):
        return stack_vectors(path, zip(names, vectors, strict=True))
    if names is not None and vectors is not None:
        return KeyedVectors(path, *pair_with_names(path, names, _matrix(vectors)))
    for key in content:
        if not isinstance(key, str):
            raise DataError(f"{path}: key {key!r:.60} is not text. Keys must be paths of images. {_SAVE}")
    return stack_vectors(path, content.items())


def _first_names(content: Mapping[Any, Any]) -> list[str] | None:
    """The names under the first of the usual keys that has some."""
    for key in KEY_NAMES:
        names = _texts(content.get(key))
        if names:
            return names
    return None


def _matrix(vectors: Any) -> npt.NDArray[Any]:
    if isinstance(vectors, list | tuple):
        # not unfolded: there are not as many lists as names, and lists in lists may be endless
        return np.empty(len(vectors))
    return np.asarray(vectors)


def _texts(values: Any) -> list[str] | None:
    """A list of names, or None: 'image' may also be pixels."""
    if not isinstance(values, np.ndarray | list | tuple) or (isinstance(values, np.ndarray) and values.ndim != 1):
        return None
    texts = []
    for value in values:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str):
            return None
        texts.append(str(value))
    return texts


def _from_frame(path: Path, frame: Any) -> KeyedVectors:
    """A table with a path (or category, person and image_id) and an embedding in each row."""
    columns = [str(name) for name in frame.columns]
    vector = next((name for name in VECTOR_NAMES if name in columns), None)
    key = next((name for name in KEY_NAMES if name in columns and _texts(frame[name].tolist())), None)
    parts = ("category", "person", "image_id")
    if vector is None or (key is None and not set(parts) <= set(columns)):
        raise DataError(
            f"{path} is a table with the columns {', '.join(columns)}. It needs 'embedding' and 'img_path' (or "
            "'category', 'person' and 'image_id')."
        )
    if key is not None:
        keys = [str(name) for name in frame[key].tolist()]
    else:
        columns_of_path = [frame[name].tolist() for name in parts]
        keys = ["/".join(map(str, cells)) for cells in zip(*columns_of_path, strict=True)]
    return stack_vectors(path, zip(keys, frame[vector].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class KeyedVectors:
    """What one file or folder contains: ``keys`` and ``vectors`` (n, d) of float16, float32 or float64.

    ``blank`` are keys that are there without a vector, as where no face was found.
    """

    path: Path
    keys: tuple[str, ...]
    vectors: npt.NDArray[Any]
    blank: tuple[str, ...] = ()


def stack_vectors(path: Path, items: Iterable[tuple[str, Any]]) -> KeyedVectors:
    """A vector for each key; None and nan mean that it could not be computed."""
    keys: list[str] = []
    rows: list[npt.NDArray[Any]] = []
    blank: list[str] = []
    for key, value in items:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            blank.append(key)
            continue
        row = _row(path, key, value)
        if rows and len(row) != len(rows[0]):
            raise DataError(
                f"{path}: the vector of '{key}' has {len(row)} values, that of '{keys[0]}' has {len(rows[0])}. "
                "All must have the same width."
            )
        keys.append(key)
        rows.append(row)
    if not rows:
        raise DataError(f"{path} has no vectors. Export it again.")
    return KeyedVectors(path, tuple(keys), np.stack(rows), tuple(blank))


def _row(path: Path, key: str, value: Any) -> npt.NDArray[Any]:
    """One vector (d,) from (d,) or (1, d)."""
    row = _unnested(value) if isinstance(value, list | tuple) else np.asarray(value)
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim != 1 or not row.size:
        raise DataError(f"{path}: the vector of '{key}' has the shape {row.shape}; it must be (d,) or (1, d).")
    return _floats(path, row, f"the vector of '{key}'")


def _unnested(value: Any) -> npt.NDArray[Any]:
    """A vector that is kept as a list. Lists in lists are never unfolded: ten of ten of ten fill any memory."""
    inside = (list, tuple, np.ndarray)
    while isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], inside):
        value = value[0]
    nested = isinstance(value, list | tuple) and any(isinstance(part, inside) for part in value)
    if nested:
        return np.empty((0, 0))
    return np.asarray(value)


def pair_with_names(
    path: Path, keys: Sequence[str], vectors: npt.NDArray[Any]
) -> tuple[tuple[str, ...], npt.NDArray[Any]]:
    """Keys and vectors (n, d), given that they belong together in this order."""
    if vectors.ndim == 3 and vectors.shape[1] == 1:
        vectors = vectors[:, 0]
    if vectors.ndim != 2 or not vectors.size:
        raise DataError(f"{path}: the vectors have the shape {vectors.shape}; they must be (n, d).")
    if len(keys) != len(vectors):
        raise DataError(f"{path} has {len(vectors):,} vectors for {len(keys):,} names. Each vector needs its own name.")
    return tuple(keys), _floats(path, vectors, "the array of vectors")


def _floats(path: Path, values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise DataError(f"{path}: {what} is {values.dtype}; it must be float16, float32 or float64.")
    return values


SAFE = (2, 6)  # older ones could be made to run code in spite of weights_only (CVE-2025-32434)
_MAGIC = 0x1950A86A20F9469CFC6C  # with which files of torch before 1.6 begin
_OLD_FORM = b"\x80\x02\x8a\x0a" + _MAGIC.to_bytes(10, "little")


def is_torch(path: Path, start: bytes) -> bool:
    """Whether torch.save wrote the file: an archive with a ``data.pkl``, or, before torch 1.6, a row of pickles."""
    if not start.startswith(b"PK"):
        return start.startswith(_OLD_FORM)
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == "data.pkl" for name in archive.namelist())
    except Exception:  # damaged: reading it will say so
        return False


def tensor_loader(path: Path) -> Callable[[], Any]:
    """Loads torch, and then, when called, what the file contains, with numpy arrays for tensors."""
    with explain_missing_extra(f"{path} (written by torch.save)"):
        import torch

    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < SAFE:
        raise DataError(
            f"{path} was written by torch.save, and torch {torch.__version__} cannot read such files safely. "
            "Install a newer one: pip install 'torch>=2.6'."
        )

    def load() -> Any:
        try:
            content = tensors_to_arrays(torch.load(path, map_location="cpu", weights_only=True))
        except MemoryError:
            raise
        except Exception as error:  # damaged, more than tensors, more memory than is there: torch has one for each
            raise DataError(
                f"{path} is not a file of torch.save with tensors alone, or it is damaged ({error_summary(error)}). "
                "Save {name: tensor} or {'names': [...], 'vectors': tensor}, "
                "or np.savez(path, image=ids, vectors=vectors)."
            ) from None
        _check_size(path, content)
        return content

    return load


def _check_size(path: Path, content: Any) -> None:
    """Refuse tensors that repeat one stored value: copied, a file of a kilobyte could fill any memory."""
    values = list(content.values()) if isinstance(content, dict) else [content]
    needed = sum(value.nbytes for value in values if isinstance(value, np.ndarray))
    size = path.stat().st_size
    if needed > 4 * size:
        raise DataError(
            f"{path} has {size:,} bytes, but its tensors need {needed:,}: they repeat stored values. Save copies "
            "(tensor.clone())."
        )


def tensors_to_arrays(content: Any) -> Any:
    """``content`` with numpy arrays for its tensors, one level deep: vectors lie no deeper."""
    if isinstance(content, dict):
        return {key: _array(value) for key, value in content.items()}
    return _array(content)


def _array(value: Any) -> Any:
    if not hasattr(value, "detach"):  # a tensor, without importing torch for values that are none
        return value
    value = value.detach().cpu()
    if str(value.dtype) == "torch.bfloat16":  # numpy has no such type
        value = value.float()
    return value.numpy()
