"""Read keys and vectors from the forms in which people keep them; which image a key means is decided elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core import npz
from fairfr.core.errors import DataError
from fairfr.core.wording import spaced
from fairfr.data.files import DataFile, looks_like
from fairfr.data.importers._keyed_vectors import KeyedVectors, aligned, stack
from fairfr.data.importers._memory import bounded_memory
from fairfr.data.importers._torch_file import is_torch, tensor_loader
from fairfr.data.importers.unpickle.restricted import load_restricted

KEY_NAMES = ("image", "images", "img_path", "path", "paths", "key", "keys", "name", "names", "file", "files", "ids")
VECTOR_NAMES = ("vectors", "vector", "embedding", "embeddings", "features", "feature", "emb", "embs")
FORMS = "an npz, an npy with --names, a pickle, a file of torch.save, a folder of .npy files or HDF5"


def read_source(path: Path, names: Path | None = None) -> KeyedVectors:
    """The keys and vectors at ``path``, recognised by content."""
    if path.is_dir():
        return read_tree(path)
    read = _reader_of(path, names)
    try:
        with bounded_memory(path.stat().st_size):
            return read(path)
    except MemoryError:
        size = spaced(path.stat().st_size)
        raise DataError(
            f"{path} asks for far more memory than its {size} bytes can hold vectors for. {_SAVE}"
        ) from None


def _reader_of(path: Path, names: Path | None) -> Callable[[Path], KeyedVectors]:
    start = _first_bytes(path)
    if names is not None and not start.startswith(b"\x93NUMPY"):
        raise DataError(f"{path}: --names goes with an npy file, and this is {looks_like(start) or 'something else'}.")
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
    if start.startswith(b"\x80") or path.suffix in (".pickle", ".pkl", ".pk", ".p"):
        return read_pickle
    raise DataError(f"{path} is {looks_like(start) or 'of no known form'}. Vectors are read from {FORMS}.")


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
        raise DataError(f"{path} holds vectors without names. Give their list with --names, one name in each line.")
    return KeyedVectors(path, *aligned(path, read_names(names), vectors))


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
        raise DataError(f"{path} holds a {type(content).__name__}, not a dict of tensors by name. {_SAVE}")
    return _from_mapping(path, content)


def read_pickle(path: Path) -> KeyedVectors:
    """A dict of vectors, a dict of names and vectors, or a pandas table with a column of vectors."""
    content: Any = load_restricted(path)
    if isinstance(content, dict):
        return _from_mapping(path, content)
    if hasattr(content, "columns"):
        return _from_frame(path, content)
    if hasattr(content, "index") and hasattr(content, "to_dict"):
        return _from_mapping(path, content.to_dict())
    if isinstance(content, tuple | list) and len(content) == 2:
        return read_bin(path)
    raise DataError(f"{path} holds a {type(content).__name__}, not a dict or a table of vectors. {_SAVE}")


def read_tree(path: Path) -> KeyedVectors:
    """One .npy for each image; its path inside the folder is its key. Links to folders are not followed."""
    folders = os.walk(path, onerror=_stop)
    files = sorted(Path(folder, name) for folder, _, names in folders for name in names if name.endswith(".npy"))
    if not files:
        raise DataError(f"{path} is a folder without .npy files. Vectors are read from {FORMS}.")
    return stack(path, ((file.relative_to(path).as_posix(), _read_file(file)) for file in files))


def read_bin(path: Path) -> KeyedVectors:
    """An insightface image list holds neither names nor vectors: say so."""
    raise DataError(
        f"{path} looks like a list of images and pair labels (as insightface's .bin files are): it names no image and "
        "holds no vectors. Compute vectors from the images of the data set first, e.g. with "
        "scripts/extract_embeddings.py; if it is a dict of vectors, give it the ending .pkl."
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
            text = h5py.check_string_dtype(item.dtype) is not None
            arrays[name] = np.array(item.asstr()[...], dtype=np.str_) if text else item[...]

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
    names = next((found for name in KEY_NAMES if (found := _texts(content.get(name)))), None)
    vectors = next((content[name] for name in VECTOR_NAMES if name in content), None)
    if names is not None and isinstance(vectors, list | tuple) and len(names) == len(vectors):
        return stack(path, zip(names, vectors, strict=True))
    if names is not None and vectors is not None:
        return KeyedVectors(path, *aligned(path, names, _matrix(vectors)))
    for key in content:
        if not isinstance(key, str):
            raise DataError(f"{path}: key {key!r:.60} is no text. Keys must be paths of images. {_SAVE}")
    return stack(path, content.items())


def _matrix(vectors: Any) -> npt.NDArray[Any]:
    # lists are not unfolded here: there are not as many of them as names, and lists in lists may be endless
    return np.empty(len(vectors)) if isinstance(vectors, list | tuple) else np.asarray(vectors)


def _texts(values: Any) -> list[str] | None:
    """A list of names, or None: 'image' may also be pixels."""
    if not isinstance(values, np.ndarray | list | tuple) or (isinstance(values, np.ndarray) and values.ndim != 1):
        return None
    texts = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]
    return [str(text) for text in texts] if all(isinstance(text, str) for text in texts) else None


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
    wanted = [frame[name].tolist() for name in ([key] if key is not None else parts)]
    keys = ["/".join(str(cell) for cell in cells) for cells in zip(*wanted, strict=True)]
    return stack(path, zip(keys, frame[vector].tolist(), strict=True))
